//! `chuhe-coordinator watch`: prints a campaign's progress, line by line.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

use anyhow::Result;
use coordinator_core::{
    clock::{Clock, SECOND, Time},
    gate::Verdict,
    model::{CampaignKey, CampaignState, CampaignStep},
    query, reports,
    store::Database,
};
use serde_json::Value;
use stats::{Decision, EloEstimate, Rounded};
use xiangqi::text::counted;

/// Polling interval of the database.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Name of the campaign
    name: String,
    /// End after so many promotions since the campaign began [default: never]
    #[arg(long, value_name = "N")]
    until_promotions: Option<u64>,
    /// Seconds between two lines of progress; steps are printed at once
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    every: u32,
}

/// Prints a campaign's progress until it reaches its target. Returns 1 if it needs a person first.
pub(super) async fn run(store: &Database, clock: &Clock, arguments: &Arguments) -> Result<ExitCode> {
    let mut printer = ProgressPrinter::default();
    loop {
        let name = CampaignKey::from(arguments.name.clone());
        let report = store.read(query!(|connection| Ok(reports::campaign(&mut connection, &name).await?.1)));
        let report = report.await?;
        printer.print(clock.now(), &report, i64::from(arguments.every) * SECOND);
        if arguments.until_promotions.is_some_and(|wanted| number(&report, "/promotions") >= wanted) {
            return Ok(ExitCode::SUCCESS);
        }
        let reason = report["reason"].as_str().unwrap_or("no reason is given");
        match serde_json::from_value::<CampaignState>(report["state"].clone())? {
            CampaignState::Complete if arguments.until_promotions.is_none() => return Ok(ExitCode::SUCCESS),
            CampaignState::Stuck => return Ok(stopped_short(&arguments.name, "waits for a person", reason)),
            CampaignState::Stopped | CampaignState::Complete => {
                return Ok(stopped_short(&arguments.name, "has ended", reason));
            }
            CampaignState::Running | CampaignState::Paused => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

#[allow(clippy::print_stderr, reason = "it is why the command fails")]
fn stopped_short(name: &str, state: &str, reason: &str) -> ExitCode {
    eprintln!("chuhe-coordinator: the campaign `{name}` {state}: {reason}");
    ExitCode::FAILURE
}

/// Prints a line. Its reader may be gone; the exit status is still of use.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn number(report: &Value, pointer: &str) -> u64 {
    report.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The last printed line, and its time.
#[derive(Default)]
struct ProgressPrinter {
    step: String,
    line: String,
    printed: Option<Time>,
    /// The last printed gate.
    decided: Option<u64>,
}

impl ProgressPrinter {
    fn print(&mut self, now: Time, report: &Value, pause: i64) {
        let step = format!("{}{}{}{}", report["state"], report["generation"], report["candidates"], report["phase"]);
        let line = line_of(report);
        let is_due = self.printed.is_none_or(|printed| now.0 - printed.0 >= pause);
        let decided = report.pointer("/decided/job").and_then(Value::as_u64);
        // A decision from before the first line is old news.
        if decided != self.decided
            && self.printed.is_some()
            && let Some(decision) = decision(&report["decided"])
        {
            say(&decision);
        }
        self.decided = decided;
        if step != self.step || (is_due && line != self.line) {
            say(&line);
            (self.step, self.line, self.printed) = (step, line, Some(now));
        }
    }
}

/// Describes a campaign's progress in one line.
fn line_of(report: &Value) -> String {
    let mut line = format!("generation {}: ", number(report, "/generation"));
    let selfplay = |line: &mut String| {
        let (games, positions) = (number(report, "/selfplay/games"), number(report, "/selfplay/positions"));
        let wanted = number(report, "/wanted_positions");
        let _ = write!(line, "{games} games that count, {positions} of {wanted} positions");
        playing(line, &report["selfplay"]["playing"]);
    };
    match serde_json::from_value(report["phase"].clone()) {
        Ok(CampaignStep::Training) => training(&mut line, report),
        Ok(CampaignStep::Gating) => gate(&mut line, report),
        Ok(CampaignStep::Collecting) | Err(_) => selfplay(&mut line),
    }
    if let Ok(state) = serde_json::from_value::<CampaignState>(report["state"].clone())
        && state != CampaignState::Running
    {
        let _ = write!(line, " ({state})");
    }
    line
}

fn training(line: &mut String, report: &Value) {
    let _ = write!(line, "candidate {} ", number(report, "/candidates") + 1);
    let steps = number(report, "/training/progress/steps");
    if steps == 0 {
        line.push_str(if report.pointer("/training/trainer").is_some_and(Value::is_string) {
            "is being prepared by a trainer"
        } else {
            "waits for a trainer"
        });
        return;
    }
    let _ = write!(line, "is in training, step {} of {steps}", number(report, "/training/progress/step"));
    if let Some(loss) = report.pointer("/training/progress/loss").and_then(Value::as_f64) {
        let _ = write!(line, ", loss {loss:.5}");
    }
}

fn gate(line: &mut String, report: &Value) {
    let verdict = &report["gate"]["standing"]["verdict"];
    let bound = |index: usize| verdict["bounds"][index].as_f64().unwrap_or_default();
    let _ = write!(
        line,
        "candidate {} has played {} against the champion; log-likelihood ratio {:.2} between {:.2} and {:.2}",
        number(report, "/candidates") + 1,
        counted(number(report, "/gate/standing/pairs") as usize, "pair"),
        verdict["llr"].as_f64().unwrap_or_default(),
        bound(0),
        bound(1)
    );
    playing(line, &report["gate"]["playing"]);
    if let Some(reason) = report["reason"].as_str() {
        let _ = write!(line, "; {reason}");
    }
}

/// Tells of the games being played, by the workers' heartbeats.
fn playing(line: &mut String, playing: &Value) {
    let (games, finished) = (number(playing, "/games"), number(playing, "/finished"));
    if games > 0 {
        let are = if games == 1 { "is" } else { "are" };
        let _ = write!(line, "; {} {are} being played", counted(games as usize, "game"));
    }
    if finished > 0 {
        let _ = write!(line, ", {finished} finished");
    }
}

/// Describes a gate's decision with its figures.
fn decision(decided: &Value) -> Option<String> {
    let verdict: Verdict = serde_json::from_value(decided["verdict"].clone()).ok()?;
    let name = decided["net_name"].as_str().unwrap_or("the candidate");
    let result = match verdict.decision {
        Decision::AcceptH1 => "is stronger",
        Decision::AcceptH0 => "is not stronger",
        Decision::Continue => "is undecided",
    };
    let elo: EloEstimate = serde_json::from_value(decided["elo"].clone()).ok()?;
    Some(format!(
        "{name} {result}: {} Elo [{}, {}] in {} pairs (from two losses to two wins {}), log-likelihood ratio {:.2} between \
         {:.2} and {:.2}",
        Rounded { number: elo.elo, places: 0 },
        Rounded { number: elo.elo_low, places: 0 },
        Rounded { number: elo.elo_high, places: 0 },
        verdict.pairs,
        verdict.counts.cells().map(|count| count.to_string()).join(", "),
        verdict.llr,
        verdict.bounds.0,
        verdict.bounds.1
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stats::Pentanomial;

    use super::*;

    #[test]
    fn every_phase_has_its_line() {
        let mut report = json!({
            "state": "running", "reason": null, "generation": 0, "candidates": 0, "phase": "collecting",
            "wanted_positions": 5000, "selfplay": { "games": 12, "positions": 1400 }, "training": null, "gate": null,
        });
        assert_eq!(line_of(&report), "generation 0: 12 games that count, 1400 of 5000 positions");
        report["selfplay"]["playing"] = json!({ "games": 40, "finished": 0 });
        let line = "generation 0: 12 games that count, 1400 of 5000 positions; 40 games are being played";
        assert_eq!(line_of(&report), line, "before the first heartbeat");
        report["selfplay"]["playing"] = json!({ "games": 40, "finished": 7 });
        let line = "generation 0: 12 games that count, 1400 of 5000 positions; 40 games are being played, 7 finished";
        assert_eq!(line_of(&report), line);
        report["selfplay"]["playing"] = json!({ "games": 1, "finished": 0 });
        assert!(line_of(&report).ends_with("; 1 game is being played"), "{}", line_of(&report));
        report["phase"] = json!("training");
        report["training"] = json!({ "trainer": null, "progress": null });
        assert_eq!(line_of(&report), "generation 0: candidate 1 waits for a trainer");
        report["training"] = json!({ "trainer": "a", "progress": { "step": 3, "steps": 9, "loss": 0.01 } });
        assert_eq!(line_of(&report), "generation 0: candidate 1 is in training, step 3 of 9, loss 0.01000");
        report["phase"] = json!("gating");
        report["state"] = json!("paused");
        report["gate"] = json!({ "standing": { "pairs": 7, "verdict": { "llr": 0.5, "bounds": [-2.9, 2.9] } } });
        let line = "generation 0: candidate 1 has played 7 pairs against the champion; \
                    log-likelihood ratio 0.50 between -2.90 and 2.90 (paused)";
        assert_eq!(line_of(&report), line);
    }

    #[test]
    fn a_decision_is_printed_with_its_figures() {
        let verdict = Verdict {
            pairs: 100,
            counts: Pentanomial::new([10, 20, 40, 20, 10]),
            llr: -2.96,
            bounds: (-2.94, 2.94),
            decision: Decision::AcceptH0,
        };
        let elo = EloEstimate { elo: 0.4, elo_low: -36.6, elo_high: 37.2, los: 0.5 };
        let decided = json!({ "job": 3, "net_name": "loop-1-1", "verdict": verdict, "elo": elo });
        let line = "loop-1-1 is not stronger: 0 Elo [-37, 37] in 100 pairs (from two losses to two wins 10, 20, 40, 20, 10), \
                    log-likelihood ratio -2.96 between -2.94 and 2.94";
        assert_eq!(decision(&decided).as_deref(), Some(line));
        let open = Verdict { llr: 0.5, decision: Decision::Continue, ..verdict };
        let decided = json!({ "job": 4, "net_name": "loop-1-2", "verdict": open, "elo": elo });
        assert!(decision(&decided).unwrap().starts_with("loop-1-2 is undecided: 0 Elo "), "a gate without a verdict");
        assert_eq!(decision(&Value::Null), None);
    }

    #[test]
    fn steps_are_printed_at_once_and_progress_at_intervals() {
        let report = |positions: u64| json!({ "state": "running", "generation": 0, "phase": "collecting", "selfplay": { "positions": positions } });
        let mut printer = ProgressPrinter::default();
        printer.print(Time(0), &report(1), 10);
        printer.print(Time(5), &report(2), 10);
        assert!(printer.line.contains(" 1 of "), "{}", printer.line);
        printer.print(Time(10), &report(3), 10);
        assert!(printer.line.contains(" 3 of "), "{}", printer.line);
        let mut next = report(3);
        next["phase"] = json!("training");
        printer.print(Time(11), &next, 10);
        assert!(printer.line.contains("waits for a trainer"), "{}", printer.line);
    }
}
