//! The rules of the ledger: pure functions of what is given, tested without a database.

mod accounts;
pub mod audits;
pub mod campaigns;
pub mod case;
pub mod counting;
pub mod deliveries;
#[cfg(test)]
mod drawings;
#[cfg(test)]
mod fixtures;
pub mod granting;
pub mod leases;
pub mod nets;
pub mod readiness;
pub mod segments;
mod shards;
pub mod sizing;
pub mod standing;
pub mod trainings;
mod validation;

pub use validation::Credit;

#[cfg(test)]
mod tests {
    use super::{campaigns, trainings};
    use crate::model::NetState;

    const ARCHITECTURE: &str = include_str!("../../../docs/ARCHITECTURE.md");

    /// The rows of the table with this heading.
    fn table(heading: &str) -> Vec<[String; 3]> {
        let (_, table) = ARCHITECTURE.split_once(heading).expect("the document has the table");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        rows.map(|row| cells(row).try_into().expect("three columns")).collect()
    }

    #[test]
    fn the_document_shows_the_transitions() {
        let row = |from: &str, by: &str, to: &str| [from.to_owned(), by.to_owned(), to.to_owned()];
        let steps = campaigns::STEPS.iter().map(|(from, by, to)| row(from.name(), by, to.name()));
        assert_eq!(table("| campaign step | ends by | next |"), steps.collect::<Vec<_>>());
        let trainings = trainings::TRANSITIONS.iter().map(|(from, by, to)| row(from.name(), by, to.name()));
        assert_eq!(table("| training | event | next |"), trainings.collect::<Vec<_>>());
        let nets = NetState::TRANSITIONS.iter().map(|(from, by, to)| row(from.name(), &format!("{by:?}"), to.name()));
        assert_eq!(table("| net | event | next |"), nets.collect::<Vec<_>>());
    }
}
