//! `go perft`: a count that can be stopped.

use xiangqi::{Position, perft};

use crate::engine::Control;

/// The subtrees that are counted in one go, without looking up: some thousands of positions.
const AT_ONCE: u32 = 2;

/// The number of legal move sequences of this length; `None` if stopped.
pub(super) fn count(position: &mut Position, depth: u32, control: &Control) -> Option<u64> {
    if depth <= AT_ONCE {
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
