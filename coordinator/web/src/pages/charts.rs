//! Plots as SVG in the page. Colours are classes of the style sheet, for light and dark; each plot
//! has a text label.

use std::fmt::Write as _;

use super::{format, words::Language};

/// The size of a chart, before the page scales it.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 250.0;

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}

fn open(width: f64, height: f64, title: &str) -> String {
    format!(
        r#"<svg viewBox="0 0 {width} {height}" role="img" aria-label="{}" xmlns="http://www.w3.org/2000/svg">"#,
        escaped(title)
    )
}

/// Maps numbers to the picture.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

const LEFT: f64 = 58.0;
const RIGHT: f64 = WIDTH - 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = HEIGHT - 34.0;

impl Frame {
    fn around(x: (f64, f64), y: (f64, f64)) -> Self {
        let margin = ((y.1 - y.0) * 0.08).max(1e-9);
        let wide = |(low, high): (f64, f64)| if high > low { (low, high) } else { (low - 1.0, high + 1.0) };
        Self { x: wide(x), y: wide((y.0 - margin, y.1 + margin)) }
    }

    fn x(&self, at: f64) -> f64 {
        LEFT + (at - self.x.0) / (self.x.1 - self.x.0) * (RIGHT - LEFT)
    }

    fn y(&self, at: f64) -> f64 {
        BOTTOM - (at - self.y.0) / (self.y.1 - self.y.0) * (BOTTOM - TOP)
    }

    /// Draws the axes' lines and numbers.
    fn axes(&self, language: Language, svg: &mut String, label: &str) {
        for tick in ticks(self.y) {
            let y = self.y(tick);
            let class = if tick == 0.0 { "zero" } else { "axis" };
            let _ = write!(svg, r#"<line class="{class}" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/>"#);
            let text = format::decimal(tick, usize::from(self.y.1 - self.y.0 < 5.0));
            let _ = write!(
                svg,
                r#"<text x="{}" y="{:.1}" text-anchor="end" font-size="14">{text}</text>"#,
                LEFT - 7.0,
                y + 5.0
            );
        }
        for tick in ticks(self.x).into_iter().filter(|tick| tick.fract() == 0.0) {
            let x = self.x(tick).clamp(LEFT + 4.0, RIGHT - 14.0);
            let text = format::tick(language, tick as i64);
            let _ = write!(
                svg,
                r#"<text x="{x:.1}" y="{}" text-anchor="middle" font-size="14">{text}</text>"#,
                BOTTOM + 18.0
            );
        }
        let _ = write!(
            svg,
            r#"<text x="{RIGHT}" y="{}" text-anchor="end" font-size="13">{}</text>"#,
            HEIGHT - 3.0,
            escaped(label)
        );
    }
}

/// Some round numbers of a range.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    if !(step.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let first = (low / step).ceil() as i64;
    (0..12).map(|number| (first + number) as f64 * step).take_while(|tick| *tick <= high).collect()
}

