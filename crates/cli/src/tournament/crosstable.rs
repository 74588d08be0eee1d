//! The crosstable of a tournament as text, JSON and HTML.

use std::fmt::{self, Write as _};

use serde::Serialize;
use stats::{
    GameResult,
    tournament::{Game, Row, Score, TieBreaks, standings, strengths},
};

use super::journal::{RecordedGame, RecordedPair};

/// Standard errors in half of a 95 % interval.
const QUANTILE: f64 = 1.96;

/// The standings with ratings, the winner first.
pub(super) struct Crosstable<'a> {
    rows: Vec<RatedRow<'a>>,
    encounters: Vec<Encounter>,
}

/// A row of the table.
#[derive(Serialize)]
pub(super) struct RatedRow<'a> {
    name: &'a str,
    #[serde(flatten)]
    row: Row,
    /// Relative to the first engine.
    elo: f64,
    /// Half of the 95 % interval; none without games.
    elo_error: Option<f64>,
}

/// The games between two engines.
#[derive(Serialize)]
pub(super) struct Encounter {
    one: usize,
    other: usize,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
}

impl Encounter {
    fn new(one: usize, other: usize, games: &[Game]) -> Self {
        let mut encounter = Self { one, other, games: 0, wins: 0, draws: 0, losses: 0 };
        for result in
            games.iter().filter(|game| game.result_for(other).is_some()).filter_map(|game| game.result_for(one))
        {
            encounter.games += 1;
            match result {
                GameResult::Win => encounter.wins += 1,
                GameResult::Draw => encounter.draws += 1,
                GameResult::Loss => encounter.losses += 1,
            }
        }
        encounter
    }

    /// The points of both sides.
    const fn points(&self) -> [u64; 2] {
        [2 * self.wins + self.draws, 2 * self.losses + self.draws]
    }
}

impl<'a> Crosstable<'a> {
    pub(super) fn new(names: &'a [String], pairs: &[RecordedPair]) -> Self {
        let games: Vec<Game> = pairs.iter().flat_map(|pair| &pair.games).map(RecordedGame::result).collect();
        let all = (0..names.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
        let encounters: Vec<Encounter> = all
            .map(|(one, other)| Encounter::new(one, other, &games))
            .filter(|encounter| encounter.games > 0)
            .collect();
        let scores: Vec<Score> = encounters
            .iter()
            .map(|found| {
                let points = found.points()[0] as f64 / 2.0;
                Score { one: found.one, other: found.other, games: found.games, points }
            })
            .collect();
        let strengths = strengths(names.len(), &scores);
        let rows = standings(names.len(), &games, &[], TieBreaks::RoundRobin)
            .into_iter()
            .map(|row| RatedRow {
                name: &names[row.player],
                row,
                elo: strengths[row.player].elo,
                elo_error: strengths[row.player].error.map(|error| QUANTILE * error),
            })
            .collect();
        Self { rows, encounters }
    }

    pub(super) fn rows(&self) -> &[RatedRow<'a>] {
        &self.rows
    }

    pub(super) fn encounters(&self) -> &[Encounter] {
        &self.encounters
    }

    /// The header cells.
    fn head(&self) -> Vec<String> {
        let fixed = ["", "engine", "points", "games", "won", "drawn", "lost", "Neustadtl", "elo"];
        let numbers = (1..=self.rows.len()).map(|number| number.to_string());
        fixed.map(str::to_owned).into_iter().chain(numbers).collect()
    }

    /// The cells of a row; the last ones are the points against each row.
    fn cells(&self, rated: &RatedRow<'_>) -> Vec<String> {
        let RatedRow { name, row, elo, elo_error } = rated;
        let error = elo_error.map_or_else(|| "-".to_owned(), |error| format!("{error:.0}"));
        // No `-0`.
        let elo = elo.round() + 0.0;
        let against = self.rows.iter().map(|other| {
            let pair = [row.player, other.row.player];
            let found = self.encounters.iter().find(|one| pair == [one.one, one.other] || pair == [one.other, one.one]);
            let points =
                found.map(|one| if pair[0] == one.one { one.points() } else { [one.points()[1], one.points()[0]] });
            points.map_or_else(String::new, |[own, opponent]| format!("{own}:{opponent}"))
        });
        let fixed = [
            row.place.to_string(),
            (*name).to_owned(),
            row.points.to_string(),
            row.games.to_string(),
            row.wins.to_string(),
            row.draws.to_string(),
            row.losses.to_string(),
            row.neustadtl.to_string(),
            format!("{elo:+.0} ± {error}"),
        ];
        fixed.into_iter().chain(against).collect()
    }

    /// Formats the table as a page that needs no other file.
    pub(super) fn html(&self, event: &str) -> String {
        let event = escaped(event);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{event}</title>\n\
             <style>body {{ font-family: sans-serif; margin: 2em }} table {{ border-collapse: collapse }} \
             th, td {{ white-space: nowrap; border: 1px solid #999; padding: 0.3em 0.6em; text-align: right }} \
             td:nth-child(2), th:nth-child(2) {{ text-align: left }} th {{ background: #eee }}</style>\n</head>\n\
             <body>\n<h1>{event}</h1>\n<table>\n"
        );
        let mut line = |cells: Vec<String>, tag: &str| {
            page.push_str("<tr>");
            for cell in cells {
                let _ = write!(page, "<{tag}>{}</{tag}>", escaped(&cell));
            }
            page.push_str("</tr>\n");
        };
        line(self.head(), "th");
        for row in &self.rows {
            line(self.cells(row), "td");
        }
        page.push_str(
            "</table>\n<p>A win is worth two points, a draw one. Elo is relative to the first engine of the command, \
             with the 95 % interval. The columns with numbers are the points against each row.</p>\n</body>\n</html>\n",
        );
        page
    }
}

impl fmt::Display for Crosstable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.head()];
        lines.extend(self.rows.iter().map(|row| self.cells(row)));
        let columns = lines[0].len();
        let widths: Vec<usize> = (0..columns)
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default())
            .collect();
        for line in lines {
            let mut text = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                // Names are aligned left, numbers right.
                let _ = if column == 1 { write!(text, "  {cell:<width$}") } else { write!(text, "  {cell:>width$}") };
            }
            writeln!(f, "{}", text.get(2..).unwrap_or_default().trim_end())?;
        }
        Ok(())
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
