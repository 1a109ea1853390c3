//! Where a trainer calls: `/compat/[KEY/]PROTOCOL/PLUGIN@CHANNEL/RUN[/REST][?OPTIONS]`.
//!
//! Options stand in the query or, for clients that build their addresses themselves, after the run:
//! `RUN;timeout=300;label=answer`.

use std::time::Duration;

use assay_core::limits;
use percent_encoding::percent_decode_str;

use super::{PROTOCOLS, Protocol};
use crate::auth::trainer::after_key;
use crate::extract::name::check_text;
use crate::problem::ApiError;

#[derive(Debug, PartialEq)]
pub(super) struct Address {
    pub protocol: &'static Protocol,
    /// The plugin, in the form that `Reference::parse` accepts.
    pub plugin: String,
    pub run: String,
    /// The part of the path after the run, without slashes at its ends.
    pub rest: String,
    pub options: Options,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    /// The time after the call in which the client gives up.
    pub timeout: Option<Duration>,
    /// The time without a call after which the batch is sealed.
    pub gap: Option<Duration>,
    /// The field of a row that is the label.
    pub label: Option<String>,
    /// The names of the components that every answer must have.
    pub extra: Option<Vec<String>>,
    /// The field of an answer's object that has the reward; without it the answer is the reward alone.
    pub reward_key: Option<String>,
    /// The reward that a masked answer has, for clients that need a number there.
    pub masked_reward: Option<f64>,
}

/// The parts of an address, before any of them is checked.
pub(super) struct Place {
    pub protocol: &'static Protocol,
    pub plugin: String,
    /// The run with the options after it.
    run: String,
    /// The part of the path after the run, without slashes at its ends.
    pub rest: String,
}

impl Place {
    pub(super) fn parse(path: &str) -> Result<Self, ApiError> {
        let path = after_key(path).ok_or_else(|| ApiError::not_found("route"))?;
        let segments = path.split('/').map(decode).collect::<Option<Vec<String>>>();
        let segments = segments.ok_or_else(|| ApiError::bad_request("the path is not UTF-8"))?;
        let mut segments = segments.into_iter().peekable();
        let name = segments.next().unwrap_or_default();
        let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name);
        let protocol = protocol.ok_or_else(no_protocol)?;
        let mut plugin = segments.next().unwrap_or_default();
        // `TENANT/PLUGIN@CHANNEL`.
        if !plugin.contains('@') && segments.peek().is_some_and(|next| next.contains('@')) {
            plugin = format!("{plugin}/{}", segments.next().unwrap_or_default());
        }
        let run = segments.next().unwrap_or_default();
        let rest = segments.filter(|segment| !segment.is_empty()).collect::<Vec<_>>().join("/");
        Ok(Self { protocol, plugin, run, rest })
    }

    /// The run's name.
    pub(super) fn run(&self) -> &str {
        strip_port(self.protocol, self.run.split(';').next().unwrap_or_default())
    }
}

impl Address {
    pub(super) fn parse(path: &str, query: Option<&str>) -> Result<Self, ApiError> {
        let place = Place::parse(path)?;
        let mut options = Options::default();
        for part in place.run.split(';').skip(1).filter(|part| !part.is_empty()) {
            let part = strip_port(place.protocol, part);
            if !options.set(part)? {
                return Err(no_option(part));
            }
        }
        for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let part =
                decode(part).ok_or_else(|| ApiError::bad_request("the query is not UTF-8"))?;
            // The trainer may have put its own options here.
            if !options.set(&part)? && is_nearly_ours(&part) {
                return Err(no_option(&part));
            }
        }
        let run = place.run().to_owned();
        check_text("the run in the path", &run, limits::RUN_BYTES_MAX)
            .map_err(ApiError::bad_request)?;
        let Place { protocol, plugin, rest, .. } = place;
        Ok(Self { protocol, plugin, run, rest, options })
    }
}

/// The text without the port that some trainers write after it.
fn strip_port<'a>(protocol: &Protocol, text: &'a str) -> &'a str {
    let port = text
        .rsplit_once(':')
        .filter(|(_, port)| protocol.strips_port && port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(text, |(before, _)| before)
}

fn no_protocol() -> ApiError {
    let names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    ApiError::not_found("protocol").hint(format!("/compat/ has {}", names.join(", ")))
}

/// The names of the options.
const NAMES: [&str; 6] = ["timeout", "gap", "label", "extra", "reward_key", "masked_reward"];

fn no_option(option: &str) -> ApiError {
    let name: String = option.split('=').next().unwrap_or_default().chars().take(80).collect();
    ApiError::bad_request(format!("there is no option `{name}` in the address"))
        .hint(format!("the options are {}", NAMES.join(", ")))
}

/// Whether it is one of our names but for capitals, signs between words, or an s at the end.
fn is_nearly_ours(option: &str) -> bool {
    let plain = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let text: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        text.trim_end_matches('s').to_owned()
    };
    let name = plain(option.split('=').next().unwrap_or_default());
    NAMES.iter().any(|ours| plain(ours) == name)
}

