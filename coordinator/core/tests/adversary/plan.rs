//! A simulation to run: a fleet, and the habits of the owner who cheats.

/// The use of a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Leased {
    /// It plays or forges their games.
    #[default]
    Delivered,
    /// It lets them lapse.
    Held,
    /// It gives them back after a minute.
    Returned,
    /// It lets them lapse, and then uploads other games than those that others played meanwhile.
    Late,
    /// It uploads what does not replay.
    Rubbish,
}

/// How the accounts of one owner act.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a habit that a strategy has or lacks")]
pub(crate) struct Strategy {
    /// Its name.
    pub(crate) name: &'static str,
    /// The share of its self-play leases that it forges, in thousandths.
    pub(crate) lies: u64,
    /// The share of a forged lease's games that are forged, in thousandths. At least one is.
    pub(crate) part: u64,
    /// The share of its leases in gates that it forges, in thousandths.
    pub(crate) gate_lies: u64,
    /// Games that others verify before it lies.
    pub(crate) honest_games: i64,
    /// Leases that it asks for in a round: forged games cost no time.
    pub(crate) leases: usize,
    /// The use of its leases.
    pub(crate) leased: Leased,
    /// Whether it lets audits lapse, instead of confirming its own accounts.
    pub(crate) drops_audits: bool,
    /// The share of the games of others' audits that it makes up, in thousandths. It plays none if
    /// that is all.
    pub(crate) made_up: i64,
    /// Whether a half of its accounts ask for audits alone, without pause.
    pub(crate) polls: bool,
    /// Whether a new account follows each that is quarantined.
    pub(crate) returns: bool,
}

/// A fleet to simulate.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Accounts of honest volunteers.
    pub(crate) honest: usize,
    /// Accounts of the owner at the same time.
    pub(crate) cheats: usize,
    /// The owner's strategy.
    pub(crate) strategy: Strategy,
    /// Rounds of a minute.
    pub(crate) rounds: i64,
    /// Rounds in which the honest accounts play the games of a training set. A gate follows it.
    pub(crate) generation: i64,
    /// Cores of the referee.
    pub(crate) referee: i64,
    /// Cores of each machine.
    pub(crate) cores: i64,
    /// The seed.
    pub(crate) seed: u64,
}
