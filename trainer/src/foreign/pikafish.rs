//! Nets for Pikafish: their inputs and stacks, and the transformer in their files.
//!
//! The format is that of its release of January 2026. Its 16,536 inputs are those of
//! [`Inputs::KingsAttackers`](nnue::architecture::Inputs), in another order. Only if both kings
//! are on the e file, the pieces decide whether a board is mirrored ([`view`]). It has 45,649 more
//! inputs for threats between pieces. Nets here have none of those: their weights are zeros.
//!
//! The arithmetic is that of our engine's nets, but for one output. The last of the first layer is
//! not activated, and is added to the net's output ([`skipped`]).

use nnue::architecture::{ACTIVATION_ONE, Attackers, KING_BUCKETS, View, WEIGHT_ONE};
use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use super::{ForeignNet, KINDS};

/// The integer that stands for 1.0 of the skipping output, and here for a value of 1: 600 of the
/// score's unit, in sixteenths.
pub(crate) const OUTPUT_ONE: i32 = 600 * 16;

/// The hash value by which it knows the inputs.
pub(super) const INPUTS_HASH: u32 = 0x0d17_b100;

/// The inputs for threats, whose weights come before the others in a file.
const THREATS: usize = 45_649;

/// The header of a list of LEB128 numbers.
const LEB128_MAGIC: &[u8] = b"COMPRESSED_LEB128";

/// The pieces whose flanks decide whether a board is mirrored, from the most important.
const FLANK_KINDS: [PieceKind; 6] =
    [PieceKind::Advisor, PieceKind::Elephant, PieceKind::Pawn, PieceKind::Horse, PieceKind::Cannon, PieceKind::Chariot];

/// The middle file.
const E_FILE: u8 = 4;

/// The stack of a position by its pieces.
pub(crate) fn stack(turn: Color, pieces: &[(Square, Piece)]) -> usize {
    let count = |side, kinds: &[PieceKind]| {
        let counted = pieces.iter().filter(|(_, piece)| piece.color() == side && kinds.contains(&piece.kind()));
        counted.count()
    };
    let [own, enemy] = [turn, !turn].map(|side| count(side, &[PieceKind::Chariot]));
    let [own_minors, enemy_minors] = [turn, !turn].map(|side| count(side, &[PieceKind::Horse, PieceKind::Cannon]));
    match (own, enemy) {
        (2, 1) => 12,
        (1, 2) => 13,
        (1.., 0) => 14,
        (0, 1..) => 15,
        _ => 4 * own + 2 * usize::from(own_minors + enemy_minors >= 4) + usize::from(own_minors == enemy_minors),
    }
}

/// The view of a side by the kings and, if both are on the e file, by all pieces.
pub(crate) fn view(side: Color, own: Square, enemy: Square, pieces: &[(Square, Piece)]) -> View {
    let is_straight = own.file() == E_FILE && enemy.file() == E_FILE;
    if is_straight && [side, !side].map(|side| left_lean(side, pieces)) < [[0; 12]; 2] {
        // The view in which an enemy king on the f file mirrors the board.
        let right = Square::new(E_FILE + 1, enemy.rank()).expect("the f file has this rank");
        return View::from_kings(side, own, right);
    }
    View::from_kings(side, own, enemy)
}

/// The left flank less the right one: first numbers of a side's pieces, then sums of their places.
/// The most important kind comes first.
fn left_lean(side: Color, pieces: &[(Square, Piece)]) -> [i32; 12] {
    let mut lean = [0; 12];
    for (square, piece) in pieces.iter().filter(|(square, piece)| piece.color() == side && square.file() != E_FILE) {
        let Some(place) = FLANK_KINDS.iter().position(|kind| *kind == piece.kind()) else { continue };
        let square = if side == Color::Red { *square } else { square.flipped() };
        let sign = if square.file() < E_FILE { 1 } else { -1 };
        let from_middle = i32::from(square.file().abs_diff(E_FILE)) - 1;
        lean[place] += sign;
        lean[FLANK_KINDS.len() + place] += sign * (from_middle * 10 + i32::from(square.rank()));
    }
    lean
}

/// The part of the net's output that comes from a sum of the skipping output. It rounds towards
/// zero, and is as wide as in the engine.
pub(super) const fn skipped(sum: i32) -> i32 {
    sum.wrapping_mul(OUTPUT_ONE) / (ACTIVATION_ONE * WEIGHT_ONE)
}

/// A file's compression.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, zstd::DEFAULT_COMPRESSION_LEVEL).expect("memory can be read and written")
}

