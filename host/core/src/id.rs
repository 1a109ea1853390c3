//! Ids, each a type of its own so that none is mistaken for another.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::str::FromStr;
use std::sync::Mutex;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use uuid::{ContextV7, Timestamp, Uuid};

use crate::time::Micros;

/// A text that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid {what}")]
pub struct BadId {
    /// The kind of id that was expected.
    pub what: &'static str,
    /// The text that is not one; at most 80 characters of it.
    pub text: String,
}

fn bad(what: &'static str, text: &str) -> BadId {
    let text = text.chars().take(80).collect();
    BadId { what, text }
}

macro_rules! serde_as_text {
    ($id:ty) => {
        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id, unique and ordered by time.
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                text.parse().map(Self).map_err(|_| bad($what, text))
            }
        }

        /// The id with these 16 bytes.
        impl TryFrom<&[u8]> for $name {
            type Error = BadId;

            fn try_from(bytes: &[u8]) -> Result<Self, BadId> {
                Uuid::from_slice(bytes).map(Self).map_err(|_| bad($what, &hex::encode(bytes)))
            }
        }

        serde_as_text!($name);
    };
}

uuid_id!(
    /// A team on the platform; everything but the platform itself belongs to one.
    TenantId,
    "tenant id"
);
uuid_id!(
    /// One RL iteration of a run.
    BatchId,
    "batch id"
);
uuid_id!(
    /// An API key (its public part; the secret is never an id).
    KeyId,
    "key id"
);
uuid_id!(
    /// Somebody who signs in.
    PersonId,
    "person id"
);
uuid_id!(
    /// The public part of a worker's ticket, which is its identity from its start to its end.
    TicketId,
    "ticket id"
);
uuid_id!(
    /// A webhook of a tenant.
    WebhookId,
    "webhook id"
);

impl BatchId {
    /// A new id that is ordered by this time, as is a batch by the time at which it is announced. The clock of a server
    /// may differ from the time of day, which [`Self::generate`] takes.
    #[must_use]
    pub fn generate_at(at: Micros) -> Self {
        static ORDER: Mutex<AssertUnwindSafe<ContextV7>> =
            Mutex::new(AssertUnwindSafe(ContextV7::new()));
        let nanoseconds = u32::try_from(at.0 % 1_000_000 * 1_000).expect("less than a second");
        Self(Uuid::new_v7(Timestamp::from_unix(&ORDER, at.0 / 1_000_000, nanoseconds)))
    }
}

/// One reward computation: its batch and its place in it. Written `<batch>.<seq>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// The batch of the request.
    pub batch: BatchId,
    /// Order of admission in the batch, from 0.
    pub seq: u32,
}

impl RequestId {
    /// The request's source of randomness: the same in every try and every replay.
    #[must_use]
    pub fn seed(self) -> u64 {
        let (high, low) = self.batch.0.as_u64_pair();
        high.rotate_left(32) ^ low ^ u64::from(self.seq).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.batch, self.seq)
    }
}

impl FromStr for RequestId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let parsed = text
            .split_once('.')
            .and_then(|(batch, seq)| Some((batch.parse().ok()?, seq.parse().ok()?)));
        let (batch, seq) = parsed.ok_or_else(|| bad("request id", text))?;
        Ok(Self { batch, seq })
    }
}

serde_as_text!(RequestId);

/// A connected worker, numbered by the host it is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

impl FromStr for WorkerId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        text.parse().map(Self).map_err(|_| bad("worker id", text))
    }
}

/// A worker's right to run one stage of one request, and the fencing token that proves it: larger
/// than every token before it, also across restarts of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

/// SHA-256 of a plugin's bytes or of anything else that is kept by content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of parts one after another, without a copy of them together.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        parts.iter().for_each(|part| hash.update(part));
        Self(hash.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| bad("digest", text))?;
        Ok(Self(bytes))
    }
}

impl TryFrom<&[u8]> for Digest {
    type Error = BadId;

    fn try_from(bytes: &[u8]) -> Result<Self, BadId> {
        let bytes = bytes.try_into().map_err(|_| bad("digest", &hex::encode(bytes)))?;
        Ok(Self(bytes))
    }
}

serde_as_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_id_survives_its_text() {
        let id = RequestId { batch: BatchId::generate(), seq: 17 };
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(serde_json::to_string(&id).expect("plain"), format!("\"{id}\""));
    }

    #[test]
    fn a_tenant_id_survives_its_bytes() {
        let id = TenantId::generate();
        assert_eq!(TenantId::try_from(&id.0.as_bytes()[..]), Ok(id));
    }

    #[test]
    fn batch_ids_are_ordered_by_the_time_that_they_are_given() {
        // The time of day is another one.
        let times = [1_000, 1_000, 1_001, 2_000_000_000].map(Micros::from_ms);
        let ids = times.map(BatchId::generate_at);
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        for (id, at) in ids.into_iter().zip(times) {
            assert_eq!(id.0.as_u128() >> 80, u128::from(at.0 / 1_000));
        }
    }

    #[test]
    fn the_digest_of_parts_is_that_of_the_whole() {
        assert_eq!(Digest::of_parts(&[b"ab", b"", b"c"]), Digest::of(b"abc"));
    }

    #[test]
    fn what_is_no_id_is_named() {
        let problem = "nonsense".parse::<RequestId>().expect_err("no dot");
        assert_eq!(problem.to_string(), "`nonsense` is not a valid request id");
        assert!(Digest::try_from(&[1, 2, 3][..]).is_err());
        assert!(TenantId::try_from(&[1, 2, 3][..]).is_err());
    }
}
