//! SVG pictures of runs and nets, for light and dark pages.
//!
//! Colours are in one style sheet that follows the reader's preference, and equal figures give
//! equal bytes on every machine. A charting library offers neither. No font is embedded.

mod boards;
mod curves;
mod histogram;
mod net;
mod scale;

use std::fmt::{Display, Write as _};

pub use curves::curves;
pub use net::net;

use scale::Scale;

const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#3a3a38}.title{font-size:17px;font-weight:600}.head{font-weight:600}\
.small{font-size:10.5px;fill:#6b6b67}.end{text-anchor:end}.middle{text-anchor:middle}\
.page{fill:#fcfcfa}.grid{stroke:#e4e4df}.axis{stroke:#a9a9a2}.frame{fill:none;stroke:#c9c9c2}\
.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.one{stroke:#2b6cb0}.two{stroke:#c2542b}.three{stroke:#3f8a4f}\
.four{stroke:#8757b5}.bar{fill:#2b6cb0}.mark{stroke:#c2542b;stroke-dasharray:3 3}.dot{fill:#c2542b}\
.plus{fill:#c2542b}.minus{fill:#2b6cb0}\
@media(prefers-color-scheme:dark){text{fill:#dadad6}.small{fill:#a2a29c}.page{fill:#1a1b1e}.grid{stroke:#34363a}\
.axis{stroke:#6d6f75}.frame{stroke:#4a4c52}.one{stroke:#6fb0f2}.two{stroke:#f0916a}.three{stroke:#7cc78b}\
.four{stroke:#c39bea}.bar{fill:#6fb0f2}.mark{stroke:#f0916a}.dot{fill:#f0916a}.plus{fill:#f0916a}.minus{fill:#6fb0f2}}";

/// A picture under construction; coordinates from the left and the top.
struct Page {
    body: String,
}

impl Page {
    const fn new() -> Self {
        Self { body: String::new() }
    }

    fn add(&mut self, element: impl Display) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: impl Display) {
        self.add(format_args!("<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>", at(x), at(y), escaped(&text)));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (at(from.0), at(from.1), at(to.0), at(to.1));
        self.add(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    fn rectangle(&mut self, class: &str, (x, y): (f64, f64), width: f64, height: f64) {
        let (x, y, width, height) = (at(x), at(y), at(width), at(height));
        self.add(format_args!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"));
    }

    fn curve(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y))).collect();
        self.add(format_args!("<polyline class=\"curve {class}\" points=\"{}\"/>", points.join(" ")));
    }

    fn dot(&mut self, (x, y): (f64, f64)) {
        self.add(format_args!("<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", at(x), at(y)));
    }

    /// Returns the picture; `name` is its accessible name.
    fn finish(self, name: &str, width: f64, height: f64) -> String {
        let (body, name) = (self.body, escaped(&name));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{name}\">\n<style>{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" \
             height=\"{height}\"/>\n{body}</svg>\n"
        )
    }
}

/// Rounds a coordinate to a tenth, without a sign before zero.
fn at(place: f64) -> f64 {
    (place * 10.0).round() / 10.0 + 0.0
}

fn escaped(text: &impl Display) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// A count with a unit prefix.
fn short(count: f64) -> String {
    let (divided, unit) = match count {
        1e9.. => (count / 1e9, " G"),
        1e6.. => (count / 1e6, " M"),
        1e3.. => (count / 1e3, " k"),
        _ => (count, ""),
    };
    let parts = if divided < 10.0 { 100.0 } else { 10.0 };
    format!("{}{unit}", (divided * parts).round() / parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        let expected = ["0", "128", "1.65 k", "88.2 k", "529.2 k", "1 M", "2.5 G"];
        assert_eq!([0.0, 128.0, 1_654.0, 88_192.0, 529_152.0, 1e6, 2.5e9].map(short), expected);
    }

    #[test]
    fn places_have_a_tenth_and_no_minus_zero() {
        assert_eq!([1.26, -0.01, 3.0].map(|place| at(place).to_string()), ["1.3", "0", "3"]);
    }
}