/// The LLR curve of an SPRT between its bounds.
pub(super) fn curve(language: Language, title: &str, axis: &str, points: &[(u64, f64)], bounds: (f64, f64)) -> String {
    let values = points.iter().map(|point| point.1);
    let low = values.clone().fold(bounds.0, f64::min);
    let high = values.fold(bounds.1, f64::max);
    let end = points.last().map_or(1.0, |point| point.0 as f64);
    let frame = Frame::around((0.0, end), (low, high));
    let mut svg = open(WIDTH, HEIGHT, title);
    frame.axes(language, &mut svg, axis);
    for bound in [bounds.0, bounds.1] {
        let y = frame.y(bound);
        let _ = write!(svg, r#"<line class="bound" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/>"#);
    }
    let mut path = format!("M{:.1} {:.1}", frame.x(0.0), frame.y(0.0));
    for (pairs, llr) in points {
        let _ = write!(path, "L{:.1} {:.1}", frame.x(*pairs as f64), frame.y(*llr));
    }
    let _ = write!(svg, r#"<path class="series" d="{path}"/>"#);
    if let Some((pairs, llr)) = points.last() {
        let _ =
            write!(svg, r#"<circle class="dot" cx="{:.1}" cy="{:.1}" r="5"/>"#, frame.x(*pairs as f64), frame.y(*llr));
    }
    svg + "</svg>"
}

/// A number with its interval.
pub(super) struct Interval {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A series of numbers, each with its interval.
pub(super) fn intervals(language: Language, title: &str, axis: &str, all: &[Interval], earlier: usize) -> String {
    let low = all.iter().map(|it| it.low).fold(0.0, f64::min);
    let high = all.iter().map(|it| it.high).fold(1.0, f64::max);
    let first = earlier as f64 + 1.0;
    let frame = Frame::around((first - 0.5, first + all.len() as f64 - 0.5), (low, high));
    let mut svg = open(WIDTH, HEIGHT, title);
    frame.axes(language, &mut svg, axis);
    let (mut path, mut errors) = (String::new(), String::new());
    for (place, it) in all.iter().enumerate() {
        let x = frame.x(first + place as f64);
        let _ = write!(path, "{}{x:.1} {:.1}", if place == 0 { "M" } else { "L" }, frame.y(it.value));
        let (bottom, top) = (frame.y(it.low), frame.y(it.high));
        let left = x - 5.0;
        let _ = write!(errors, "M{x:.1} {bottom:.1}V{top:.1}M{left:.1} {bottom:.1}h10M{left:.1} {top:.1}h10");
    }
    let _ = write!(svg, r#"<path class="error" d="{errors}"/>"#);
    let _ = write!(svg, r#"<path class="series" d="{path}"/>"#);
    for (place, it) in all.iter().enumerate() {
        let (x, y) = (frame.x(first + place as f64), frame.y(it.value));
        let _ = write!(svg, r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="5"/>"#);
    }
    svg + "</svg>"
}

/// A column with its name and value.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: i64,
}

/// Baseline of the columns.
const LOW: f64 = HEIGHT - 28.0;

/// Height of the highest column.
const HIGHEST: f64 = LOW - 32.0;

/// Maximum width of a column.
const WIDEST: f64 = 110.0;

/// Height of a column; a positive value is always visible.
fn height_of(value: i64, max: f64) -> f64 {
    (value as f64 / max * HIGHEST).max(if value > 0 { 2.0 } else { 0.5 })
}

fn highest(bars: &[Bar]) -> f64 {
    bars.iter().map(|bar| bar.value).max().unwrap_or(0).max(1) as f64
}

/// Left edge of columns with a scale, behind its numbers.
const SCALE_WIDTH: f64 = 66.0;

/// Draws the scale: horizontal lines with numbers.
fn levels(language: Language, svg: &mut String, max: f64) {
    for level in ticks((0.0, max)).into_iter().filter(|level| *level > 0.0 && level.fract() == 0.0) {
        let y = LOW - level / max * HIGHEST;
        let _ = write!(svg, r#"<line class="axis" x1="{SCALE_WIDTH}" x2="{WIDTH}" y1="{y:.1}" y2="{y:.1}"/>"#);
        let (x, y, text) = (SCALE_WIDTH - 7.0, y + 5.0, format::tick(language, level as i64));
        let _ = write!(svg, r#"<text x="{x}" y="{y:.1}" text-anchor="end" font-size="14">{text}</text>"#);
    }
}

/// A histogram from the lowest class to the highest. `marks` names borders between classes, counted
/// from 0.
pub(super) fn histogram(language: Language, title: &str, bars: &[Bar], marks: &[(f64, String)]) -> String {
    let max = highest(bars);
    let mut svg = open(WIDTH, HEIGHT, title);
    levels(language, &mut svg, max);
    let width = (WIDTH - SCALE_WIDTH) / bars.len().max(1) as f64;
    for (place, bar) in bars.iter().enumerate() {
        let height = height_of(bar.value, max);
        let (left, wide, top) = (SCALE_WIDTH + place as f64 * width + 0.5, width - 1.0, LOW - height);
        let _ = write!(
            svg,
            r#"<rect class="bar" x="{left:.1}" y="{top:.1}" width="{wide:.1}" height="{height:.1}"><title>{}: {}</title></rect>"#,
            escaped(&bar.name),
            format::number(bar.value)
        );
    }
    for (border, name) in marks {
        let x = (SCALE_WIDTH + border * width).clamp(SCALE_WIDTH, WIDTH);
        let anchor = if x > WIDTH - 12.0 { "end" } else { "middle" };
        let _ = write!(
            svg,
            r#"<text x="{x:.1}" y="{}" text-anchor="{anchor}" font-size="16">{}</text>"#,
            HEIGHT - 8.0,
            escaped(name)
        );
    }
    svg + "</svg>"
}

/// Columns side by side, with names and values if they are few.
pub(super) fn columns(language: Language, title: &str, bars: &[Bar]) -> String {
    let max = highest(bars);
    let mut svg = open(WIDTH, HEIGHT, title);
    let is_named = bars.len() <= 7;
    let width_left = if is_named { WIDTH } else { WIDTH - SCALE_WIDTH };
    let width = (width_left / bars.len().max(1) as f64).min(WIDEST);
    let begin = WIDTH - width_left + (width_left - width * bars.len() as f64) / 2.0;
    if !is_named {
        levels(language, &mut svg, max);
    }
    for (place, bar) in bars.iter().enumerate() {
        let height = height_of(bar.value, max);
        let x = begin + place as f64 * width;
        let (left, wide, top, middle) = (x + width * 0.14, width * 0.72, LOW - height, x + width / 2.0);
        let _ = write!(
            svg,
            r#"<rect class="bar" x="{left:.1}" y="{top:.1}" width="{wide:.1}" height="{height:.1}" rx="2"><title>{}: {}</title></rect>"#,
            escaped(&bar.name),
            format::number(bar.value)
        );
        if is_named {
            let value = format::short(language, bar.value);
            let y = top - 6.0;
            let _ = write!(
                svg,
                r#"<text class="value" x="{middle:.1}" y="{y:.1}" text-anchor="middle" font-size="18">{value}</text>"#
            );
        }
        let last = bars.len() - 1;
        if is_named || place == 0 || place == last || place == last / 2 {
            let (at, anchor) = match place {
                _ if is_named => (middle, "middle"),
                0 => (x + 2.0, "start"),
                place if place == last => (x + width - 2.0, "end"),
                _ => (middle, "middle"),
            };
            let y = HEIGHT - 8.0;
            let name = escaped(&bar.name);
            let _ = write!(svg, r#"<text x="{at:.1}" y="{y}" text-anchor="{anchor}" font-size="17">{name}</text>"#);
        }
    }
    svg + "</svg>"
}

/// Shares of a whole: a bar for each.
pub(super) fn shares(language: Language, title: &str, bars: &[Bar]) -> String {
    const ROW: f64 = 30.0;
    let whole = bars.iter().map(|bar| bar.value).sum::<i64>();
    let max = bars.iter().map(|bar| bar.value).max().unwrap_or(0).max(1) as f64;
    let mut svg = open(WIDTH, ROW * bars.len() as f64 + 4.0, title);
    for (place, bar) in bars.iter().enumerate() {
        let y = place as f64 * ROW + 4.0;
        let width = (bar.value as f64 / max * 250.0).max(2.0);
        let middle = y + 18.0;
        let name = escaped(&bar.name);
        let _ = write!(svg, r#"<text class="value" x="0" y="{middle}" font-size="15">{name}</text>"#);
        let _ = write!(svg, r#"<rect class="track" x="170" y="{y}" width="250" height="22" rx="3"/>"#);
        let _ = write!(svg, r#"<rect class="bar" x="170" y="{y}" width="{width:.1}" height="22" rx="3"/>"#);
        let share = escaped(&format::percent(bar.value, whole));
        let text = format!("{share} · {}", format::short(language, bar.value));
        let _ = write!(svg, r#"<text x="{WIDTH}" y="{middle}" text-anchor="end" font-size="14">{text}</text>"#);
    }
    svg + "</svg>"
}

/// A step of a pipeline.
pub(super) struct Step {
    pub(super) name: String,
    /// A line of text below the name.
    pub(super) note: String,
    /// CSS class: past, here, ill, or none.
    pub(super) class: &'static str,
    /// Progress from 0 to 1.
    pub(super) done: Option<f64>,
}

/// A cyclic pipeline: side by side, or one below the other on phones.
pub(super) fn pipeline(title: &str, again: &str, steps: &[Step], is_tall: bool) -> String {
    let (wide, high) = (196.0, 76.0);
    let gap = if is_tall { 30.0 } else { 46.0 };
    let count = steps.len() as f64;
    let (width, height) = if is_tall {
        (wide + 90.0, count * high + (count - 1.0) * gap + 8.0)
    } else {
        (count * wide + (count - 1.0) * gap + 8.0, high + 66.0)
    };
    let mut svg = open(width, height, title);
    for (place, step) in steps.iter().enumerate() {
        let along = place as f64 * if is_tall { high + gap } else { wide + gap } + 4.0;
        let (x, y) = if is_tall { (4.0, along) } else { (along, 4.0) };
        let class = step.class;
        let _ = write!(svg, r#"<rect class="step {class}" x="{x}" y="{y}" width="{wide}" height="{high}" rx="10"/>"#);
        let middle = x + wide / 2.0;
        let (first, second) = (y + 30.0, y + 52.0);
        let (name, note) = (escaped(&step.name), escaped(&step.note));
        let _ = write!(
            svg,
            r#"<text class="name" x="{middle}" y="{first}" text-anchor="middle" font-size="17">{name}</text>"#
        );
        let _ = write!(svg, r#"<text x="{middle}" y="{second}" text-anchor="middle" font-size="14">{note}</text>"#);
        if let Some(done) = step.done {
            let (left, top, long) = (x + 14.0, y + high - 14.0, wide - 28.0);
            let part = long * done.clamp(0.0, 1.0);
            let _ = write!(svg, r#"<rect class="track" x="{left}" y="{top}" width="{long}" height="6" rx="3"/>"#);
            if part >= 3.0 {
                let _ = write!(svg, r#"<rect class="bar" x="{left}" y="{top}" width="{part:.1}" height="6" rx="3"/>"#);
            }
        }
        if place + 1 < steps.len() {
            let (from, to) = if is_tall {
                ((middle, y + high + 3.0), (middle, y + high + gap - 4.0))
            } else {
                ((x + wide + 4.0, y + high / 2.0), (x + wide + gap - 5.0, y + high / 2.0))
            };
            arrow(&mut svg, &[from, to]);
        }
    }
    let again = escaped(again);
    if is_tall {
        let (right, bottom, top) = (wide + 8.0, height - high / 2.0, 4.0 + high / 2.0);
        arrow(&mut svg, &[(right, bottom), (right + 24.0, bottom), (right + 24.0, top), (right, top)]);
        let (x, y) = (right + 34.0, height / 2.0);
        let _ = write!(
            svg,
            r#"<text x="{x}" y="{y}" font-size="13" text-anchor="middle" transform="rotate(90 {x} {y})">{again}</text>"#
        );
    } else {
        let (bottom, low) = (high + 8.0, high + 32.0);
        let (from, to) = (width - wide / 2.0, wide / 2.0);
        arrow(&mut svg, &[(from, bottom), (from, low), (to, low), (to, bottom)]);
        let (x, y) = (width / 2.0, low + 22.0);
        let _ = write!(svg, r#"<text x="{x}" y="{y}" text-anchor="middle" font-size="14">{again}</text>"#);
    }
    svg + "</svg>"
}

/// An arrow through points.
fn arrow(svg: &mut String, points: &[(f64, f64)]) {
    let mut path = String::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if place == 0 { "M" } else { "L" });
    }
    let _ = write!(svg, r#"<path class="flow" d="{path}"/>"#);
    let [.., (from_x, from_y), (x, y)] = points else { return };
    let length = ((x - from_x).powi(2) + (y - from_y).powi(2)).sqrt().max(1e-9);
    let (ahead_x, ahead_y) = ((x - from_x) / length, (y - from_y) / length);
    let (back_x, back_y) = (x - ahead_x * 9.0, y - ahead_y * 9.0);
    let (side_x, side_y) = (-ahead_y * 5.0, ahead_x * 5.0);
    let _ = write!(
        svg,
        r#"<path class="head" d="M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}Z"/>"#,
        back_x + side_x,
        back_y + side_y,
        back_x - side_x,
        back_y - side_y
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const EN: Language = Language::English;

    #[test]
    fn names_do_not_get_out_of_the_picture() {
        let hostile = "<script>alert('x')</script>\"";
        let bars = [Bar { name: hostile.to_owned(), value: 3 }];
        let marks = [(0.0, hostile.to_owned())];
        let pictures = [columns(EN, hostile, &bars), histogram(EN, hostile, &bars, &marks), shares(EN, hostile, &bars)];
        for svg in pictures.into_iter().chain([curve(EN, hostile, hostile, &[], (-1.0, 1.0))]) {
            assert!(!svg.contains("<script") && svg.ends_with("</svg>"), "{svg}");
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks((-3.0, 3.0)), [-2.0, 0.0, 2.0]);
        assert_eq!(ticks((0.0, 100.0)).len(), 6);
        assert!(ticks((1.0, 1.0)).is_empty());
        assert!(ticks((f64::NAN, 1.0)).is_empty());
    }

    #[test]
    fn a_lone_column_is_no_wall() {
        let svg = columns(EN, "x", &[Bar { name: "0".to_owned(), value: 7 }]);
        let wide =
            svg.split(r#"width=""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap().parse::<f64>().unwrap();
        assert!(wide < WIDTH / 4.0, "{svg}");
    }

    #[test]
    fn an_empty_plot_is_valid() {
        for svg in [
            columns(EN, "x", &[]),
            histogram(EN, "x", &[], &[]),
            shares(EN, "x", &[]),
            intervals(EN, "x", "y", &[], 0),
            curve(EN, "x", "y", &[], (0.0, 0.0)),
        ] {
            assert!(svg.starts_with("<svg") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
