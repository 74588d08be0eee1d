//! Certificates: rulings on a submitted game, or on one that was submitted in two versions.
//!
//! A game is a function of its header and its number. So a referee plays it, and knows which
//! version is right. The certificate names the first step in which the versions differ, with both
//! claims and the right step. A single version is compared with the game as it is played. Anyone
//! with the nets plays the game again and verifies it.

use dataset::{Digest, Header, Record};
use serde::{Deserialize, Serialize};

use crate::{
    openings::NoOpening,
    selfplay::{Players, Run},
};

/// A ruling on a game of one shard or two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The header of the games. Its first game is of no account.
    pub header: Header,
    /// The number of the game.
    pub game: u64,
    /// The number of the first step in which the versions differ. Step 0 is the opening. Each move
    /// of the search is a step, and so is the end.
    pub step: u64,
    /// The shards.
    pub shards: Vec<Digest>,
    /// This step in each shard.
    pub claims: Vec<String>,
    /// The right step.
    pub right: String,
}

/// Why a certificate is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Forgery {
    #[error("none of its claims is wrong")]
    NoDispute,
    #[error("game {game} has {steps} steps, none with the number {step}")]
    NoStep { game: u64, step: u64, steps: usize },
    #[error("step {step} of game {game} is `{found}`, not `{right}`")]
    Wrong { game: u64, step: u64, right: String, found: String },
    #[error("shard {shard} has `{found}` as step {step} of game {game}, not `{claim}`")]
    WrongClaim { shard: Digest, game: u64, step: u64, claim: String, found: String },
    #[error("it is about other shards than {shard}")]
    OtherShard { shard: Digest },
    #[error(transparent)]
    NoOpening(#[from] NoOpening),
}

/// The steps of a game, as text: its opening, its moves with their scores, and its end.
fn steps(record: &Record) -> Vec<String> {
    let opening = &record.opening;
    let moves: Vec<String> = opening.moves.iter().map(ToString::to_string).collect();
    let first = format!(
        "opening, rules {}, seed {}, attempt {}, {} moves {}",
        opening.rules,
        opening.seed,
        opening.attempt,
        opening.start,
        moves.join(" ")
    );
    let moves = record.moves.iter().map(|scored| {
        let score = scored.score.map_or_else(|| "no score".to_owned(), |score| format!("score {score}"));
        format!("{} {score}", scored.mv)
    });
    let end = format!("end, {}, {}", record.outcome, record.reason);
    std::iter::once(first).chain(moves).chain([end]).collect()
}

