//! The crosstable of a tournament as text, JSON and HTML.

use std::fmt::{self, Write as _};

use serde::Serialize;
use stats::{
    GameResult,
    tournament::{Game, Row, Score, TieBreaks, byes, knockout_places, standings, strengths},
};

use super::{
    encounter::{Encounter, Stage},
    journal::{RecordedGame, RecordedPair},
    schedule::Kind,
};

/// Standard errors in half of a 95 % interval.
const QUANTILE: f64 = 1.96;

/// The standings with ratings, the winner first.
pub(super) struct Crosstable<'a> {
    kind: Kind,
    names: &'a [String],
    rows: Vec<RatedRow<'a>>,
    meetings: Vec<Meeting>,
    /// The encounters of each round, where the schedule depends on results; otherwise none.
    rounds: &'a [Vec<Encounter>],
}

/// A row of the table.
#[derive(Serialize)]
pub(super) struct RatedRow<'a> {
    name: &'a str,
    #[serde(flatten)]
    row: Row,
    /// Relative to the first engine.
    elo: f64,
    /// Half of the 95 % interval; none for the first engine, and without games.
    elo_error: Option<f64>,
}

/// The games between two engines, in all rounds.
#[derive(Serialize)]
pub(super) struct Meeting {
    one: usize,
    other: usize,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
}

impl Meeting {
    fn new(one: usize, other: usize, games: &[Game]) -> Self {
        let mut meeting = Self { one, other, games: 0, wins: 0, draws: 0, losses: 0 };
        for result in
            games.iter().filter(|game| game.result_for(other).is_some()).filter_map(|game| game.result_for(one))
        {
            meeting.games += 1;
            match result {
                GameResult::Win => meeting.wins += 1,
                GameResult::Draw => meeting.draws += 1,
                GameResult::Loss => meeting.losses += 1,
            }
        }
        meeting
    }

    /// The points of both sides.
    const fn points(&self) -> [u64; 2] {
        [2 * self.wins + self.draws, 2 * self.losses + self.draws]
    }
}

/// Returns the result of each encounter, by rounds.
pub(super) fn results(rounds: &[Vec<Encounter>]) -> Vec<Vec<Game>> {
    rounds.iter().map(|round| round.iter().map(|encounter| encounter.result).collect()).collect()
}

