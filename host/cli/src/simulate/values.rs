//! Parsers of option values.

use assay_core::time::Micros;
use assay_sched::Weight;
use assay_sim::policy::{ByPool, SimulatedPolicy};
use assay_sim::workload::Shift;

/// A limit above the length of any run.
const SECONDS_MAX: f64 = 1e9;

/// All policies of one option; clap would take a plain list for a repeated option.
#[derive(Debug, Clone)]
pub(super) struct Policies(pub(super) Vec<SimulatedPolicy>);

/// The value of `TENANT:POOL=N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) tenant: String,
    pub(super) pool: String,
    pub(super) workers_max: u32,
}

pub(super) fn weight(text: &str) -> Result<(String, Weight), String> {
    let parsed = text
        .split_once('=')
        .and_then(|(tenant, weight)| Some((tenant.to_owned(), Weight::new(weight.parse().ok()?)?)));
    parsed.ok_or_else(|| format!("`{text}` is not TENANT=W, W from 0.001 to 1000000"))
}

pub(super) fn bound(text: &str) -> Result<Bound, String> {
    let parsed = text.split_once('=').and_then(|(whom, max)| {
        let (tenant, pool) = whom.split_once(':')?;
        let workers_max = max.parse().ok().filter(|max| *max > 0)?;
        Some(Bound { tenant: tenant.to_owned(), pool: pool.to_owned(), workers_max })
    });
    parsed.ok_or_else(|| format!("`{text}` is not TENANT:POOL=N, N 1 or more"))
}

pub(super) fn seconds(text: &str) -> Result<Micros, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=SECONDS_MAX).contains(&seconds) => Ok(Micros::from_secs_f64(seconds)),
        _ => Err(format!("`{text}` is not a number of seconds, 0 or more")),
    }
}

pub(super) fn fraction(text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    parsed.ok_or_else(|| format!("`{text}` is not a number from 0 to 1"))
}

pub(super) fn whole(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{text}` is not a whole number, 1 or more")),
    }
}

/// Values separated by commas: one for all pools, or one for each named pool.
pub(super) fn by_pool<T: Copy>(
    text: &str,
    otherwise: T,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<ByPool<T>, String> {
    let mut values = ByPool { all: otherwise, named: Default::default() };
    for part in text.split(',') {
        match part.split_once('=') {
            None => values.all = parse(part)?,
            Some((pool, value)) => {
                values.named.insert(pool.to_owned(), parse(value)?);
            }
        }
    }
    Ok(values)
}

/// A sudden change of a workload; the generator checks the ranges of its numbers.
pub(super) fn shift(text: &str) -> Result<Shift, String> {
    let mut shift = Shift::default();
    let mut is_placed = false;
    for part in text.split(',') {
        let wrong = || {
            format!(
                "`{part}` is not one of at=ITERATION, length=FACTOR, execute=FACTOR, compile=FACTOR, \
                 timeouts=FRACTION"
            )
        };
        let (name, value) = part.split_once('=').ok_or_else(wrong)?;
        let number = || value.parse::<f64>().map_err(|_| format!("`{value}` is not a number"));
        match name {
            "at" => {
                shift.at_iteration =
                    value.parse().map_err(|_| format!("`{value}` is not an iteration"))?;
                is_placed = true;
            }
            "length" => shift.length = number()?,
            "execute" => shift.execute = number()?,
            "compile" => shift.compile = number()?,
            "timeouts" => shift.timeouts = Some(number()?),
            _ => return Err(wrong()),
        }
    }
    if is_placed { Ok(shift) } else { Err("the iteration is missing: add at=ITERATION".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_for_all_pools_or_for_one() {
        let values = by_pool("5,execute=30.5", Micros::ZERO, seconds).expect("two");
        assert_eq!(values.get("compile"), Micros::from_secs(5));
        assert_eq!(values.get("execute"), Micros::from_ms(30_500));
        assert_eq!(by_pool("a=1", 7, whole).expect("one").get("b"), 7);
        for bad in ["", "x", "-1", "a=", "a=x", "nan", "1,"] {
            assert!(by_pool(bad, Micros::ZERO, seconds).is_err(), "{bad}");
        }
        assert!(whole("0").is_err());
        assert_eq!(fraction("0.5"), Ok(0.5));
        assert!(fraction("1.1").is_err() && fraction("nan").is_err());
    }

    #[test]
    fn shares_are_of_a_tenant() {
        assert_eq!(weight("lab=0.5"), Ok(("lab".into(), Weight::new(0.5).expect("a weight"))));
        let wanted = Bound { tenant: "lab".into(), pool: "gpu".into(), workers_max: 4 };
        assert_eq!(bound("lab:gpu=4"), Ok(wanted));
        for bad in ["", "lab", "lab=", "lab=0", "lab=-1", "lab=x", "lab=nan"] {
            assert!(weight(bad).is_err(), "{bad}");
        }
        for bad in ["", "lab=4", "lab:gpu", "lab:gpu=0", "lab:gpu=-1", "lab:gpu=1.5"] {
            assert!(bound(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shifts_say_when_and_what() {
        let wanted =
            Shift { at_iteration: 3, execute: 2.5, timeouts: Some(0.08), ..Shift::default() };
        assert_eq!(shift("at=3,execute=2.5,timeouts=0.08"), Ok(wanted));
        for bad in ["", "at=3,width=2", "length=2", "at=-1", "at=3,length=x", "at"] {
            assert!(shift(bad).is_err(), "{bad}");
        }
    }
}