impl Certificate {
    /// Plays a game, and rules on its two versions; none if they are equal.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    pub fn rule(
        run: &Run,
        players: &mut Players,
        game: u64,
        shards: [Digest; 2],
        versions: [&Record; 2],
    ) -> Result<Option<Self>, NoOpening> {
        let [left, right] = versions.map(steps);
        let differs = left.iter().zip(&right).position(|(left, right)| left != right);
        let Some(step) = differs else { return Ok(None) };
        let played = steps(&run.game(players, game)?.record);
        // The versions agree so far. Where both are wrong earlier, both claims are wrong here too.
        let wrong_before = played.iter().zip(&left).take(step).position(|(played, left)| played != left);
        let step_of = |steps: &[String], at: usize| steps.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
        let at = wrong_before.unwrap_or(step);
        let claims = [step_of(&left, at), step_of(&right, at)];
        Ok(Some(Self {
            header: run.header(),
            game,
            step: at as u64,
            shards: shards.into(),
            claims: claims.into(),
            right: step_of(&played, at),
        }))
    }

    /// Plays a game, and rules on its only version; none if that is right.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    pub fn check(
        run: &Run,
        players: &mut Players,
        game: u64,
        shard: Digest,
        version: &Record,
    ) -> Result<Option<Self>, NoOpening> {
        let played = run.game(players, game)?.record;
        let (claimed, right) = (steps(version), steps(&played));
        let differs = claimed.iter().zip(&right).position(|(claimed, right)| claimed != right);
        Ok(differs.map(|at| Self {
            header: run.header(),
            game,
            step: at as u64,
            shards: vec![shard],
            claims: vec![claimed[at].clone()],
            right: right[at].clone(),
        }))
    }

    /// Whether each claim is right. All may be wrong.
    pub fn verdict(&self) -> impl Iterator<Item = bool> {
        self.claims.iter().map(|claim| *claim == self.right)
    }

    /// Verifies the ruling by playing the game, with a run of its header.
    ///
    /// # Errors
    ///
    /// If the game goes otherwise, or no claim is wrong.
    pub fn verify(&self, run: &Run, players: &mut Players) -> Result<(), Forgery> {
        let (game, step) = (self.game, self.step);
        if self.verdict().all(|is_right| is_right) {
            return Err(Forgery::NoDispute);
        }
        let played = steps(&run.game(players, game)?.record);
        match played.get(step as usize) {
            None => Err(Forgery::NoStep { game, step, steps: played.len() }),
            Some(found) if *found == self.right => Ok(()),
            Some(found) => Err(Forgery::Wrong { game, step, right: self.right.clone(), found: found.clone() }),
        }
    }

    /// Verifies a claim by the game of its shard.
    ///
    /// # Errors
    ///
    /// If the shard claims another step, or the ruling is about others.
    pub fn verify_claim(&self, shard: Digest, record: &Record) -> Result<(), Forgery> {
        let mut sides = self.shards.iter().zip(&self.claims);
        let (_, claim) = sides.find(|(own, _)| **own == shard).ok_or(Forgery::OtherShard { shard })?;
        let found = steps(record).into_iter().nth(self.step as usize).unwrap_or_else(|| "nothing".to_owned());
        if found == *claim {
            return Ok(());
        }
        let (game, step, claim) = (self.game, self.step, claim.clone());
        Err(Forgery::WrongClaim { shard, game, step, claim, found })
    }
}

#[cfg(test)]
mod tests {
    use dataset::{Adjudication, GameSettings};
    use engine::{Evaluation, Parameters, published};
    use nnue::Kernel;
    use xiangqi::rules::{Outcome, RuleSet};

    use super::*;
    use crate::openings::Openings;

    fn run() -> Run {
        let adjudication = Adjudication::default();
        Run {
            evaluation: Evaluation::Plain,
            parameters: Parameters::default(),
            opponent: None,
            timed: None,
            settings: GameSettings { hash_mebibytes: 1, soft_nodes: None, hard_nodes: 300, adjudication, ply_cap: 60 },
            openings: Openings { rules: RuleSet::Cxr, book: None, plies: 6, filter: None },
            seed: 11,
            first: 0,
            games: 8,
            threads: 1,
        }
    }

    fn shards() -> [Digest; 2] {
        [Digest::of(b"left"), Digest::of(b"right")]
    }

    fn verdict(certificate: &Certificate) -> Vec<bool> {
        certificate.verdict().collect()
    }

    fn rule(right: &Record, forged: &Record) -> Certificate {
        let run = run();
        Certificate::rule(&run, &mut run.players(), 3, shards(), [right, forged]).unwrap().unwrap()
    }