impl<'a> Crosstable<'a> {
    pub(super) fn new(
        kind: Kind,
        names: &'a [String],
        pairs: u64,
        recorded: &[RecordedPair],
        rounds: &'a [Vec<Encounter>],
    ) -> Self {
        let games_of = |is_counted: &dyn Fn(&RecordedPair) -> bool| -> Vec<Game> {
            let counted = recorded.iter().filter(|pair| is_counted(pair));
            counted.flat_map(|pair| &pair.games).map(RecordedGame::result).collect()
        };
        let meetings_in = |games: &[Game]| -> Vec<Meeting> {
            let all = (0..names.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
            all.map(|(one, other)| Meeting::new(one, other, games)).filter(|meeting| meeting.games > 0).collect()
        };
        let games = games_of(&|_| true);
        let meetings = meetings_in(&games);
        // A decider gives Black the draw for a shorter limit, so it counts for no Elo.
        let rated = meetings_in(&games_of(&|pair| kind != Kind::Knockout || pair.pair < Stage::Decider.pairs(pairs)));
        let scores: Vec<Score> = rated
            .iter()
            .map(|found| {
                let points = found.points()[0] as f64 / 2.0;
                Score { one: found.one, other: found.other, games: found.games, points }
            })
            .collect();
        let strengths = strengths(names.len(), &scores);
        let rounds_of_results = results(rounds);
        let mut standings = match kind {
            // An encounter counts as one game (Article 9.2).
            Kind::Swiss => {
                let byes = byes(names.len(), &rounds_of_results);
                standings(names.len(), &rounds_of_results.concat(), &byes, TieBreaks::Swiss)
            }
            Kind::RoundRobin | Kind::Gauntlet | Kind::Knockout => {
                standings(names.len(), &games, &[], TieBreaks::RoundRobin)
            }
        };
        if kind == Kind::Knockout {
            let places = knockout_places(names.len(), &rounds_of_results);
            for row in &mut standings {
                row.place = places[row.player];
            }
            standings.sort_by_key(|row| (row.place, row.player));
        }
        let rows = standings
            .into_iter()
            .map(|row| RatedRow {
                name: &names[row.player],
                row,
                elo: strengths[row.player].elo,
                elo_error: strengths[row.player].error.map(|error| QUANTILE * error),
            })
            .collect();
        let shows_rounds = matches!(kind, Kind::Swiss | Kind::Knockout);
        Self { kind, names, rows, meetings, rounds: if shows_rounds { rounds } else { &[] } }
    }

    pub(super) fn rows(&self) -> &[RatedRow<'a>] {
        &self.rows
    }

    pub(super) fn meetings(&self) -> &[Meeting] {
        &self.meetings
    }

    /// A line per encounter or bye, by rounds.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, round) in (1..).zip(self.rounds) {
            lines.extend(round.iter().map(|encounter| format!("round {number}: {}", encounter.line(self.names))));
            if self.kind == Kind::Swiss {
                let byes = byes(self.names.len(), &results(std::slice::from_ref(round)));
                lines.extend(byes.iter().map(|bye| format!("round {number}: {} has a bye", self.names[bye.player])));
            }
        }
        lines
    }

    /// Describes the points.
    const fn scoring(&self) -> &'static str {
        match self.kind {
            Kind::Swiss => "A won encounter or a bye is worth two points, a drawn one one.",
            Kind::RoundRobin | Kind::Gauntlet => "A win is worth two points, a draw one.",
            Kind::Knockout => "A win is worth two points, a draw one. A drawn decider is a win of Black.",
        }
    }

    /// The header cells.
    fn head(&self) -> Vec<String> {
        let (count, tie_break) = match self.kind {
            Kind::Swiss => ("rounds", Some("Solkoff")),
            Kind::RoundRobin | Kind::Gauntlet => ("games", Some("Neustadtl")),
            Kind::Knockout => ("games", None),
        };
        let fixed = ["", "engine", "points", count, "won", "drawn", "lost"].into_iter().chain(tie_break).chain(["elo"]);
        let numbers = (1..=self.rows.len()).map(|number| number.to_string());
        fixed.map(str::to_owned).chain(numbers).collect()
    }

    /// The cells of a row; the last ones are the points against each row.
    fn cells(&self, rated: &RatedRow<'_>) -> Vec<String> {
        let RatedRow { name, row, elo, elo_error } = rated;
        let error = elo_error.map_or_else(String::new, |error| format!(" ± {error:.0}"));
        // No `-0`.
        let elo = elo.round() + 0.0;
        let against = self.rows.iter().map(|other| {
            let pair = [row.player, other.row.player];
            let found = self.meetings.iter().find(|one| pair == [one.one, one.other] || pair == [one.other, one.one]);
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
        ];
        let tie_break = match self.kind {
            Kind::Swiss => Some(row.solkoff.to_string()),
            Kind::RoundRobin | Kind::Gauntlet => Some(row.neustadtl.to_string()),
            Kind::Knockout => None,
        };
        let elo = format!("{elo:+.0}{error}");
        fixed.into_iter().chain(tie_break).chain([elo]).chain(against).collect()
    }

    /// Formats the table as a page that needs no other file, with named facts about the tournament.
    pub(super) fn html(&self, event: &str, facts: &[(&str, String)]) -> String {
        let event = escaped(event);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{event}</title>\n\
             <style>body {{ font-family: sans-serif; margin: 2em }} table {{ border-collapse: collapse }} \
             th, td {{ white-space: nowrap; border: 1px solid #999; padding: 0.3em 0.6em; text-align: right }} \
             td:nth-child(2), th:nth-child(2) {{ text-align: left }} th {{ background: #eee }} \
             dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 0.2em 1em }} \
             dd {{ margin: 0 }} .wide {{ overflow-x: auto }}</style>\n</head>\n\
             <body>\n<h1>{event}</h1>\n<div class=\"wide\"><table>\n"
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
        page.push_str("</table></div>\n");
        if !self.rounds.is_empty() {
            page.push_str("<h2>Rounds</h2>\n<ul>\n");
            for line in self.lines() {
                let _ = writeln!(page, "<li>{}</li>", escaped(&line));
            }
            page.push_str("</ul>\n");
        }
        let _ = write!(
            page,
            "<p>{} Elo is relative to the first engine of the command, with the 95 % interval. The columns with \
             numbers are the points of all games against each row.</p>\n<h2>Terms</h2>\n<dl>\n",
            self.scoring()
        );
        for (name, value) in facts {
            let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
        }
        page.push_str("</dl>\n</body>\n</html>\n");
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
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
