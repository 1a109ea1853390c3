//! Hosts that a tenant's plugins and webhooks may send requests to, as an administrator names them.
//!
//! ```text
//! [private:] [https:// | http://] NAME | *.NAME | 192.0.2.1 | [2001:db8::1] [:PORT]
//! ```
//!
//! Without a scheme, requests go by https alone. `private:` allows addresses that are not public;
//! [`check_addresses`] knows which those are, and which no pattern ever allows.

mod reach;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::limits;

pub use reach::check_addresses;

/// How a request travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// With TLS.
    Https,
    /// Without TLS.
    Http,
}

impl Scheme {
    /// The port of a URL that names none.
    #[must_use]
    pub const fn port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// The scheme, host and port that a request is sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The scheme of the URL.
    pub scheme: Scheme,
    /// The host of the URL.
    pub host: Host,
    /// The port of the URL, or the scheme's.
    pub port: u16,
}

/// A host by name (lower-case, no dot at the end) or by address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name, which is looked up.
    Name(String),
    /// An IPv4 or IPv6 address.
    Address(IpAddr),
}

impl Host {
    /// Accepts an address only in its one plain spelling; `[...]` is an IPv6 address. Other spellings that
    /// some resolvers read as an address (`127.1`, `0x7f000001`) are refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = |why: &str| {
            let shown: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
            Err(format!("`{shown}` is not a host: {why}"))
        };
        if let Some(inside) = text.strip_prefix('[') {
            let address = inside.strip_suffix(']').and_then(|inside| inside.parse().ok());
            return address.map_or_else(
                || refused("the brackets hold no address"),
                |address| Ok(Self::Address(IpAddr::V6(address))),
            );
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let label =
            |label: &str| !label.is_empty() && label.len() <= 63 && label.chars().all(plain);
        if name.len() > limits::HOST_NAME_BYTES_MAX || !name.split('.').all(label) {
            return refused("a name is letters, digits, `-` and `_` between dots");
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.starts_with(|c: char| c.is_ascii_digit()) {
            return refused("the last part of a name starts with no digit");
        }
        Ok(Self::Name(name))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// One or many hosts, one scheme, one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    target: Target,
    /// The names below this one, and not this one.
    below: bool,
    private: bool,
}

impl HostPattern {
    /// Whether requests to it may go to addresses that are not public.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Whether requests to this target are allowed.
    #[must_use]
    pub fn matches(&self, target: &Target) -> bool {
        let host = match (&self.target.host, &target.host) {
            (Host::Name(above), Host::Name(name)) if self.below => {
                name.strip_suffix(above.as_str()).is_some_and(|first| first.ends_with('.'))
            }
            (allowed, host) => allowed == host,
        };
        host && (self.target.scheme, self.target.port) == (target.scheme, target.port)
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > limits::HOST_PATTERN_BYTES_MAX {
            return Err(format!("a host has at most {} bytes", limits::HOST_PATTERN_BYTES_MAX));
        }
        let (private, rest) = stripped(text, "private:");
        let (http, rest) = stripped(rest, "http://");
        let rest = if http { rest } else { stripped(rest, "https://").1 };
        let scheme = if http { Scheme::Http } else { Scheme::Https };
        let (below, rest) = stripped(rest, "*.");
        // A colon inside brackets is the address's.
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (rest, None),
        };
        let port = match port.map(str::parse) {
            None => scheme.port(),
            Some(Ok(port)) if port != 0 => port,
            Some(_) => return Err(format!("the port of `{text}` must be 1 to 65535")),
        };
        let host = Host::parse(host)?;
        if below && !matches!(&host, Host::Name(name) if name.contains('.')) {
            return Err(format!("`{text}` is too wide: write `*.` before a name with a dot"));
        }
        Ok(Self { target: Target { scheme, host, port }, below, private })
    }
}

fn stripped<'a>(text: &'a str, prefix: &str) -> (bool, &'a str) {
    text.strip_prefix(prefix).map_or((false, text), |rest| (true, rest))
}

/// Whether one of the patterns allows this target, and then whether one allows addresses that are not public.
#[must_use]
pub fn grant<'a>(
    patterns: impl IntoIterator<Item = &'a HostPattern>,
    target: &Target,
) -> Option<bool> {
    let matching = patterns.into_iter().filter(|pattern| pattern.matches(target));
    matching.map(HostPattern::is_private).reduce(|one, other| one || other)
}

/// Checks what an administrator grants.
pub fn check_hosts(hosts: &[String]) -> Result<(), String> {
    if hosts.len() > limits::TENANT_HOSTS_MAX {
        return Err(format!("hosts are at most {}", limits::TENANT_HOSTS_MAX));
    }
    hosts.iter().try_for_each(|host| HostPattern::from_str(host).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(scheme: Scheme, host: &str, port: u16) -> Target {
        Target { scheme, host: Host::parse(host).expect("a host"), port }
    }

    #[test]
    fn a_pattern_allows_one_scheme_and_one_port() {
        let allows = |pattern: &str, scheme, host, port| {
            pattern.parse::<HostPattern>().expect("valid").matches(&target(scheme, host, port))
        };
        let (https, http) = (Scheme::Https, Scheme::Http);
        assert!(allows("api.example.com", https, "API.example.com.", 443));
        assert!(!allows("api.example.com", http, "api.example.com", 80));
        assert!(!allows("api.example.com", https, "api.example.com", 8443));
        assert!(allows("https://api.example.com:8443", https, "api.example.com", 8443));
        assert!(allows("http://api.example.com", http, "api.example.com", 80));
        assert!(allows("private:http://10.0.0.5:8000", http, "10.0.0.5", 8000));
        assert!(allows("private:[::1]:8000", https, "[0:0::1]", 8000));
        assert!(allows("[2001:db8::1]", https, "[2001:db8::1]", 443));
        assert!(!allows("[::ffff:10.0.0.5]", https, "10.0.0.5", 443));
        assert!(allows("*.example.com", https, "a.b.example.com", 443));
        assert!(!allows("*.example.com", https, "example.com", 443));
        assert!(!allows("*.example.com", https, "badexample.com", 443));
        assert!(!allows("*.example.com", https, "example.com.evil.org", 443));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let long = "a".repeat(limits::HOST_PATTERN_BYTES_MAX + 1);
        for text in [
            "",
            "*",
            "*.com",
            "*.*.com",
            "a..b",
            ".a",
            "a b",
            "a/b",
            "a@b",
            "a:0",
            "a:x",
            "a:99999",
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "1.2.3.4.5",
            "*.10.0.0.5",
            "[::1",
            "[::1%lo]",
            "::1",
            "ftp://a",
            "private:",
            "http://",
            "bücher.example",
            "a\n",
            "a:",
            &long,
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
        assert!(check_hosts(&vec!["a.example".to_owned(); limits::TENANT_HOSTS_MAX]).is_ok());
        assert!(check_hosts(&vec!["a.example".to_owned(); limits::TENANT_HOSTS_MAX + 1]).is_err());
    }
}