    #[test]
    fn each_kind_of_lie_is_found_and_certified() {
        let run = run();
        let right = run.game(&mut run.players(), 3).unwrap().record;
        let moves = right.moves.len() as u64;
        let forge = |change: &dyn Fn(&mut Record)| {
            let mut forged = right.clone();
            change(&mut forged);
            forged
        };
        let lies: [(u64, Record); 6] = [
            (5, forge(&|game| game.moves[4].score = Some(77))),
            (9, forge(&|game| game.moves[8].mv = game.moves[7].mv)),
            (0, forge(&|game| game.opening.attempt += 1)),
            (moves + 1, forge(&|game| game.outcome = Outcome::BlackWins)),
            (moves, forge(&|game| game.moves.truncate(game.moves.len() - 1))),
            (1, forge(&|game| game.moves.clear())),
        ];
        for (step, forged) in &lies {
            let certificate = rule(&right, forged);
            assert_eq!((certificate.step, verdict(&certificate)), (*step, vec![true, false]), "{certificate:?}");
            assert_eq!(verdict(&rule(forged, &right)), [false, true]);
            assert_eq!(certificate.verify(&run, &mut run.players()), Ok(()));
            let [left, other] = shards();
            assert_eq!(certificate.verify_claim(left, &right), Ok(()));
            assert_eq!(certificate.verify_claim(other, forged), Ok(()));
            assert!(
                certificate.verify_claim(other, &right).is_err() && certificate.verify_claim(left, forged).is_err()
            );
            let text = serde_json::to_string(&certificate).unwrap();
            assert!(text.len() < 2_000, "{text}");
            assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), certificate);
        }
        let equal = Certificate::rule(&run, &mut run.players(), 3, shards(), [&right, &right]).unwrap();
        assert_eq!(equal, None);
        let check = |version| Certificate::check(&run, &mut run.players(), 3, shards()[0], version).unwrap();
        assert_eq!(check(&right), None);
        for (step, forged) in &lies {
            let certificate = check(forged).unwrap();
            assert_eq!((certificate.step, verdict(&certificate)), (*step, vec![false]), "{certificate:?}");
            assert_eq!(certificate.verify(&run, &mut run.players()), Ok(()));
            assert_eq!(certificate.verify_claim(shards()[0], forged), Ok(()));
        }
    }

    #[test]
    fn a_ruling_is_the_same_on_every_instruction_set() {
        let by = |kernel| Run { evaluation: published::evaluation(kernel), ..run() };
        let one = by(Kernel::SCALAR);
        let right = one.game(&mut one.players(), 3).unwrap().record;
        let mut forged = right.clone();
        forged.moves[4].score = Some(77);
        let ruling = Certificate::rule(&one, &mut one.players(), 3, shards(), [&right, &forged]).unwrap().unwrap();
        assert_eq!(verdict(&ruling), [true, false]);
        for kernel in Kernel::available() {
            let other = by(kernel);
            assert_eq!(ruling.verify(&other, &mut other.players()), Ok(()), "{}", kernel.name());
            let again = Certificate::rule(&other, &mut other.players(), 3, shards(), [&right, &forged]).unwrap();
            assert_eq!(again.as_ref(), Some(&ruling), "{}", kernel.name());
        }
    }

    #[test]
    fn where_both_lie_alike_first_both_are_wrong() {
        let right = run().game(&mut run().players(), 3).unwrap().record;
        let (mut left, mut other) = (right.clone(), right);
        (left.moves[2].score, other.moves[2].score) = (Some(900), Some(900));
        other.moves[6].score = Some(901);
        let certificate = rule(&left, &other);
        assert_eq!((certificate.step, verdict(&certificate)), (3, vec![false, false]));
        assert_eq!(certificate.verify(&run(), &mut run().players()), Ok(()));
    }

    #[test]
    fn a_forged_certificate_is_refused() {
        let right = run().game(&mut run().players(), 3).unwrap().record;
        let mut forged = right.clone();
        forged.moves[4].score = Some(77);
        let certificate = rule(&right, &forged);
        let check = |certificate: &Certificate| certificate.verify(&run(), &mut run().players()).unwrap_err();
        let swapped = Certificate { right: certificate.claims[1].clone(), ..certificate.clone() };
        assert!(check(&swapped).to_string().starts_with("step 5 of game 3 is `"), "{}", check(&swapped));
        let other_game = Certificate { game: 4, ..certificate.clone() };
        assert!(matches!(check(&other_game), Forgery::Wrong { game: 4, .. }));
        let beyond = Certificate { step: 1_000, ..certificate.clone() };
        assert!(matches!(check(&beyond), Forgery::NoStep { step: 1_000, .. }));
        let same =
            Certificate { claims: vec![certificate.right.clone(), certificate.right.clone()], ..certificate.clone() };
        assert_eq!(check(&same), Forgery::NoDispute);
        let other = certificate.verify_claim(Digest::of(b"other"), &right).unwrap_err();
        assert!(matches!(other, Forgery::OtherShard { .. }));
    }
}
