//! Limits of people, passwords, sessions and OpenID sign-ins.

use super::MIB;

/// The bytes of an e-mail address.
pub const EMAIL_BYTES_MAX: usize = 254;
/// The bytes of a person's name.
pub const PERSON_NAME_BYTES_MAX: usize = 128;
/// The least length of a password, in characters.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// The greatest length of a password, in bytes: hashing time grows with it.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// The passwords that are hashed at the same time, each with 19 MiB; further ones wait.
pub const PASSWORDS_HASHED_AT_ONCE: usize = 2;
/// The longest wait for a turn to hash a password, in seconds.
pub const PASSWORD_WAIT_SECONDS_MAX: u64 = 15;
/// The tries to sign in with one e-mail address that a network address has in stock.
pub const SIGN_INS_PER_PERSON_MAX: u32 = 10;
/// The time in which a network address regains one try with an e-mail address, in seconds.
pub const SIGN_INS_PER_PERSON_REFILL_SECONDS: u32 = 30;
/// The tries to sign in with one e-mail address that all network addresses together have in stock.
pub const SIGN_INS_PER_EMAIL_MAX: u32 = 100;
/// The time in which they regain one try with an e-mail address, in seconds.
pub const SIGN_INS_PER_EMAIL_REFILL_SECONDS: u32 = 5;
/// The tries to sign in that a network address has in stock.
pub const SIGN_INS_PER_PEER_MAX: u32 = 100;
/// The time in which a network address regains one try, in seconds.
pub const SIGN_INS_PER_PEER_REFILL_SECONDS: u32 = 1;
/// The e-mail addresses, and the network addresses, whose tries are counted at the same time.
pub const SIGN_INS_COUNTED_MAX: usize = 10_000;
/// The time without a call after which a session ends, in seconds.
pub const SESSION_IDLE_SECONDS_MAX: u64 = 12 * 3_600;
/// The longest life of a session, in seconds, whatever it is used for.
pub const SESSION_SECONDS_MAX: u64 = 7 * 24 * 3_600;
/// The sessions of one person; a new one ends the oldest.
pub const SESSIONS_PER_PERSON_MAX: u32 = 32;
/// The longest life of an invitation, in seconds.
pub const INVITATION_SECONDS_MAX: u64 = 7 * 24 * 3_600;
/// The members of a tenant.
pub const MEMBERS_PER_TENANT_MAX: u32 = 10_000;
/// The bytes of the path and query of a page to which a sign-in returns.
pub const BACK_BYTES_MAX: usize = 2_048;
/// The sign-ins that are under way at the OpenID provider.
pub const OIDC_PENDING_MAX: usize = 1_000;
/// The longest time that a sign-in at the OpenID provider may take, in seconds.
pub const OIDC_PENDING_SECONDS_MAX: u64 = 600;
/// The bytes of one answer of the OpenID provider.
pub const OIDC_ANSWER_BYTES_MAX: usize = MIB;
/// The longest wait for an answer of the OpenID provider, in seconds.
pub const OIDC_SECONDS_MAX: u64 = 10;