impl Options {
    /// Says whether there is such an option.
    fn set(&mut self, option: &str) -> Result<bool, ApiError> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let text = || {
            check_text(name, value, limits::COMPAT_FIELD_BYTES_MAX)
                .map(|()| Some(value.to_owned()))
                .map_err(ApiError::bad_request)
        };
        match name {
            "timeout" => self.timeout = Some(seconds(name, value, limits::COMPAT_SECONDS_MAX)?),
            "gap" => self.gap = Some(seconds(name, value, limits::COMPAT_GAP_SECONDS_MAX)?),
            "label" => self.label = text()?,
            "reward_key" => self.reward_key = text()?,
            "extra" => {
                let names: Vec<String> = value.split(',').map(str::to_owned).collect();
                if names.len() > limits::COMPONENTS_MAX {
                    let max = limits::COMPONENTS_MAX;
                    return Err(ApiError::bad_request(format!("extra names more than {max}")));
                }
                self.extra = Some(names);
            }
            "masked_reward" => {
                let number = value.parse().ok().filter(|number: &f64| number.is_finite());
                self.masked_reward = Some(number.ok_or_else(|| {
                    ApiError::bad_request("masked_reward must be a finite number")
                })?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn seconds(name: &str, value: &str, max: u64) -> Result<Duration, ApiError> {
    let seconds = value.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| (0.2..=max as f64).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        let shown: String = value.chars().take(80).collect();
        ApiError::bad_request(format!("{name} must be 0.2 to {max} seconds, not `{shown}`"))
    })
}

/// A part of a URL without its escapes; `None` if it is not UTF-8.
fn decode(part: &str) -> Option<String> {
    let decoded = percent_decode_str(part).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str, query: Option<&str>) -> Address {
        Address::parse(path, query).unwrap_or_else(|error| panic!("{path}: {}", error.detail))
    }

    #[test]
    fn an_address_is_read_with_and_without_a_key() {
        for path in [
            "/compat/slime/math@prod/my%20run",
            "/compat/assay_dev_0a_ff/slime/math%40prod/my%20run/",
        ] {
            let address = parse(path, None);
            assert_eq!(address.protocol.name, "slime");
            assert_eq!((address.plugin.as_str(), address.run.as_str()), ("math@prod", "my run"));
            assert_eq!((address.rest.as_str(), address.options), ("", Options::default()));
        }
        let address = parse("/compat/nemo-gym/team/math@1.0.0/r/ng-rollout/7/verify", None);
        assert_eq!(address.plugin, "team/math@1.0.0");
        assert_eq!(address.rest, "ng-rollout/7/verify");
    }

    #[test]
    fn options_stand_in_the_query_or_behind_the_run() {
        let query = parse("/compat/slime/m@p/r", Some("timeout=0.5&label=a%20b&theirs=1&"));
        let behind = parse("/compat/slime/m@p/r;timeout=0.5;label=a%20b", None);
        assert_eq!(query, behind);
        assert_eq!(query.options.timeout, Some(Duration::from_millis(500)));
        assert_eq!(query.options.label.as_deref(), Some("a b"));
        let gym = parse("/compat/nemo-gym/m@p/r;timeout=300:8080/verify", None);
        assert_eq!((gym.run.as_str(), gym.options.timeout), ("r", Some(Duration::from_secs(300))));
        assert_eq!(parse("/compat/nemo-gym/m@p/r:7/verify", None).run, "r");
        assert_eq!(parse("/compat/slime/m@p/r:7", None).run, "r:7");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let status =
            |path: &str, query| Address::parse(path, query).expect_err(path).status.as_u16();
        assert_eq!(status("/compat/trl/m@p/r", None), 404);
        assert_eq!(status("/compat/slime/m@p", None), 400);
        assert_eq!(status("/compat/slime/m@p/%ff", None), 400);
        assert_eq!(status("/compat/slime/m@p/a%0ab", None), 400);
        for option in ["timeout=0", "timeout=x", "timeout=NaN", "gap=99999", "masked_reward=inf"] {
            assert_eq!(status("/compat/slime/m@p/r", Some(option)), 400, "{option}");
        }
        let error = Address::parse("/compat/slime/m@p/r;timeuot=3", None).expect_err("misspelt");
        assert!(error.detail.contains("`timeuot`"), "{}", error.detail);
        assert!(error.hint.is_some_and(|hint| hint.contains("timeout, gap, label")));
        // In the query other names are the trainer's own, unless they are nearly ours.
        for option in ["Timeout=3", "reward-key=r", "labels=a"] {
            assert_eq!(status("/compat/slime/m@p/r", Some(option)), 400, "{option}");
        }
        assert_eq!(parse("/compat/slime/m@p/r;", Some("step=3")).options, Options::default());
    }
}
