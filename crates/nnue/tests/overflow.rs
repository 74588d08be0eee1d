//! The overflow proof: a net that can overflow is rejected, one at the limit is accepted.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use common::{sizes, with_attackers};
use nnue::{
    Layer, Net, NetError, Overflow, Parameters,
    architecture::{Attackers, Inputs, KING_BUCKETS, PIECE_POINTS, View},
};
use xiangqi::{Color, Piece, Position, Square, attacks};

const WIDTH: usize = 128;

fn zero() -> Parameters {
    Parameters::zero(sizes(WIDTH, 8, 8, 2))
}

fn overflow(parameters: &Parameters) -> Option<Overflow> {
    match Net::new(parameters) {
        Ok(_) => None,
        Err(NetError::Overflow(overflow)) => Some(overflow),
        Err(other) => panic!("{other}"),
    }
}

/// Returns Red's view with kings on d0 and e9: the bucket of d0.
fn view() -> View {
    Inputs::Kings.view(&Position::from_fen("4k4/9/9/9/9/9/9/9/9/3K5 w").unwrap(), Color::Red)
}

/// Returns the inputs of a piece in that view.
fn inputs(piece: Piece) -> Vec<usize> {
    attacks::home(piece)
        .into_iter()
        .filter(|square| piece != Piece::RedKing || *square == "d0".parse::<Square>().unwrap())
        .map(|square| view().input(Color::Red, piece, square))
        .collect()
}

/// Asserts that the sums of neuron 5 reach exactly `bound`, and that this is the limit.
fn at_the_limit(mut parameters: Parameters, bound: i64, limit: i64) {
    let towards = limit.signum() as i16;
    assert_eq!(bound, limit, "the test is wrong");
    assert_eq!(overflow(&parameters), None);
    parameters.transformer_bias[5] += towards;
    let expected = Overflow { layer: Layer::Transformer, neuron: 5, bound: limit + i64::from(towards), limit };
    assert_eq!(overflow(&parameters), Some(expected));
}

#[test]
fn each_kind_counts_up_to_its_maximum_number() {
    for sign in [1, -1] {
        let limit = if sign > 0 { i64::from(i16::MAX) } else { i64::from(i16::MIN) };
        for piece in Piece::ALL {
            let mut parameters = zero();
            // The weights of the piece's points: 100, 101, 102 …, in an order that is not theirs.
            let inputs = inputs(piece);
            let count = inputs.len() as i16;
            for (place, input) in inputs.iter().enumerate() {
                parameters.transformer[input * WIDTH + 5] = sign * (100 + (place as i16 * 13 + 3) % count);
            }
            let most: i16 = (0..piece.kind().max_count() as i16).map(|rank| 99 + count - rank).sum();
            parameters.transformer_bias[5] = (limit as i16).wrapping_sub(sign * most);
            let bias = i64::from(parameters.transformer_bias[5]);
            at_the_limit(parameters, bias + i64::from(sign * most), limit);
        }
    }
}

#[test]
fn kings_are_always_there_and_others_need_not_be() {
    let mut parameters = zero();
    for piece in Piece::ALL {
        for input in inputs(piece) {
            parameters.transformer[input * WIDTH + 5] = -100;
        }
    }
    parameters.transformer_bias[5] = i16::MAX;
    // In other buckets no weight is negative.
    assert_eq!(overflow(&parameters), None);
    for bucket in 0..KING_BUCKETS {
        for point in 0..PIECE_POINTS {
            parameters.transformer[(bucket * PIECE_POINTS + point) * WIDTH + 5] = -100;
        }
    }
    // With both kings always there the maximum is 200 below the bias; with all 32 pieces the
    // minimum is 3,200 below.
    assert_eq!(overflow(&parameters), None);
    parameters.transformer_bias[5] = i16::MIN + 3200;
    at_the_limit(parameters, i64::from(i16::MIN), i64::from(i16::MIN));
}

