//! The curves of a run: losses and learning rate over the positions trained on.

use super::{Page, Scale, short};
use crate::run::Line;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 92.0;

/// Maximum points of a curve; neighbours are averaged.
const MAX_POINTS: usize = 400;

/// A chart of the page.
struct Panel<'a> {
    title: &'a str,
    class: &'a str,
    top: f64,
    height: f64,
    points: Vec<(f64, f64)>,
    /// Whether the lowest point is marked.
    best: bool,
    /// Whether the axis starts at zero.
    from_zero: bool,
}

/// Draws the metrics of a run.
///
/// Training and held-out loss have a chart each, because their heights cannot be compared. The one
/// uses the recipe's exponent and the epoch's lambda, the other squares and a fixed lambda.
#[must_use]
pub fn curves(name: &str, lines: &[Line]) -> String {
    let points = |of: &dyn Fn(&Line) -> Option<f64>| {
        let points = lines.iter().filter_map(|line| Some((line.positions as f64, of(line)?)));
        thinned(&points.collect::<Vec<_>>())
    };
    let panel =
        |title, class, top, height, points| Panel { title, class, top, height, points, best: false, from_zero: false };
    let held_out = points(&|line| line.validation_loss);
    let rate = points(&|line| Some(line.learning_rate));
    let panels = [
        panel("training loss", "one", 66.0, 170.0, points(&|line| Some(line.loss))),
        Panel { best: true, ..panel("held-out loss (squares)", "two", 280.0, 170.0, held_out) },
        Panel { from_zero: true, ..panel("learning rate", "three", 494.0, 90.0, rate) },
    ];
    let last = lines.last().map_or(0.0, |line| line.positions as f64);
    let across = Scale::between(0.0, last.max(1.0), LEFT, RIGHT);
    let mut page = Page::new();
    page.text("title", LEFT, 32.0, name);
    if let Some(line) = lines.last() {
        let (step, epoch) = (line.step, line.epoch);
        page.text("small end", RIGHT, 32.0, format_args!("step {step}, epoch {epoch}, {} positions", short(last)));
    }
    for panel in &panels {
        draw(&mut page, panel, &across);
    }
    let bottom = panels.last().map_or(0.0, |panel| panel.top + panel.height);
    for tick in across.ticks(8.0) {
        page.text("small middle", across.place(tick), bottom + 17.0, short(tick));
    }
    page.text("small middle", f64::midpoint(LEFT, RIGHT), bottom + 35.0, "positions learned from");
    page.finish(&format!("losses and learning rate of {name}"), WIDTH, bottom + 48.0)
}

fn draw(page: &mut Page, panel: &Panel<'_>, across: &Scale) {
    let (top, bottom) = (panel.top, panel.top + panel.height);
    let figures = panel.points.iter().map(|(_, figure)| *figure);
    let up = if panel.from_zero {
        Scale::even(figures.clone().chain([0.0]), bottom, top + 6.0)
    } else {
        Scale::airy(figures.clone(), bottom, top)
    };
    page.text("head", LEFT, top - 9.0, panel.title);
    for tick in across.ticks(8.0) {
        page.line("grid", (across.place(tick), top), (across.place(tick), bottom));
    }
    for tick in up.ticks(panel.height / 36.0) {
        page.line("grid", (LEFT, up.place(tick)), (RIGHT, up.place(tick)));
        page.text("small end", LEFT - 8.0, up.place(tick) + 4.0, figure(tick));
    }
    page.line("axis", (LEFT, bottom), (RIGHT, bottom));
    let places: Vec<_> = panel.points.iter().map(|(x, y)| (across.place(*x), up.place(*y))).collect();
    let (Some(last), Some(last_figure)) = (places.last(), figures.clone().next_back()) else {
        page.text("small middle", f64::midpoint(LEFT, RIGHT), f64::midpoint(top, bottom), "nothing yet");
        return;
    };
    page.curve(panel.class, &places);
    let digits = if panel.best { format!("{last_figure:.6}") } else { figure_at_end(last_figure) };
    page.text("", last.0 + 8.0, last.1 + 4.0, digits);
    let best = panel.points.iter().zip(&places).min_by(|one, other| one.0.1.total_cmp(&other.0.1));
    if let (true, Some(((positions, least), place))) = (panel.best, best) {
        page.dot(*place);
        page.text("small end", RIGHT, top - 9.0, format_args!("least {least:.6} after {}", short(*positions)));
    }
}

/// Averages neighbours down to at most [`MAX_POINTS`] points.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let bunch = points.len().div_ceil(MAX_POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let (x, _) = points[points.len() - 1];
        (x, points.iter().map(|(_, y)| y).sum::<f64>() / points.len() as f64)
    };
    points.chunks(bunch).map(mean).collect()
}

fn figure(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 { format!("{number:e}") } else { number.to_string() }
}

fn figure_at_end(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 { format!("{number:.1e}") } else { format!("{number:.6}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Vec<Line> {
        let line = |step: u64| Line {
            step,
            epoch: step.div_ceil(10),
            positions: step * 1000,
            loss: 0.1 + 1.0 / step as f64,
            validation_loss: step.is_multiple_of(10).then(|| 0.2 + (step as f64 - 50.0).abs() / 1000.0),
            best_validation_loss: None,
            learning_rate: 1e-3,
            lambda: 0.8,
        };
        (1..=count).map(line).collect()
    }

    #[test]
    fn every_figure_has_its_curve() {
        let svg = curves("a<b", &lines(100));
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert!(svg.contains(">a&lt;b</text>") && svg.contains(">0.110000</text>") && svg.contains(">0.250000</text>"));
        assert!(svg.contains(">least 0.200000 after 50 k</text>"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg, curves("a<b", &lines(100)));
    }

    #[test]
    fn a_run_without_figures_is_drawn_too() {
        for count in [0, 1, 2] {
            let svg = curves("new", &lines(count));
            assert!(svg.contains("nothing yet") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn many_points_are_thinned() {
        let points: Vec<_> = (0..10_001).map(|point| (f64::from(point), 1.0)).collect();
        let thinned = thinned(&points);
        assert!(thinned.len() <= MAX_POINTS && thinned.len() > MAX_POINTS / 2);
        assert_eq!(thinned.last(), Some(&(10_000.0, 1.0)));
    }
}
