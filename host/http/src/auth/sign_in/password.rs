//! Passwords: argon2id with the parameters that OWASP recommends (19 MiB, two passes), a bounded
//! number at once, on threads of their own.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use assay_core::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::ApiError;

const PATIENCE: Duration = Duration::from_secs(limits::PASSWORD_WAIT_SECONDS_MAX);

pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(limits::PASSWORDS_HASHED_AT_ONCE)) }
    }
}

/// Whether a new password may be one.
pub(crate) fn check_password(field: &'static str, password: &str) -> Result<(), ApiError> {
    let (min, max) = (limits::PASSWORD_CHARS_MIN, limits::PASSWORD_BYTES_MAX);
    if password.chars().count() < min || password.len() > max {
        let detail =
            format!("the password must have at least {min} characters and at most {max} bytes");
        return Err(ApiError::bad_request(detail).field(field));
    }
    Ok(())
}

impl Passwords {
    /// Hashes a password into the PHC string that the database keeps.
    pub(crate) async fn hash(&self, password: String) -> Result<String, ApiError> {
        let turn = self.turn().await?;
        Ok(on_a_thread(turn, move || hash(&password)).await)
    }

    /// Whether the password has this hash. Without a hash it has not; the check takes as long.
    pub(crate) async fn verify(
        &self,
        password: String,
        hash: Option<String>,
    ) -> Result<bool, ApiError> {
        let turn = self.turn().await?;
        Ok(on_a_thread(turn, move || verify(&password, hash.as_deref())).await)
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let turn = tokio::time::timeout(PATIENCE, self.turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| ApiError::unavailable("busy", "too many people sign in"))?;
        Ok(turn.expect("the semaphore is never closed"))
    }
}

/// The turn is given back when the work is done, also if nobody waits for it any longer.
async fn on_a_thread<T: Send + 'static>(
    turn: OwnedSemaphorePermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let work = move || {
        let done = work();
        drop(turn);
        done
    };
    tokio::task::spawn_blocking(work).await.expect("hashing does not panic")
}

fn hash(password: &str) -> String {
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.expect("the parameters are valid and there is randomness").to_string()
}

fn verify(password: &str, hash: Option<&str>) -> bool {
    static NOBODYS: OnceLock<String> = OnceLock::new();
    let nobodys = || NOBODYS.get_or_init(|| self::hash("nobody's password")).as_str();
    let parsed = PasswordHash::new(hash.unwrap_or_else(nobodys));
    let same = parsed.is_ok_and(|parsed| {
        Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()
    });
    same && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_as_owasp_says_and_read_back() {
        let kept = hash("correct horse battery");
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_ne!(kept, hash("correct horse battery"));
        assert!(verify("correct horse battery", Some(&kept)));
        assert!(!verify("correct horse", Some(&kept)));
        assert!(!verify("nobody's password", None));
        assert!(!verify("", Some("no hash")));
    }

    #[test]
    fn a_new_password_is_neither_short_nor_endless() {
        for (password, good) in [
            ("eleven char", false),
            ("twelve chars", true),
            ("zwölf ä ö ü!", true),
            (&*"x".repeat(1_024), true),
            (&*"x".repeat(1_025), false),
        ] {
            assert_eq!(check_password("password", password).is_ok(), good, "{password}");
        }
    }
}
