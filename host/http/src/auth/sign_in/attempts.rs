//! Counts of tries to sign in: by network address, by network address and e-mail address together, and by e-mail
//! address. Wrong passwords from one network keep nobody out who comes from another, unless many networks try
//! at once. In memory, and bounded: the fullest bucket gives way to a new one.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use assay_core::id::Digest;
use assay_core::limits;
use parking_lot::Mutex;

pub(crate) struct Attempts {
    /// The attempts by the hash of the e-mail address, so that a long address takes no more memory.
    emails: Mutex<AttemptBuckets<Digest>>,
    persons: Mutex<AttemptBuckets<(Digest, IpAddr)>>,
    peers: Mutex<AttemptBuckets<IpAddr>>,
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            emails: buckets(
                limits::SIGN_INS_PER_EMAIL_MAX,
                limits::SIGN_INS_PER_EMAIL_REFILL_SECONDS,
            ),
            persons: buckets(
                limits::SIGN_INS_PER_PERSON_MAX,
                limits::SIGN_INS_PER_PERSON_REFILL_SECONDS,
            ),
            peers: buckets(limits::SIGN_INS_PER_PEER_MAX, limits::SIGN_INS_PER_PEER_REFILL_SECONDS),
        }
    }
}

impl Attempts {
    /// Takes one try; if there is none, returns the seconds until the next one.
    pub(super) fn take(&self, peer: IpAddr, email: Option<&str>) -> Result<(), u64> {
        let (now, network) = (Instant::now(), network(peer));
        self.peers.lock().take(network, now)?;
        let Some(email) = email.map(key) else { return Ok(()) };
        // A try that is refused here is not taken from the buckets of others.
        self.persons.lock().take((email, network), now)?;
        self.emails.lock().take(email, now)
    }

    /// Clears the tries with an e-mail address after a successful sign-in.
    pub(crate) fn forgive(&self, peer: IpAddr, email: &str) {
        self.persons.lock().held.remove(&(key(email), network(peer)));
        self.emails.lock().held.remove(&key(email));
    }
}

fn buckets<K: Hash + Eq + Copy>(burst: u32, refill_seconds: u32) -> Mutex<AttemptBuckets<K>> {
    let refill = Duration::from_secs(refill_seconds.into());
    Mutex::new(AttemptBuckets::new(AttemptRate { burst, refill }))
}

fn key(email: &str) -> Digest {
    Digest::of(email.as_bytes())
}

/// The part of an address that tries are counted by. A holder of one IPv6 address usually has its whole /64
/// network, so the network counts as one.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
        address => address,
    }
}

#[derive(Debug, Clone, Copy)]
struct AttemptRate {
    burst: u32,
    /// The time until one more try is there.
    refill: Duration,
}

struct AttemptBuckets<K> {
    rate: AttemptRate,
    held: HashMap<K, AttemptBucket>,
}

/// When it will be, or was, full.
#[derive(Debug, Clone, Copy)]
struct AttemptBucket {
    full_at: Instant,
}

impl<K: Hash + Eq + Copy> AttemptBuckets<K> {
    fn new(rate: AttemptRate) -> Self {
        Self { rate, held: HashMap::new() }
    }

    fn take(&mut self, key: K, now: Instant) -> Result<(), u64> {
        if self.held.len() >= limits::SIGN_INS_COUNTED_MAX && !self.held.contains_key(&key) {
            self.make_room(now);
        }
        let AttemptRate { burst, refill } = self.rate;
        let bucket = self.held.entry(key).or_insert(AttemptBucket { full_at: now });
        let full_at = bucket.full_at.max(now) + refill;
        let over = full_at.duration_since(now).saturating_sub(refill * burst);
        if !over.is_zero() {
            return Err(over.as_secs_f64().ceil() as u64);
        }
        bucket.full_at = full_at;
        Ok(())
    }

    fn make_room(&mut self, now: Instant) {
        self.held.retain(|_, bucket| bucket.full_at > now);
        if self.held.len() >= limits::SIGN_INS_COUNTED_MAX {
            let fullest = self.held.iter().min_by_key(|(_, bucket)| bucket.full_at);
            if let Some((&fullest, _)) = fullest {
                self.held.remove(&fullest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let rate = AttemptRate { burst: 3, refill: Duration::from_secs(10) };
        let mut buckets = AttemptBuckets::new(rate);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..3 {
            assert_eq!(buckets.take(1, start), Ok(()));
        }
        assert_eq!(buckets.take(1, start), Err(10));
        assert_eq!(buckets.take(1, at(4)), Err(6));
        assert_eq!(buckets.take(2, at(4)), Ok(()));
        assert_eq!(buckets.take(1, at(10)), Ok(()));
        assert_eq!(buckets.take(1, at(10)), Err(10));
        for _ in 0..3 {
            assert_eq!(buckets.take(1, at(100)), Ok(()));
        }
        assert_eq!(buckets.take(1, at(100)), Err(10));
    }

    #[test]
    fn the_emptiest_buckets_are_kept() {
        let mut buckets =
            AttemptBuckets::new(AttemptRate { burst: 2, refill: Duration::from_secs(10) });
        let now = Instant::now();
        buckets.take(0, now).and_then(|()| buckets.take(0, now)).expect("two are there");
        for key in 1..limits::SIGN_INS_COUNTED_MAX + 100 {
            assert_eq!(buckets.take(key, now), Ok(()));
        }
        assert_eq!(buckets.held.len(), limits::SIGN_INS_COUNTED_MAX);
        assert_eq!(buckets.take(0, now), Err(10));
    }

    #[test]
    fn wrong_passwords_from_elsewhere_keep_nobody_out() {
        let attempts = Attempts::default();
        let address = |number: u8| IpAddr::from([10, 0, 0, number]);
        let taken = |peer| (0..50).take_while(|_| attempts.take(peer, Some("a@b")).is_ok()).count();
        let burst = limits::SIGN_INS_PER_PERSON_MAX as usize;
        assert_eq!((taken(address(1)), taken(address(2))), (burst, burst));
        attempts.forgive(address(1), "a@b");
        assert_eq!(taken(address(1)), burst);
        let many = (3..200).map(|number| taken(address(number))).sum::<usize>();
        assert!(many <= limits::SIGN_INS_PER_EMAIL_MAX as usize, "{many}");
    }

    #[test]
    fn a_network_counts_as_one() {
        let network = |text: &str| super::network(text.parse().expect("an address"));
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:1"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_eq!(network("::ffff:10.0.0.1"), network("10.0.0.1"));
        assert_ne!(network("10.0.0.1"), network("10.0.0.2"));
    }
}