impl ForeignNet {
    /// Writes the biases, the rows of threats and of pieces, then the head's in the same order.
    pub(super) fn write_pikafish_transformer(&self, bytes: &mut Vec<u8>) {
        let (width, stacks) = (self.transformer_bias.len(), self.stacks.len());
        write_leb128(bytes, self.transformer_bias.iter().map(|bias| i32::from(*bias)));
        bytes.resize(bytes.len() + THREATS * width, 0);
        let rows = rows();
        for row in &rows {
            bytes.extend(self.transformer[row * width..][..width].iter().map(|weight| *weight as i8 as u8));
        }
        let threats = std::iter::repeat_n(0, THREATS * stacks);
        write_leb128(bytes, threats.chain(rows.iter().flat_map(|row| &self.head[row * stacks..][..stacks]).copied()));
    }
}

/// Writes numbers in signed LEB128, after their length in bytes.
fn write_leb128(bytes: &mut Vec<u8>, numbers: impl Iterator<Item = i32>) {
    bytes.extend(LEB128_MAGIC);
    let start = bytes.len() + 4;
    bytes.resize(start, 0);
    for mut number in numbers {
        // Seven bits a byte; the last byte's highest one is the sign.
        while !(-64..64).contains(&number) {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8 & 0x7f);
    }
    let length = (bytes.len() - start) as u32;
    bytes[start - 4..start].copy_from_slice(&length.to_le_bytes());
}

