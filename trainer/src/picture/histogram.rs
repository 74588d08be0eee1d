//! The histogram of an array.

use super::{Page, short};
use crate::inspect::Statistics;

pub(super) const WIDTH: f64 = 246.0;
pub(super) const HEIGHT: f64 = 150.0;

const COLUMNS_TOP: f64 = 46.0;
const COLUMNS_HEIGHT: f64 = 72.0;

/// Draws a histogram with its corner at `(left, y)`. Heights are logarithmic, because most numbers
/// are near zero.
pub(super) fn draw(page: &mut Page, (left, y): (f64, f64), it: &Statistics) {
    page.text("head", left, y + 14.0, format_args!("{} · {}", it.array, short(it.count as f64)));
    let (mean, deviation) = (brief(it.mean), brief(it.deviation));
    let (zero, limit) = (percent(it.zero), percent(it.at_limit));
    page.text("small", left, y + 29.0, format_args!("mean {mean} ± {deviation} · zero {zero} · limit {limit}"));
    let bottom = y + COLUMNS_TOP + COLUMNS_HEIGHT;
    let most = it.histogram.iter().copied().max().unwrap_or(0);
    let width = WIDTH / it.histogram.len().max(1) as f64;
    for (column, count) in it.histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
        let part = libm::log(1.0 + *count as f64) / libm::log(1.0 + most as f64);
        let height = part * COLUMNS_HEIGHT;
        page.rectangle("bar", (left + column as f64 * width, bottom - height), width - 0.6, height);
    }
    page.line("axis", (left, bottom), (left + WIDTH, bottom));
    if it.limit < it.reach * 1.001 {
        for place in [-it.limit, it.limit] {
            let x = left + f64::midpoint(place / it.reach, 1.0) * WIDTH;
            page.line("mark", (x, y + COLUMNS_TOP - 4.0), (x, bottom));
        }
    }
    page.text("small", left, bottom + 13.0, brief(-it.reach));
    page.text("small middle", left + WIDTH / 2.0, bottom + 13.0, "0");
    page.text("small end", left + WIDTH, bottom + 13.0, brief(it.reach));
}

/// Formats about three significant digits.
pub(super) fn brief(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        0.1.. => format!("{number:.2}"),
        0.001.. => format!("{number:.4}"),
        _ => format!("{number:.1e}"),
    }
}

/// Formats a share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 9.95 { format!("{percent:.0}%") } else { format!("{percent:.1}%") }
}