#[test]
fn buckets_are_not_mixed() {
    let mut parameters = zero();
    parameters.transformer_bias[5] = i16::MAX - 1000;
    for bucket in 0..KING_BUCKETS {
        // A horse on the same point in each bucket.
        let horse = view().input(Color::Red, Piece::BlackHorse, "e5".parse().unwrap()) - view().bucket() * PIECE_POINTS;
        parameters.transformer[(bucket * PIECE_POINTS + horse) * WIDTH + 5] = 1000 - bucket as i16;
    }
    at_the_limit(parameters, i64::from(i16::MAX), i64::from(i16::MAX));
}

/// With attackers, a bucket is proved with only the pieces that it allows.
#[test]
fn pieces_excluded_by_a_bucket_are_not_counted() {
    for attackers in Attackers::ALL {
        for piece in Piece::ALL {
            let mut parameters = Parameters::zero(with_attackers(sizes(WIDTH, 8, 8, 2)));
            let shift = attackers.index() * Inputs::Kings.count();
            for input in inputs(piece) {
                parameters.transformer[(input + shift) * WIDTH + 5] = 100;
            }
            let excluded = piece.color() == Color::Red && !attackers.allow(piece.kind());
            if excluded {
                parameters.transformer_bias[5] = i16::MAX;
                assert_eq!(overflow(&parameters), None);
            } else {
                parameters.transformer_bias[5] = i16::MAX - 100 * piece.kind().max_count() as i16;
                at_the_limit(parameters, i64::from(i16::MAX), i64::from(i16::MAX));
            }
        }
    }
}

#[test]
fn the_head_is_proved_like_the_transformer() {
    for (sign, limit) in [(1, i32::MAX), (-1, i32::MIN)] {
        let mut parameters = zero();
        for input in inputs(Piece::BlackPawn) {
            parameters.head[input * 2 + 1] = sign * 400_000_000;
        }
        let chariot = inputs(Piece::RedChariot)[40];
        parameters.head[chariot * 2 + 1] = limit - sign * 2_000_000_000;
        assert_eq!(overflow(&parameters), None);
        parameters.head[chariot * 2 + 1] += sign;
        let expected =
            Overflow { layer: Layer::Head, neuron: 1, bound: i64::from(limit) + i64::from(sign), limit: limit.into() };
        assert_eq!(overflow(&parameters), Some(expected));
    }
}

#[test]
fn layers_are_proved() {
    let at = |change: fn(&mut Parameters, i32)| {
        let [most, least] = [(1, i32::MAX), (-1, i32::MIN)].map(|(sign, limit)| {
            let mut parameters = zero();
            // Only positive weights, or only negative ones, count towards a limit.
            change(&mut parameters, limit - sign * 127 * 300);
            assert_eq!(overflow(&parameters), None);
            change(&mut parameters, limit - sign * (127 * 300 - 1));
            let found = overflow(&parameters).unwrap();
            assert_eq!((found.bound, found.limit), (i64::from(limit) + i64::from(sign), i64::from(limit)));
            found.layer
        });
        assert_eq!(most, least);
        most
    };
    let layer = at(|parameters, bias| {
        parameters.stacks[1].first_bias[3] = bias;
        let row = &mut parameters.stacks[1].first[3 * WIDTH..4 * WIDTH];
        row[..6].copy_from_slice(&[100, -100, 100, -100, 100, -100]);
    });
    assert_eq!(layer, Layer::First { stack: 1 });
    let layer = at(|parameters, bias| {
        parameters.stacks[0].second_bias[7] = bias;
        let row = &mut parameters.stacks[0].second[7 * 16..8 * 16];
        row[10..].copy_from_slice(&[100, -100, 100, -100, 100, -100]);
    });
    assert_eq!(layer, Layer::Second { stack: 0 });
    let layer = at(|parameters, bias| {
        parameters.stacks[1].output_bias = bias;
        parameters.stacks[1].output[..2].copy_from_slice(&[300, -300]);
    });
    assert_eq!(layer, Layer::Output { stack: 1 });
}

#[test]
fn the_error_names_layer_neuron_and_bound() {
    let mut parameters = zero();
    parameters.stacks[1].output_bias = i32::MAX;
    parameters.stacks[1].output[4] = 1;
    assert_eq!(
        Net::new(&parameters).unwrap_err().to_string(),
        "the net is refused: neuron 0 of the output of stack 1 can reach 2147483774, beyond the limit 2147483647"
    );
}
