//! What a command line says in numbers.

use assay_model::time::Micros;
use assay_sim::policy::{ByStage, Policy};

/// More than any run takes.
const SECONDS_MAX: f64 = 1e9;

/// All policies of one option; clap would take a plain list for a repeated option.
#[derive(Debug, Clone)]
pub(super) struct Policies(pub(super) Vec<Policy>);

pub(super) fn seconds(text: &str) -> Result<Micros, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=SECONDS_MAX).contains(&seconds) => {
            Ok(Micros((seconds * 1e6).round() as u64))
        }
        _ => Err(format!("`{text}` is not a number of seconds, 0 or more")),
    }
}

pub(super) fn whole(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{text}` is not a whole number, 1 or more")),
    }
}

/// Values between commas: one for all stages, others with the name of theirs.
pub(super) fn by_stage<T: Copy>(
    text: &str,
    otherwise: T,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<ByStage<T>, String> {
    let mut values = ByStage { all: otherwise, named: Default::default() };
    for part in text.split(',') {
        match part.split_once('=') {
            None => values.all = parse(part)?,
            Some((stage, value)) => {
                values.named.insert(stage.to_owned(), parse(value)?);
            }
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_for_all_stages_or_for_one() {
        let values = by_stage("5,execute=30.5", Micros::ZERO, seconds).expect("two");
        assert_eq!(values.get("compile"), Micros::from_secs(5));
        assert_eq!(values.get("execute"), Micros::from_ms(30_500));
        assert_eq!(by_stage("a=1", 7, whole).expect("one").get("b"), 7);
        for bad in ["", "x", "-1", "a=", "a=x", "nan", "1,"] {
            assert!(by_stage(bad, Micros::ZERO, seconds).is_err(), "{bad}");
        }
        assert!(whole("0").is_err());
    }
}
