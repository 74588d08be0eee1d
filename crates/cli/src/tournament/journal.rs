//! The record of a tournament: an append-only file of JSON lines.
//!
//! The first line describes the tournament. Each further one is a finished pair. A line without its
//! end was cut by a kill; it does not count, and is removed.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use dataset::Digest;
use selfplay::{Ending, PlayedGame};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stats::{
    GameResult,
    tournament::{Game, Pairing},
};

use super::{
    crosstable::results,
    encounter::{Encounter, Stage},
    schedule::{Kind, Schedule},
};

/// A game of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedGame {
    pub(super) pairing: Pairing,
    /// The result for Red.
    pub(super) red: GameResult,
    /// Whether the loser lost by a fault.
    pub(super) foul: bool,
    /// The end, as in the PGN file.
    pub(super) reason: String,
    plies: usize,
}

impl RecordedGame {
    fn new(pairing: Pairing, played: &PlayedGame) -> Self {
        let red = match played.ending.outcome().loser() {
            None => GameResult::Draw,
            Some(xiangqi::Color::Red) => GameResult::Loss,
            Some(xiangqi::Color::Black) => GameResult::Win,
        };
        let foul = matches!(played.ending, Ending::Fault(..));
        Self { pairing, red, foul, reason: played.ending.reason().to_owned(), plies: played.game.len() }
    }

    pub(super) const fn result(&self) -> Game {
        Game { pairing: self.pairing, red: self.red, foul: self.foul }
    }
}

/// A pair of the record, or a decider, which is one game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedPair {
    /// The round, from 1.
    round: usize,
    /// The number in its encounter, from 1.
    pub(super) pair: u64,
    pub(super) games: Vec<RecordedGame>,
    /// The length and the digest of its games in the PGN file; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pgn: Option<(u64, Digest)>,
}

impl RecordedPair {
    /// Describes the games of a pair, with its number from 0; `pairing` is that of the first.
    pub(super) fn new(round: usize, pairing: Pairing, number: u64, games: &[PlayedGame], pgn: Option<&str>) -> Self {
        let swapped = Pairing { red: pairing.black, black: pairing.red };
        let games = games.iter().zip([pairing, swapped]).map(|(game, pairing)| RecordedGame::new(pairing, game));
        let pgn = pgn.map(|text| (text.len() as u64, Digest::of(text.as_bytes())));
        Self { round: round + 1, pair: number + 1, games: games.collect(), pgn }
    }

    /// Whether it belongs to this encounter; rounds from 0.
    pub(super) fn is_of(&self, round: usize, pairing: Pairing) -> bool {
        self.round == round + 1 && self.games.first().is_some_and(|game| game.pairing == pairing)
    }
}

/// Only the games of one pair may be written and not yet recorded.
const GAMES_OF_A_PAIR: usize = 2;

/// The record, in memory and in its file.
pub(super) struct Journal {
    file: Option<File>,
    /// Whether the file holds nothing yet.
    is_new: bool,
    /// The first line: that of the record, if there is one.
    pub(super) header: Value,
    pub(super) pairs: Vec<RecordedPair>,
}

