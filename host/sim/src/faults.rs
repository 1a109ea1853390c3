//! Injected faults: lost workers, slow workers, capacity that ends, and a host that restarts.

use std::str::FromStr;

use assay_core::time::Micros;

/// Everything that goes wrong in one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Faults {
    /// Busy workers that are lost an hour, at random times.
    pub lost_per_hour: f64,
    pub slow: Option<Slow>,
    pub scarcities: Vec<Scarcity>,
    pub host_restarts: Vec<Micros>,
}

/// For a time a pool can have so many workers at most, whatever its quota: those above it are lost when it begins,
/// and starts wait for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scarcity {
    pub pool: String,
    pub workers: usize,
    pub from: Micros,
    pub until: Micros,
}

/// Some workers take longer for everything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// The fraction of all workers, from 0 to 1.
    pub fraction: f64,
    /// The factor by which a slow worker's times grow, at least 1.
    pub factor: f64,
}

/// One thing that goes wrong, as it is written on a command line.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// `lose=PER_HOUR`
    Lose { per_hour: f64 },
    /// `slow=FRACTION:FACTOR`
    Slow(Slow),
    /// `capacity=POOL:WORKERS:FROM:UNTIL`, in seconds
    Scarcity(Scarcity),
    /// `host-restart=SECONDS`
    HostRestart { at: Micros },
}

/// A text that is no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is none of lose=PER_HOUR, slow=FRACTION:FACTOR, capacity=POOL:WORKERS:FROM:UNTIL (in seconds), \
     host-restart=SECONDS"
)]
pub struct BadFault(String);

impl FromStr for Fault {
    type Err = BadFault;

    fn from_str(text: &str) -> Result<Self, BadFault> {
        parse(text).ok_or_else(|| BadFault(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Fault> {
    let within = |text: &str, least: f64, most: f64| {
        text.parse::<f64>().ok().filter(|number| (least..=most).contains(number))
    };
    let time = |text| Some(Micros((within(text, 0.0, 1e9)? * 1e6) as u64));
    match text.split_once('=')? {
        ("lose", per_hour) => Some(Fault::Lose { per_hour: within(per_hour, 0.0, 1e6)? }),
        ("slow", values) => {
            let (fraction, factor) = values.split_once(':')?;
            let (fraction, factor) = (within(fraction, 0.0, 1.0)?, within(factor, 1.0, 1e6)?);
            Some(Fault::Slow(Slow { fraction, factor }))
        }
        ("capacity", values) => {
            let [pool, workers, from, until] = fields(values)?;
            let (from, until) = (time(from)?, time(until)?);
            let fault = Scarcity { pool: pool.into(), workers: workers.parse().ok()?, from, until };
            (from < until).then_some(Fault::Scarcity(fault))
        }
        ("host-restart", at) => Some(Fault::HostRestart { at: time(at)? }),
        _ => None,
    }
}

/// The parts between colons, of which there are four.
fn fields(text: &str) -> Option<[&str; 4]> {
    text.split(':').collect::<Vec<_>>().try_into().ok()
}

impl FromIterator<Fault> for Faults {
    /// A later `lose` or `slow` replaces an earlier one; everything else counts.
    fn from_iter<I: IntoIterator<Item = Fault>>(all: I) -> Self {
        let mut faults = Self::default();
        for fault in all {
            match fault {
                Fault::Lose { per_hour } => faults.lost_per_hour = per_hour,
                Fault::Slow(slow) => faults.slow = Some(slow),
                Fault::Scarcity(scarcity) => faults.scarcities.push(scarcity),
                Fault::HostRestart { at } => faults.host_restarts.push(at),
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_and_others_refused() {
        let texts = ["lose=2.5", "slow=0.1:3", "capacity=gpu:4:10:20.5", "host-restart=60"];
        let faults: Faults = texts.iter().map(|text| text.parse::<Fault>().expect(text)).collect();
        let slow = Some(Slow { fraction: 0.1, factor: 3.0 });
        let host_restarts = vec![Micros::from_secs(60)];
        let (from, until) = (Micros::from_secs(10), Micros::from_ms(20_500));
        let scarcities = vec![Scarcity { pool: "gpu".into(), workers: 4, from, until }];
        assert_eq!(faults, Faults { lost_per_hour: 2.5, slow, scarcities, host_restarts });
        let bad = ["", "lose", "lose=x", "lose=-1", "slow=0.1", "slow=2:2", "slow=0.1:0.5", "x=1"];
        let bad_capacity = ["capacity=gpu:4", "capacity=gpu:-1:0:1", "capacity=gpu:4:2:2"];
        for bad in bad.iter().chain(&bad_capacity) {
            assert!(bad.parse::<Fault>().is_err(), "{bad}");
        }
    }
}