/// The learned row of each of Pikafish's inputs of pieces.
fn rows() -> Vec<usize> {
    let mut rows = Vec::new();
    for bucket in 0..KING_BUCKETS as u8 {
        let king = Square::new(E_FILE - 1 + bucket % 2, bucket / 2).expect("a point of the palace");
        // It counts the attackers' bits the other way round.
        for attackers in [0, 2, 1, 3].map(|index: usize| Attackers::ALL[index]) {
            let view = View::from_kings(Color::Red, king, king).with_attackers(attackers);
            for piece in Color::ALL.into_iter().flat_map(|color| KINDS.map(|kind| Piece::new(color, kind))) {
                let points = Square::all().filter(|square| attacks::home(piece).contains(*square));
                let points = points.filter(|square| piece != Piece::RedKing || square.file() <= E_FILE);
                rows.extend(points.map(|square| view.input(Color::Red, piece, square)));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use dataset::training::{PackedPosition, Sample};
    use nnue::architecture::{Inputs, PIECE_POINTS, Sizes};
    use protocol::recipe::Activation;
    use xiangqi::{Move, Position};

    use super::*;
    use crate::{
        batch::{Batch, Features},
        export::ExportError,
        model::{Array, Arrays, Head, Shape},
    };

    fn shape() -> Shape {
        let sizes = Sizes::new(1_024, 16, 32, 16).unwrap().with_inputs(Inputs::KingsAttackers);
        Shape { factorised: true, activation: Activation::PairsSkip, ..Shape::new(sizes) }
    }

    /// A net whose arrays are all different.
    fn values(shape: &Shape) -> Arrays {
        let mut values = Arrays::initial(shape, Head::PieceValues, 3);
        for array in [Array::TransformerBias, Array::Shared, Array::FirstBias, Array::SecondBias, Array::OutputBias] {
            for (place, value) in values[array].iter_mut().enumerate() {
                *value += (place * 31 % 97) as f32 / 500.0 - 0.1;
            }
        }
        values
    }

    fn square(name: &str) -> Square {
        name.parse().unwrap()
    }

    fn pieces(fen: &str) -> (Color, Vec<(Square, Piece)>) {
        let position = Position::from_fen(fen).unwrap();
        let pieces = PackedPosition::from(&position).pieces().collect();
        (position.turn(), pieces)
    }

    /// A reader of the file, which shares nothing with the writer.
    struct Reader<'a>(&'a [u8]);

    impl<'a> Reader<'a> {
        fn bytes(&mut self, count: usize) -> &'a [u8] {
            let (taken, rest) = self.0.split_at(count);
            self.0 = rest;
            taken
        }

        fn words(&mut self, count: usize) -> Vec<i32> {
            self.bytes(4 * count).chunks(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
        }

        fn leb128(&mut self, count: usize) -> Vec<i32> {
            assert_eq!(self.bytes(17), b"COMPRESSED_LEB128");
            let length = self.words(1)[0] as usize;
            let mut bytes = self.bytes(length).iter();
            let numbers = (0..count).map(|_| {
                let (mut number, mut bits) = (0_i64, 0);
                loop {
                    let byte = *bytes.next().unwrap();
                    number |= i64::from(byte & 0x7f) << bits;
                    bits += 7;
                    if byte < 0x80 {
                        let is_negative = byte & 0x40 != 0;
                        return (number - if is_negative { 1 << bits } else { 0 }) as i32;
                    }
                }
            });
            let numbers = numbers.collect();
            assert_eq!(bytes.len(), 0);
            numbers
        }
    }

    #[test]
    fn each_input_has_its_row() {
        let mut rows = rows();
        // A king on e0, a chariot and no other attacker: Pikafish's seventh bucket. An own chariot
        // on a0 is its first input.
        let view = View::from_kings(Color::Red, square("e0"), square("e9")).with_attackers(Attackers::ALL[1]);
        assert_eq!(rows[6 * PIECE_POINTS], view.input(Color::Red, Piece::RedChariot, square("a0")));
        // The enemy's chariot follows the own king, whose six points end the first half.
        assert_eq!(rows[6 * PIECE_POINTS + 342], view.input(Color::Red, Piece::RedKing, square("e2")));
        assert_eq!(rows[6 * PIECE_POINTS + 343], view.input(Color::Red, Piece::BlackChariot, square("a0")));
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..Inputs::KingsAttackers.count()));
    }

    #[test]
    fn chariots_and_minor_pieces_choose_the_stack() {
        for (fen, expected) in [
            (Position::START_FEN, 8 + 2 + 1),
            ("3k5/9/9/9/9/9/9/9/9/4K4 w", 1),
            ("3k5/9/9/9/9/9/9/9/9/N3K4 w", 0),
            ("3k5/9/9/9/9/9/9/C7C/N7N/4K4 w", 2),
            ("r2k5/n8/9/9/9/9/9/9/9/R3K3N w", 5),
            ("r2k4r/9/9/9/9/9/9/9/9/R3K4 b", 12),
            ("r2k4r/9/9/9/9/9/9/9/9/R3K4 w", 13),
            ("3k5/9/9/9/9/9/9/9/9/R3K3R w", 14),
            ("3k5/9/9/9/9/9/9/9/9/R3K3R b", 15),
        ] {
            let (turn, pieces) = pieces(fen);
            assert_eq!(stack(turn, &pieces), expected, "{fen}");
        }
    }

    /// With both kings on the e file the more important pieces decide, then their places, then the
    /// enemy's.
    #[test]
    fn the_heavier_flank_decides_whether_a_straight_board_is_mirrored() {
        for (fen, expected) in [
            (Position::START_FEN, [false, false]),
            ("4k4/9/9/4p4/9/9/9/9/9/R3K4 w", [false, false]),
            ("4k4/9/9/4p4/9/9/9/9/9/4K3R w", [true, true]),
            ("r3k4/9/9/4p4/9/9/9/9/9/4K3R w", [true, false]),
            // In pairs of neighbours: the more important kind is on the other flank.
            ("4k4/9/9/4p4/9/9/9/9/9/2B1KA3 w", [true, true]),
            ("4k4/9/9/4p4/P8/9/9/9/9/4K1B2 w", [true, true]),
            ("4k4/9/9/4p4/P8/9/9/9/9/4K3N w", [false, false]),
            ("4k4/9/9/4p4/9/9/9/9/9/N3K3C w", [false, false]),
            ("4k4/9/9/4p4/9/9/9/9/9/C3K3R w", [false, false]),
            // A file weighs more than any rank.
            ("4k4/9/9/4p4/7R1/9/9/9/9/R3K4 w", [false, false]),
            // An advisor weighs more than two chariots, and a pawn's place more than a chariot's.
            ("4k4/9/9/4p4/9/9/9/9/9/3AK2RR w", [false, false]),
            ("4k4/9/9/4p3P/P8/9/9/9/R8/4K3R w", [true, true]),
            ("4k4/9/9/4p4/P7P/9/9/9/R8/4K3R w", [false, false]),
            ("4k4/9/9/4p4/P7P/9/9/9/8R/R3K4 w", [true, true]),
            // A king elsewhere decides alone.
            ("3k5/9/9/9/9/9/9/9/9/4K3R w", [false, false]),
            ("5k3/9/9/9/9/9/9/9/9/R3K4 w", [true, true]),
        ] {
            let (_, pieces) = pieces(fen);
            let king = |side| pieces.iter().find(|it| it.1 == Piece::new(side, PieceKind::King)).unwrap().0;
            let mirrored = Color::ALL.map(|side| view(side, king(side), king(!side), &pieces).is_mirrored());
            assert_eq!(mirrored, expected, "{fen}");
        }
    }

    /// Boards that are mirror images have the same inputs, also where our own nets tell them apart.
    #[test]
    fn mirror_images_have_the_same_inputs() {
        let features = Features { inputs: Inputs::KingsAttackers, stacks: 16, activation: Activation::PairsSkip };
        let sorted = |fen: &str, features: Features, is_mirrored: bool| {
            let position = PackedPosition::from(&Position::from_fen(fen).unwrap());
            let mv: Move = "e0e1".parse().unwrap();
            let sample = Sample { position, mv, score: 0, result: 0, limit_counter: 0, ply: 0, set: 0, shard: 0 };
            let mut batch = Batch::default();
            batch.push_image(&sample, features, 1.0, is_mirrored);
            let mut active = batch.active[0];
            for side in &mut active {
                side[..batch.counts[0].into()].sort_unstable();
            }
            active
        };
        for fen in
            ["4k4/9/9/4p4/9/9/9/9/R8/4K3R w", "2bak1b2/4a4/9/9/8p/9/P8/9/9/2BAKAB2 b", "3k5/9/9/9/9/9/9/9/9/4K3R w"]
        {
            assert_eq!(sorted(fen, features, false), sorted(fen, features, true), "{fen}");
        }
        let own = Features { activation: Activation::Pairs, ..features };
        let fen = "4k4/9/9/4p4/9/9/9/9/R8/4K3R w";
        assert_ne!(sorted(fen, own, false), sorted(fen, own, true));
    }

    #[test]
    fn numbers_are_written_in_leb128() {
        for (number, expected) in [
            (0, &[0x00][..]),
            (63, &[0x3f]),
            (64, &[0xc0, 0x00]),
            (-1, &[0x7f]),
            (-64, &[0x40]),
            (-65, &[0xbf, 0x7f]),
            (-9_000, &[0xd8, 0xb9, 0x7f]),
            (i32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x07]),
            (i32::MIN, &[0x80, 0x80, 0x80, 0x80, 0x78]),
        ] {
            let mut bytes = Vec::new();
            write_leb128(&mut bytes, [number].into_iter());
            assert_eq!(&bytes[21..], expected, "{number}");
            assert_eq!(Reader(&bytes).leb128(1), [number]);
        }
    }

    #[test]
    fn a_file_holds_the_integers_of_the_net() {
        let shape = shape();
        let net = ForeignNet::quantise(&shape, &values(&shape)).unwrap();
        let bytes = zstd::decode_all(&net.to_bytes("small")[..]).unwrap();
        let mut file = Reader(&bytes);
        // The hash values of all its nets: the whole, the transformer, and each stack.
        let [whole, transformer, layers] = [0x6e24_d34a, 0x0d17_b900, 0x6333_6a4a];
        assert_eq!(file.words(3), [0x7af3_2f20, whole, 5]);
        assert_eq!(file.bytes(5), b"small");
        assert_eq!(file.words(1), [transformer]);
        assert!(file.leb128(1_024).into_iter().eq(net.transformer_bias.iter().map(|bias| i32::from(*bias))));
        assert!(file.bytes(45_649 * 1_024).iter().all(|weight| *weight == 0));
        let rows = rows();
        let weights = file.bytes(16_536 * 1_024);
        for (row, weights) in rows.iter().zip(weights.chunks(1_024)) {
            let ours = &net.transformer[row * 1_024..][..1_024];
            assert!(weights.iter().map(|weight| i16::from(*weight as i8)).eq(ours.iter().copied()), "{row}");
        }
        let head = file.leb128((45_649 + 16_536) * 16);
        let (threats, head) = head.split_at(45_649 * 16);
        assert!(threats.iter().all(|weight| *weight == 0));
        for (row, weights) in rows.iter().zip(head.chunks(16)) {
            assert_eq!(weights, &net.head[row * 16..][..16]);
        }
        for stack in &net.stacks {
            assert_eq!(file.words(1), [layers]);
            // The second layer's thirty inputs are filled up to thirty-two.
            for (layer, [inputs, padded, outputs]) in
                stack.0.iter().zip([[1_024, 1_024, 16], [30, 32, 32], [32, 32, 1]])
            {
                assert_eq!(file.words(outputs), layer.bias);
                let rows: Vec<&[u8]> = (0..outputs).map(|_| file.bytes(padded)).collect();
                assert!(rows.iter().all(|row| row[inputs..].iter().all(|weight| *weight == 0)));
                let weights: Vec<i8> = rows.iter().flat_map(|row| &row[..inputs]).map(|it| *it as i8).collect();
                assert_eq!(weights, layer.weights);
            }
        }
        assert!(file.0.is_empty());
    }

    #[test]
    fn weights_beyond_eight_bits_are_clipped_or_refused() {
        let shape = shape();
        let mut values = values(&shape);
        // Own and shared rows add up to more than 127 of 255.
        values[Array::Transformer][5] = 0.4;
        values[Array::Shared][5] = 0.4;
        assert_eq!(ForeignNet::quantise(&shape, &values).unwrap().transformer[5], 127);
        values[Array::Output][0] = 1.7;
        let error = ForeignNet::quantise(&shape, &values).unwrap_err();
        assert!(matches!(error, ExportError::Beyond { array: Array::Output, place: 0, most: 127, .. }), "{error}");
    }

    #[test]
    fn the_skipping_output_rounds_towards_zero() {
        assert_eq!([8_128, -8_128, 100, -100, 0].map(skipped), [9_600, -9_600, 118, -118, 0]);
    }
}
