//! Texts of a coordinator, which reach the terminals of people.

/// Replaces control characters and marks of text direction by blanks: a terminal would obey them.
/// A machine between the coordinator and this one could otherwise write on its screen.
#[must_use]
pub fn printable(text: &str) -> String {
    let is_obeyed = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let words: String = text.chars().map(|letter| if is_obeyed(letter) { ' ' } else { letter }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_in_a_text() {
        let attack = "wait\x1b]0;owned\x07\x1b[2J\r\nRun: \u{9b}31m\u{202e}lruc\u{2066}";
        assert_eq!(printable(attack), "wait ]0;owned [2J Run: 31m lruc");
        assert_eq!(printable("the block of 机器 7: «no», 100 %"), "the block of 机器 7: «no», 100 %");
    }
}
