//! Passwords, for the pages only, stored by argon2id.

use std::sync::LazyLock;

use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _, password_hash::phc::PasswordHash};

use super::secret;
use crate::{model::Refusal, store::StoreError};

/// Allowed characters of a password. The maximum bounds the time of hashing untrusted input.
pub const LENGTH: std::ops::RangeInclusive<usize> = 10..=200;

/// A dummy hash, so that unknown names take as long to verify as known ones (timing side channel).
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| {
    let password = secret("").unwrap_or_else(|_| "a dummy password".to_owned());
    hash(&password).unwrap_or_default()
});

/// Hashes a password. This takes tens of milliseconds by design: not for async threads.
///
/// # Errors
///
/// If it is too short or too long.
pub fn hash(password: &str) -> Result<String, StoreError> {
    if !LENGTH.contains(&password.chars().count()) {
        return Err(Refusal::BadPassword { min: *LENGTH.start(), max: *LENGTH.end() }.into());
    }
    let hash: PasswordHash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| StoreError::Corrupt(format!("the password cannot be hashed: {error}")))?;
    Ok(hash.to_string())
}

/// Verifies a password. Without a hash it always fails, in the same time.
#[must_use]
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    let known = hash.unwrap_or(&DUMMY_HASH);
    let is_right = Argon2::default().verify_password(password.as_bytes(), known).is_ok();
    is_right && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash_alone() {
        let kept = hash("correct horse battery").expect("it is long enough");
        assert!(kept.starts_with("$argon2id$"), "{kept}");
        assert_ne!(kept, hash("correct horse battery").expect("it is long enough"), "each has its own salt");
        assert!(verify("correct horse battery", Some(&kept)));
        assert!(!verify("correct horse batterz", Some(&kept)));
        assert!(!verify("correct horse battery", None));
        assert!(hash("short").is_err());
    }
}
