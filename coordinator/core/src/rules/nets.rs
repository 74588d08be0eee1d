//! Nets, from the training to the promotion.

use NetEvent::{Proven, Rejected, Reversed, RolledBack, Trained, Unproven};
use nnue::architecture::{Inputs, Sizes};

use crate::model::NetState;

/// An event in the life of a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetEvent {
    /// A training delivered it.
    Trained,
    /// Its campaign promoted it.
    Promoted,
    /// Its campaign gave it up.
    Rejected,
    /// After a quarantine the gate that rejected it proves it.
    Reversed,
    /// After a quarantine its gate does not prove it.
    Unproven,
    /// Its gate proves it again.
    Proven,
    /// Its promotion was taken back.
    RolledBack,
}

impl NetState {
    /// Its transitions. Other events leave a net as it is.
    pub const TRANSITIONS: &'static [(Self, NetEvent, Self)] = &[
        (Self::Candidate, Trained, Self::Candidate),
        (Self::Rejected, Trained, Self::Candidate),
        (Self::Candidate, NetEvent::Promoted, Self::Promoted),
        // Of another campaign with the same candidate.
        (Self::Rejected, NetEvent::Promoted, Self::Promoted),
        (Self::Disputed, NetEvent::Promoted, Self::Promoted),
        (Self::RolledBack, NetEvent::Promoted, Self::Promoted),
        (Self::Candidate, Rejected, Self::Rejected),
        (Self::Rejected, Reversed, Self::Candidate),
        (Self::Promoted, Unproven, Self::Disputed),
        (Self::Disputed, Proven, Self::Promoted),
        (Self::Promoted, RolledBack, Self::RolledBack),
        (Self::Disputed, RolledBack, Self::RolledBack),
    ];

    /// The state after an event; none if nothing changes.
    #[must_use]
    pub fn after(self, event: NetEvent) -> Option<Self> {
        Self::TRANSITIONS.iter().find(|(from, by, _)| (*from, *by) == (self, event)).map(|(.., to)| *to)
    }
}

/// Describes an architecture in one line; nets with the same line are equally fast.
#[must_use]
pub fn architecture_line(sizes: Sizes) -> String {
    let inputs = match sizes.inputs() {
        Inputs::Kings => "",
        Inputs::KingsAttackers => "kings and attackers, ",
    };
    let (width, first, second, stacks) = (sizes.width(), sizes.first(), sizes.second(), sizes.stacks());
    format!("{inputs}{width}×2, {first}, {second}, {stacks} stacks")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [NetEvent; 7] = [Trained, NetEvent::Promoted, Rejected, Reversed, Unproven, Proven, RolledBack];

    #[test]
    fn a_given_net_is_no_candidate() {
        for event in EVENTS {
            assert_eq!(NetState::Base.after(event), None, "{event:?}");
        }
    }

    #[test]
    fn only_a_promoted_net_can_be_disputed_or_rolled_back() {
        for &state in NetState::ALL {
            let disputed = state.after(Unproven) == Some(NetState::Disputed);
            assert_eq!(disputed, state == NetState::Promoted, "{state}");
            let rolled_back = state.after(RolledBack) == Some(NetState::RolledBack);
            assert_eq!(rolled_back, matches!(state, NetState::Promoted | NetState::Disputed), "{state}");
        }
    }

    #[test]
    fn a_promoted_net_is_rejected_by_nothing() {
        for event in EVENTS {
            assert_ne!(NetState::Promoted.after(event), Some(NetState::Rejected), "{event:?}");
            assert_ne!(NetState::Promoted.after(event), Some(NetState::Candidate), "{event:?}");
        }
    }

    #[test]
    fn each_transition_is_unambiguous() {
        for (number, (from, by, _)) in NetState::TRANSITIONS.iter().enumerate() {
            let first = NetState::TRANSITIONS.iter().position(|other| (other.0, other.1) == (*from, *by));
            assert_eq!(first, Some(number), "{from} {by:?}");
        }
    }
}
