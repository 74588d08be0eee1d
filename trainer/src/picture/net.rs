//! A net on one page: its weights, its piece-square tables, and its neurons' activity.

use super::{
    Page, Scale,
    boards::Board,
    histogram::{self, brief, percent},
    short,
};
use crate::{
    inspect::{Activity, Inspection, Subject},
    model::{Array, VALUE_ONE},
};

const WIDTH: f64 = 880.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = WIDTH - 30.0;

/// Neurons whose rows are shown.
const NEURONS: usize = 4;

/// Draws a net.
#[must_use]
pub fn net(name: &str, subject: &Subject, inspection: &Inspection) -> String {
    let mut page = Page::new();
    page.text("title", LEFT, 32.0, name);
    let steps = inspection.steps.map_or(String::new(), |steps| format!(" · after {steps} steps"));
    page.text("small", LEFT, 50.0, format_args!("{}{steps}", inspection.sizes));
    let mut top = 72.0;
    top = weights(&mut page, top, inspection);
    top = head(&mut page, top, subject);
    top = rows(&mut page, top, subject);
    if let Some(activity) = &inspection.activity {
        top = neurons(&mut page, top, activity);
        top = stacks(&mut page, top, activity);
    }
    page.finish(&format!("the net {name} from within"), WIDTH, top)
}

fn title(page: &mut Page, top: f64, title: &str, more: &str) {
    page.text("title", LEFT, top + 16.0, title);
    page.text("small", LEFT, top + 33.0, more);
}

fn weights(page: &mut Page, top: f64, inspection: &Inspection) -> f64 {
    title(page, top, "Weights", "How many numbers lie where, heights by their logarithm; dashed: how far they may go.");
    let top = top + 44.0;
    let (across, down) = (histogram::WIDTH + 31.0, histogram::HEIGHT + 8.0);
    for (place, array) in inspection.arrays.iter().enumerate() {
        histogram::draw(page, (LEFT + (place % 3) as f64 * across, top + (place / 3) as f64 * down), array);
    }
    top + inspection.arrays.len().div_ceil(3) as f64 * down + 16.0
}

/// The piece-square head, in centipawns.
fn head(page: &mut Page, top: f64, subject: &Subject) -> f64 {
    let stacks = subject.shape.sizes.stacks();
    let head = &subject.values[Array::Head];
    let boards = Board::all(subject.shape.sizes.inputs(), |input| {
        let row = &head[input * stacks..][..stacks];
        f64::from(row.iter().sum::<f32>() * VALUE_ONE) / stacks as f64
    });
    let boards: Vec<(f64, Board)> = boards
        .into_iter()
        .map(|board| {
            let mean = board.mean();
            (mean, board.less(mean))
        })
        .collect();
    let full = boards.iter().map(|(_, board)| board.reach()).fold(0.0, f64::max);
    let more = "What a piece on a point adds, in hundredths of a pawn: the mean of all stacks and buckets.";
    title(page, top, "Piece-square head", more);
    let more = format!(
        "The number is the board's mean; the colour is the difference from it, orange more, blue less, full at {}.",
        brief(full)
    );
    page.text("small", LEFT, top + 47.0, more);
    let top = top + 12.0;
    let (size, across, down) = (9.0, 116.0, 124.0);
    for (place, (mean, board)) in boards.iter().enumerate() {
        let (x, y) = (LEFT + (place % 7) as f64 * across, top + 48.0 + (place / 7) as f64 * down);
        if place % 7 == 0 {
            page.text("small end", LEFT - 5.0, y + 65.0, if place == 0 { "own" } else { "enemy" });
        }
        page.text("small", x, y + 10.0, format_args!("{} {}", board.piece.kind().name(), brief(*mean)));
        board.draw(page, (x, y + 16.0), size, full);
    }
    top + 48.0 + 2.0 * down + 20.0
}

