//! Names that are safe as names of files and folders.

/// Whether a text is a safe name: 1 to 64 letters, digits, `.`, `_` or `-`. The first is a letter
/// or digit, so that no name is `..` or looks like an option.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.len() <= 64
        && text.bytes().all(inside)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}