impl Journal {
    /// Opens the file of a tournament; [`begin`](Self::begin) writes a new one. Without a path
    /// nothing is kept.
    pub(super) fn open(path: Option<&Path>, header: &Value) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self { file: None, is_new: true, header: header.clone(), pairs: Vec::new() });
        };
        let place = || path.display().to_string();
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.as_mut().map_err(|error| anyhow::anyhow!("{error}")).with_context(place)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{}: another process plays this tournament", path.display()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(place),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(place)?;
        let (found, pairs) = read(&text, header).with_context(place)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1) as u64;
        // Only a kill in its first write leaves a record without a whole line.
        if whole == 0 && !header.to_string().starts_with(&text) {
            bail!("{}: it is no record of a tournament", path.display());
        }
        file.set_len(whole).with_context(place)?;
        file.seek(SeekFrom::Start(whole)).with_context(place)?;
        Ok(Self { file: Some(file.try_clone().with_context(place)?), is_new: whole == 0, header: found, pairs })
    }

    /// Writes the first line of a new record. The tournament's other files are open by now: what
    /// they hold later is its own.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.is_new {
            self.write(&self.header.clone())?;
        }
        Ok(())
    }

    /// Opens the PGN file, cut after the last recorded game. Only a resumed tournament finds one,
    /// and only one that begins with its recorded games. Games begin with `start`.
    pub(super) fn open_pgn(&self, path: &Path, start: &str) -> Result<File> {
        let place = || path.display().to_string();
        if self.file.is_none() {
            return File::create_new(path).with_context(place);
        }
        let games: Vec<_> = self.pairs.iter().filter_map(|pair| pair.pgn).collect();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(games.is_empty()).truncate(false);
        let mut file = options.open(path).with_context(place)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(place)?;
        let mut recorded = 0;
        for (length, digest) in games {
            let end = recorded + length as usize;
            if bytes.get(recorded..end).map(Digest::of) != Some(digest) {
                bail!("{}: it does not hold the games of the record", path.display());
            }
            recorded = end;
        }
        // A kill may have cut the first game that was written, before it was recorded.
        let begins_alike = bytes.iter().zip(start.as_bytes()).all(|(found, expected)| found == expected);
        let games = bytes.windows(start.len()).filter(|found| *found == start.as_bytes()).count();
        let is_cut = !self.is_new && begins_alike && games <= GAMES_OF_A_PAIR;
        if recorded == 0 && !bytes.is_empty() && !is_cut {
            bail!("{}: it is not empty, but the record has no games in PGN", path.display());
        }
        file.set_len(recorded as u64).with_context(place)?;
        file.seek(SeekFrom::End(0)).with_context(place)?;
        Ok(file)
    }

    /// Checks that each pair is of an encounter of this schedule, which has `pairs`.
    pub(super) fn check(&self, schedule: Schedule, pairs: u64) -> Result<()> {
        let mut rounds: Vec<Vec<Encounter>> = Vec::new();
        let mut found = Vec::new();
        loop {
            let round = rounds.len();
            let pairings = schedule.next_round(&results(&rounds));
            found.extend(pairings.iter().map(|pairing| (round, *pairing)));
            let played = pairings.iter().map(|pairing| Encounter::new(round, *pairing, pairs, &self.pairs));
            let played: Vec<_> = played.collect();
            let is_over = |encounter: &Encounter| {
                let count = self.pairs_of(round, encounter.pairing);
                let may_go_on = schedule.kind == Kind::Knockout && encounter.is_tied();
                count >= if may_go_on { Stage::Decider.pairs(pairs) } else { pairs }
            };
            if played.is_empty() || !played.iter().all(is_over) {
                break;
            }
            rounds.push(played);
        }
        let max = if schedule.kind == Kind::Knockout { Stage::Decider.pairs(pairs) } else { pairs };
        let is_foreign =
            |pair: &RecordedPair| pair.pair > max || !found.iter().any(|&(round, pairing)| pair.is_of(round, pairing));
        match self.pairs.iter().position(is_foreign) {
            None => Ok(()),
            Some(index) => bail!("line {}: no encounter of this tournament has this pair", index + 2),
        }
    }

    /// The number of finished pairs of an encounter.
    pub(super) fn pairs_of(&self, round: usize, pairing: Pairing) -> u64 {
        self.pairs.iter().filter(|pair| pair.is_of(round, pairing)).count() as u64
    }

    pub(super) fn push(&mut self, pair: RecordedPair) -> Result<()> {
        self.write(&pair)?;
        self.pairs.push(pair);
        Ok(())
    }

    /// Appends a line in one write, and syncs it.
    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(line)?;
            line.push(b'\n');
            file.write_all(&line)?;
            file.sync_data()?;
        }
        Ok(())
    }
}

/// Reads the header and the pairs of a record of the tournament with this header; an empty record
/// has no pairs.
fn read(text: &str, header: &Value) -> Result<(Value, Vec<RecordedPair>)> {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let players = header["engines"].as_array().map_or(0, Vec::len);
    let mut pairs = Vec::new();
    let mut first = header.clone();
    for (number, line) in whole.lines().enumerate() {
        let place = || format!("line {}", number + 1);
        if number == 0 {
            let found: Value = serde_json::from_str(line).with_context(place)?;
            compare(&found, header)?;
            first = found;
            continue;
        }
        let pair: RecordedPair = serde_json::from_str(line).with_context(place)?;
        if pair.games.iter().any(|game| game.pairing.red.max(game.pairing.black) >= players) {
            bail!("line {}: there are {players} engines, numbered from 0", number + 1);
        }
        if !(1..=2).contains(&pair.games.len()) {
            bail!("line {}: it has {} games, not one or two", number + 1, pair.games.len());
        }
        let is_of_same = |one: &&RecordedPair| one.round == pair.round && one.games[0].pairing == pair.games[0].pairing;
        let before = pairs.iter().filter(is_of_same).count() as u64;
        if pair.pair != before + 1 {
            bail!("line {}: pair {} of its encounter stands where pair {} belongs", number + 1, pair.pair, before + 1);
        }
        pairs.push(pair);
    }
    Ok((first, pairs))
}

