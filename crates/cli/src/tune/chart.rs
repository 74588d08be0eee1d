//! The values of a tuning run as an SVG picture.

use std::fmt::Write as _;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 400.0;
const MARGIN: f64 = 50.0;
const LINE: f64 = 16.0;
const COLORS: [&str; 8] = ["#a33", "#36a", "#383", "#a63", "#639", "#088", "#777", "#c39"];

/// Draws lines of values by iteration, in units of each parameter's perturbation. At most 500
/// points of each are drawn.
pub(super) fn draw(lines: &[(String, Vec<f64>)], iterations: u64) -> String {
    let most = lines.iter().flat_map(|(_, values)| values).fold(1.0_f64, |most, value| most.max(value.abs()));
    let (right, bottom) = (MARGIN + WIDTH, MARGIN + HEIGHT);
    let middle = MARGIN + HEIGHT / 2.0;
    let total = bottom + MARGIN + LINE * lines.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {total}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n\
         <text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">values by iteration, in perturbations from the start</text>\n\
         <path d=\"M{MARGIN} {MARGIN}V{bottom}H{right}M{MARGIN} {middle}H{right}\" fill=\"none\" stroke=\"#ccc\"/>\n\
         <text x=\"8\" y=\"{MARGIN}\">{most:.1}</text>\n<text x=\"8\" y=\"{middle}\">0</text>\n\
         <text x=\"8\" y=\"{bottom}\">-{most:.1}</text>\n\
         <text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{iterations}</text>\n",
        WIDTH + 2.0 * MARGIN,
        MARGIN - 20.0,
        bottom + LINE,
    );
    for (number, (name, values)) in lines.iter().enumerate() {
        let color = COLORS[number % COLORS.len()];
        let mut points = format!("{MARGIN},{middle}");
        let every = values.len().div_ceil(500).max(1);
        for (index, value) in values.iter().enumerate() {
            if (index + 1).is_multiple_of(every) || index + 1 == values.len() {
                let x = MARGIN + WIDTH * (index + 1) as f64 / iterations as f64;
                let y = middle - HEIGHT / 2.0 * value / most;
                write!(points, " {x:.1},{y:.1}").expect("writing to a string does not fail");
            }
        }
        let y = bottom + MARGIN + LINE * number as f64;
        writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\"/>\n\
             <text x=\"{MARGIN}\" y=\"{y}\" fill=\"{color}\">{name}</text>"
        )
        .expect("writing to a string does not fail");
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_drawn_for_each_parameter() {
        let lines = [("lmr_base".to_owned(), vec![0.5, -2.0]), ("lmr_pv".to_owned(), Vec::new())];
        let svg = draw(&lines, 2);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("points=\"50,250 450.0,200.0 850.0,450.0\""), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 2);
    }
}
