//! The plot of a game's scores.

use std::fmt::{self, Write as _};

use dataset::Score;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 130.0;
/// Score at half of a half height, in hundredths of a pawn; larger scores are compressed.
const BEND: f64 = 300.0;
/// Largest number of points; each point of a longer game is the mean of several moves.
const MAX_POINTS: usize = 300;

/// Scores from Red's side, by move.
pub(crate) struct Graph<'a> {
    pub(crate) scores: &'a [Option<Score>],
    pub(crate) ply: usize,
    /// The plies of the cycle that ended the game.
    pub(crate) cycle: Option<(usize, usize)>,
    pub(crate) title: &'a str,
}

fn height_of(score: Score) -> f64 {
    let score = f64::from(score);
    let share = score / (score.abs() + BEND);
    HEIGHT / 2.0 * (1.0 - share * 0.94)
}

/// The mean of the known scores, if there are any.
fn mean(scores: &[Option<Score>]) -> Option<Score> {
    let known = || scores.iter().flatten();
    let count = i64::try_from(known().count()).ok().filter(|count| *count > 0)?;
    Score::try_from(known().map(|&score| i64::from(score)).sum::<i64>() / count).ok()
}

impl Graph<'_> {
    /// Whether any score is known.
    pub(crate) fn has_any(&self) -> bool {
        self.scores.iter().any(Option::is_some)
    }

    fn x(&self, ply: usize) -> f64 {
        WIDTH * ply as f64 / self.scores.len().max(1) as f64
    }
}

impl fmt::Display for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            r#"<svg class="graph" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{}" data-plies="{}">"#,
            self.title,
            self.scores.len()
        )?;
        if let Some((from, to)) = self.cycle {
            let (x, width) = (self.x(from), self.x(to) - self.x(from));
            write!(f, r#"<rect class="graph-cycle" x="{x:.1}" y="0" width="{width:.1}" height="{HEIGHT}"/>"#)?;
        }
        for pawns in [-5, -1, 0, 1, 5] {
            let y = height_of(pawns * 100);
            let class = if pawns == 0 { "graph-even" } else { "graph-line" };
            write!(f, r#"<path class="{class}" d="M0 {y:.1}H{WIDTH}"/>"#)?;
        }
        let size = self.scores.len().div_ceil(MAX_POINTS).max(1);
        let mut path = String::new();
        let mut area = String::new();
        let mut open = None;
        for (index, scores) in self.scores.chunks(size).enumerate() {
            let x = self.x((index * size + size).min(self.scores.len()));
            match mean(scores) {
                Some(score) => {
                    let y = height_of(score);
                    let command = if open.is_some() { 'L' } else { 'M' };
                    write!(path, "{command}{x:.1} {y:.1}")?;
                    if open.is_none() {
                        write!(area, "M{x:.1} {:.1}", HEIGHT / 2.0)?;
                    }
                    write!(area, "L{x:.1} {y:.1}")?;
                    open = Some(x);
                }
                None => {
                    if let Some(last) = open.take() {
                        write!(area, "L{last:.1} {:.1}Z", HEIGHT / 2.0)?;
                    }
                }
            }
        }
        if let Some(last) = open {
            write!(area, "L{last:.1} {:.1}Z", HEIGHT / 2.0)?;
        }
        write!(f, r#"<path class="graph-area" d="{area}"/><path class="graph-curve" d="{path}"/>"#)?;
        let x = self.x(self.ply);
        write!(f, r#"<path class="graph-cursor" d="M0 0V{HEIGHT}" transform="translate({x:.1} 0)"/></svg>"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_for_red_is_higher_and_nothing_leaves_the_picture() {
        assert!(height_of(100) < height_of(0) && height_of(0) < height_of(-100));
        assert!(height_of(32_000) > 0.0 && height_of(-32_000) < HEIGHT);
        assert!((height_of(0) - HEIGHT / 2.0).abs() < 1e-9);
    }

    #[test]
    fn gaps_stay_gaps() {
        let scores = [None, Some(10), Some(20), None, Some(-30)];
        let graph = Graph { scores: &scores, ply: 5, cycle: Some((1, 5)), title: "Scores" };
        let svg = graph.to_string();
        assert!(graph.has_any() && svg.contains(r#"class="graph-cycle" x="120.0""#));
        assert_eq!(svg.split("graph-curve").nth(1).unwrap().split("/>").next().unwrap().matches('M').count(), 2);
        assert!(svg.contains("translate(600.0 0)"));
        assert!(!Graph { scores: &[None], ply: 0, cycle: None, title: "" }.has_any());
    }
}
