//! `go perft`, interruptible by `stop`.

use xiangqi::{Position, perft};

use crate::engine::Control;

/// The depth of subtrees counted between two checks of the stop flag: some thousands of positions.
const UNCHECKED_DEPTH: u32 = 2;

/// Counts the legal move sequences of this length; `None` if stopped.
pub(super) fn count(position: &mut Position, depth: u32, control: &Control) -> Option<u64> {
    if depth <= UNCHECKED_DEPTH {
        return Some(perft::count(position, depth));
    }
    let mut nodes = 0;
    for mv in position.legal_moves() {
        if control.is_stopped() {
            return None;
        }
        let undo = position.make(mv);
        let counted = count(position, depth - 1, control);
        position.unmake(mv, undo);
        nodes += counted?;
    }
    Some(nodes)
}
