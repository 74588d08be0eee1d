//! Properties of `chuhe judge` for any input; see the properties of `xiangqi` for their use.

use xiangqi::rules::RuleSet;

/// A line of a batch is judged under every rule set, or rejected with a one-line error.
pub(crate) fn judge_line(data: &[u8]) {
    let Ok(line) = str::from_utf8(data) else { return };
    for rules in RuleSet::ALL {
        if let Err(error) = chuhe::judge::judge_line(line, rules) {
            assert!(!error.to_string().contains('\n'), "an error of more than one line: {error}");
        }
    }
}