/// The transformer's neurons with the largest weights.
fn rows(page: &mut Page, top: f64, subject: &Subject) -> f64 {
    let (inputs, width) = (subject.shape.sizes.inputs(), subject.shape.sizes.width());
    let weights = subject.values.merged_transformer(&subject.shape);
    let mut strength = vec![0.0; width];
    for row in weights.chunks_exact(width) {
        for (strength, weight) in strength.iter_mut().zip(row) {
            *strength += f64::from(*weight) * f64::from(*weight);
        }
    }
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|one, other| strength[*other].total_cmp(&strength[*one]).then(one.cmp(other)));
    let more = "Of the neurons with the largest weights, what each piece on a point adds: orange turns it on, blue off; \
                1 is the whole range of a neuron.";
    title(page, top, "Transformer", more);
    let (size, across, down) = (5.4, 57.5, 84.0);
    let top = top + 58.0;
    page.text("head", LEFT, top - 6.0, "own");
    page.text("head", LEFT + 7.0 * across, top - 6.0, "enemy");
    for (row, neuron) in order.into_iter().take(NEURONS).enumerate() {
        let y = top + row as f64 * down;
        let boards = Board::all(inputs, |input| weights[input * width + neuron].into());
        let full = boards.iter().map(Board::reach).fold(0.0, f64::max);
        let (number, bias) = (neuron + 1, subject.values[Array::TransformerBias][neuron]);
        let words = format!("neuron {number} · full colour {} · bias {}", brief(full), brief(bias.into()));
        page.text("small", LEFT, y + 9.0, words);
        for (place, board) in boards.iter().enumerate() {
            board.draw(page, (LEFT + place as f64 * across, y + 14.0), size, full);
        }
    }
    let end = top + NEURONS as f64 * down;
    for (place, board) in Board::all(inputs, |_| 0.0).iter().enumerate() {
        let x = LEFT + place as f64 * across + 4.5 * size;
        page.text("small middle", x, end - 2.0, board.piece.kind().name());
    }
    end + 24.0
}

/// The activity of each neuron, in descending order.
fn neurons(page: &mut Page, top: f64, activity: &Activity) -> f64 {
    let positions: u64 = activity.positions.iter().sum();
    let more = format!("In what share of {} positions each neuron is on, the busiest first.", short(positions as f64));
    title(page, top, "Activity", &more);
    let (top, bottom) = (top + 50.0, top + 210.0);
    let (left, right) = (LEFT + 36.0, RIGHT - 150.0);
    let (across, up) = (Scale::between(0.0, 1.0, left, right), Scale::between(0.0, 1.0, bottom, top));
    for tick in up.ticks(5.0) {
        page.line("grid", (left, up.place(tick)), (right, up.place(tick)));
        page.text("small end", left - 6.0, up.place(tick) + 4.0, percent(tick));
    }
    page.line("axis", (left, bottom), (right, bottom));
    for (number, (layer, class)) in activity.layers.iter().zip(["one", "two", "four", "three"]).enumerate() {
        let mut shares = layer.neurons.clone();
        shares.sort_by(|one, other| other.total_cmp(one));
        let last = shares.len().saturating_sub(1).max(1) as f64;
        let place = |(rank, share): (usize, &f64)| (across.place(rank as f64 / last), up.place(*share));
        page.curve(class, &shares.iter().enumerate().map(place).collect::<Vec<_>>());
        let y = top + 10.0 + number as f64 * 34.0;
        page.curve(class, &[(right + 14.0, y - 4.0), (right + 32.0, y - 4.0)]);
        page.text("", right + 38.0, y, layer.layer);
        let (count, never) = (shares.len(), layer.never_on);
        page.text("small", right + 38.0, y + 14.0, format_args!("{never} of {count} never on"));
    }
    page.text("small", left, bottom + 15.0, "busiest neuron");
    page.text("small end", right, bottom + 15.0, "idlest");
    bottom + 40.0
}

/// The activity of each stack.
fn stacks(page: &mut Page, top: f64, activity: &Activity) -> f64 {
    title(
        page,
        top,
        "Stacks",
        "From bare endings (1) to the opening: the share of neurons on, the share that could not be more, their mean.",
    );
    let top = top + 54.0;
    let column = |place: usize| LEFT + 120.0 + place as f64 * 172.0;
    page.text("head", LEFT, top, "stack");
    page.text("head end", LEFT + 108.0, top, "positions");
    for (place, layer) in activity.layers.iter().enumerate() {
        page.text("head", column(place) + 24.0, top, layer.layer);
    }
    for (stack, positions) in activity.positions.iter().enumerate() {
        let y = top + 20.0 + stack as f64 * 17.0;
        page.text("", LEFT, y, stack + 1);
        page.text("end", LEFT + 108.0, y, positions);
        for (place, layer) in activity.layers.iter().enumerate().filter(|_| *positions > 0) {
            let share = layer.stacks[stack];
            let hundredths = |share: f64| format!("{:.1}%", share * 100.0);
            let figures = [hundredths(share.on), hundredths(share.saturated), format!("{:.3}", share.mean)];
            for (number, figure) in figures.iter().enumerate() {
                page.text("end", column(place) + 56.0 + number as f64 * 46.0, y, figure);
            }
        }
    }
    top + 20.0 + activity.positions.len() as f64 * 17.0 + 20.0
}