/// Checks that a record is of this tournament, and names the first difference. It may have begun on
/// another day.
fn compare(found: &Value, header: &Value) -> Result<()> {
    let names = [header, found].into_iter().filter_map(Value::as_object).flat_map(|fields| fields.keys());
    for name in names {
        if name != "date" && found[name] != header[name] {
            bail!("the record is of another tournament: its {name} is {}, here it is {}", found[name], header[name]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_is_cut_at_its_last_whole_line_and_refused_if_it_is_another() {
        let header = json!({ "chuhe_tournament": 1, "engines": ["a", "b"], "pairs": 3 });
        let game = |red, black| {
            let pairing = Pairing { red, black };
            RecordedGame { pairing, red: GameResult::Win, foul: false, reason: "checkmate".to_owned(), plies: 50 }
        };
        let pair = |number| RecordedPair { round: 1, pair: number, games: vec![game(0, 1), game(1, 0)], pgn: None };
        let line = |value: &RecordedPair| serde_json::to_string(value).unwrap();
        let text = format!("{header}\n{}\n{}\n", line(&pair(1)), line(&pair(2)));
        for end in 0..=text.len() {
            let lines = text[..end].matches('\n').count();
            let expected: Vec<_> = [pair(1), pair(2)].into_iter().take(lines.saturating_sub(1)).collect();
            assert_eq!(read(&text[..end], &header).unwrap(), (header.clone(), expected), "{end}");
        }
        let error = |text: &str, header: &Value| format!("{:#}", read(text, header).unwrap_err());
        let other = json!({ "chuhe_tournament": 1, "engines": ["a", "b"], "pairs": 4 });
        assert_eq!(error(&text, &other), "the record is of another tournament: its pairs is 3, here it is 4");
        assert!(error(&format!("{header}\nx\n"), &header).starts_with("line 2: expected value"));
        let doubled = format!("{text}{}\n", line(&pair(2)));
        assert_eq!(error(&doubled, &header), "line 4: pair 2 of its encounter stands where pair 3 belongs");
        let mut today = header.clone();
        today["date"] = json!("2026.01.02");
        assert_eq!(read(&text, &today).unwrap().0, header, "it began on another day");
        let mut odds = header.clone();
        odds["decider"] = json!(true);
        let text_with_odds = text.replace(&header.to_string(), &odds.to_string());
        let expected = "the record is of another tournament: its decider is true, here it is null";
        assert_eq!(error(&text_with_odds, &header), expected);
        let one = json!({ "chuhe_tournament": 1, "engines": ["a"], "pairs": 3 });
        assert_eq!(error(&text.replace("\"a\",\"b\"", "\"a\""), &one), "line 2: there are 1 engines, numbered from 0");
    }

    #[test]
    fn other_files_are_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let (record, pgn) = (folder.path().join("record"), folder.path().join("games.pgn"));
        let header = json!({ "chuhe_tournament": 1, "engines": ["a", "b"] });
        let error = |result: Result<Journal>| format!("{:#}", result.err().expect("it is refused"));

        fs::write(&record, "a note without a line's end").unwrap();
        assert!(error(Journal::open(Some(&record), &header)).ends_with("it is no record of a tournament"));
        assert_eq!(fs::read_to_string(&record).unwrap(), "a note without a line's end");
        fs::write(&record, &header.to_string()[..9]).unwrap();

        fs::write(&pgn, "precious").unwrap();
        let start = "[Event \"x\"]";
        let mut journal = Journal::open(Some(&record), &header).unwrap();
        assert!(journal.open_pgn(&pgn, start).is_err(), "the tournament is new");
        fs::write(&pgn, "[Event \"x\"]\n1. h2e2 *\n").unwrap();
        assert!(journal.open_pgn(&pgn, start).is_err(), "even if its event has this name");
        assert_eq!(fs::read_to_string(&record).unwrap(), "", "the next start finds a new one again");
        journal.begin().unwrap();
        drop(journal);

        let mut journal = Journal::open(Some(&record), &header).unwrap();
        assert!(error(Journal::open(Some(&record), &header)).ends_with("another process plays this tournament"));
        fs::write(&pgn, "precious").unwrap();
        assert!(journal.open_pgn(&pgn, start).is_err());
        for cut in ["[Ev", "[Event \"x\"]\n1. h2"] {
            fs::write(&pgn, cut).unwrap();
            assert!(journal.open_pgn(&pgn, start).is_ok(), "a kill cut the first game");
            assert_eq!(fs::read_to_string(&pgn).unwrap(), "");
        }
        fs::write(&pgn, format!("{start}\n").repeat(3)).unwrap();
        assert!(journal.open_pgn(&pgn, start).is_err(), "more than a pair is of another tournament");
        let pairing = Pairing { red: 0, black: 1 };
        journal.push(RecordedPair::new(0, pairing, 0, &[], Some("game 1\n"))).unwrap();
        journal.push(RecordedPair::new(0, pairing, 1, &[], Some("game 2\n"))).unwrap();
        fs::remove_file(&pgn).unwrap();
        assert!(journal.open_pgn(&pgn, start).is_err());
        assert!(!pgn.exists(), "no empty file is left");
        for (found, kept) in [
            ("game 1\ngame 2\nhalf a ga", Some("game 1\ngame 2\n")),
            ("game 1\ngame 2\n", Some("game 1\ngame 2\n")),
            ("game 1\ngame", None),
            ("precious games of another tournament", None),
            ("", None),
        ] {
            fs::write(&pgn, found).unwrap();
            assert_eq!(journal.open_pgn(&pgn, start).is_ok(), kept.is_some(), "{found}");
            assert_eq!(fs::read_to_string(&pgn).unwrap(), kept.unwrap_or(found));
        }
    }
}
