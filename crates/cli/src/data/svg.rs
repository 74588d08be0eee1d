//! Histograms as an SVG picture.

use std::fmt::{Display, Write as _};

use dataset::stats::Stats;

const WIDTH: usize = 640;
const HEIGHT: usize = 160;
const GAP: usize = 60;

/// Draws the histograms of scores, pieces and lengths, one below the other.
pub(super) fn draw(stats: &Stats) -> String {
    let charts = [
        ("positions by score", bars(stats.scores.iter())),
        ("positions by pieces on the board", bars(stats.pieces.iter())),
        ("games by plies", bars(stats.lengths.iter())),
    ];
    let total = charts.len() * (HEIGHT + GAP) + GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {total}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n",
        WIDTH + 2 * GAP
    );
    for (number, (title, bars)) in charts.iter().enumerate() {
        chart(&mut svg, title, bars, GAP + number * (HEIGHT + GAP)).expect("writing to a string does not fail");
    }
    svg.push_str("</svg>\n");
    svg
}

fn bars<'a, K: Display + 'a>(counts: impl Iterator<Item = (&'a K, &'a u64)>) -> Vec<(String, u64)> {
    counts.map(|(name, count)| (name.to_string(), *count)).collect()
}

fn chart(svg: &mut String, title: &str, bars: &[(String, u64)], top: usize) -> std::fmt::Result {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let base = top + HEIGHT;
    writeln!(svg, "<text x=\"{GAP}\" y=\"{}\" font-weight=\"bold\">{title} (most: {most})</text>", top - 8)?;
    let every = bars.len().div_ceil(12).max(1);
    for (place, (name, count)) in bars.iter().enumerate() {
        let x = GAP + place * WIDTH / bars.len();
        let width = (WIDTH / bars.len()).saturating_sub(1).max(1);
        let height = (u128::from(*count) * HEIGHT as u128 / u128::from(most)) as usize;
        writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"#a33\"><title>{name}: {count}</title></rect>",
            base - height
        )?;
        if place % every == 0 {
            writeln!(svg, "<text x=\"{x}\" y=\"{}\">{name}</text>", base + 14)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_counts() {
        let mut stats = Stats::default();
        stats.scores.extend([(-100, 50), (0, 100)]);
        let svg = draw(&stats);
        assert!(svg.contains("height=\"80\" fill=\"#a33\"><title>-100: 50<"), "{svg}");
        assert!(svg.contains("height=\"160\" fill=\"#a33\"><title>0: 100<"), "{svg}");
        assert_eq!(svg.matches("<rect").count(), 2);
    }
}
