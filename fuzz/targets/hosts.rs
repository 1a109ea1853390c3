//! Hosts of the requests that plugins make, and ids as clients write them.
//!
//! A host that is read is written in one spelling, which is read as the same host. A name is never a spelling of an
//! address that some resolver reads (`127.1`, `0x7f000001`). A pattern for one host allows that host alone. An id that
//! is read, written and read again is the same.

#![no_main]

use assay_core::id::{BatchId, Digest, RequestId, TicketId};
use assay_core::outbound::{Host, HostPattern, Scheme, Target};
use libfuzzer_sys::fuzz_target;

const ERROR_BYTES_MAX: usize = 2 << 10;

fuzz_target!(|text: &str| {
    match Host::parse(text) {
        Ok(host) => {
            let written = host.to_string();
            assert_eq!(Host::parse(&written).as_ref(), Ok(&host));
            assert!(matches!(host, Host::Address(_)) || !is_old_address(&written), "{written}");
            allows_itself(&host);
        }
        Err(why) => assert!(why.len() <= ERROR_BYTES_MAX),
    }
    let _ = text.parse::<HostPattern>().map_err(|why| assert!(why.len() <= ERROR_BYTES_MAX));
    same_text(text.parse::<RequestId>());
    same_text(text.parse::<BatchId>());
    same_text(text.parse::<TicketId>());
    same_text(text.parse::<Digest>());
});

fn allows_itself(host: &Host) {
    let pattern: HostPattern = host.to_string().parse().expect("a host is a pattern");
    let target = |host: Host, scheme, port| Target { scheme, host, port };
    assert!(pattern.matches(&target(host.clone(), Scheme::Https, 443)) && !pattern.is_private());
    assert!(!pattern.matches(&target(host.clone(), Scheme::Http, 443)));
    assert!(!pattern.matches(&target(host.clone(), Scheme::Https, 444)));
    if let Host::Name(name) = host {
        assert!(!pattern.matches(&target(Host::Name(format!("a.{name}")), Scheme::Https, 443)));
    }
}

/// Whether `inet_aton` reads it: one to four numbers in decimal, octal or hexadecimal digits.
fn is_old_address(text: &str) -> bool {
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
    };
    text.split('.').count() <= 4 && text.split('.').all(number)
}

/// The text of an id is read as the same id.
fn same_text<T: std::fmt::Display + std::str::FromStr, E>(read: Result<T, E>) {
    if let Ok(id) = read {
        let written = id.to_string();
        let again = written.parse::<T>().ok().map(|id| id.to_string());
        assert_eq!(again, Some(written));
    }
}
