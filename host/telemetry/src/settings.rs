//! The operator's settings, in the forms of OpenTelemetry's environment variables.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Where traces and metrics go.
#[derive(Debug, Clone)]
pub struct OtlpSettings {
    /// The receiver; `v1/traces` and `v1/metrics` are below it.
    pub endpoint: Url,
    /// Sent with each call, such as a key.
    pub headers: HeaderMap,
    /// The attributes of this server.
    pub resource: BTreeMap<String, String>,
    /// The time between two reports of the metrics.
    pub metrics_period: Duration,
    /// The part of the requests without a caller's trace that is traced, from 0 to 1.
    pub traced_part: f64,
}

impl OtlpSettings {
    pub(crate) fn url(&self, signal: &str) -> Url {
        let mut url = self.endpoint.clone();
        let path = format!("{}/v1/{signal}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url
    }
}

/// Reads `key=value,key=value`; values are percent-encoded where needed, as in OTEL_RESOURCE_ATTRIBUTES.
pub fn attributes(list: &str) -> Result<BTreeMap<String, String>, String> {
    let pairs = list.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair
                .split_once('=')
                .ok_or("an entry is no `key=value`; several are joined by `,`")?;
            Ok((key.trim().to_owned(), decoded(value.trim())?))
        })
        .collect()
}

/// Reads headers in the form of OTEL_EXPORTER_OTLP_HEADERS. Errors show no value, because most are secrets.
pub fn headers(list: &str) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in attributes(list)? {
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}` is no name of a header"))?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            format!("the value of the header {name} has a character that no header may have")
        })?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

fn decoded(text: &str) -> Result<String, String> {
    let bad = || "a `%` is not followed by two hexadecimal digits".to_owned();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or_else(bad)?;
        let digits = std::str::from_utf8(digits).map_err(|_| bad())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| bad())?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| "a value is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(endpoint: &str) -> OtlpSettings {
        OtlpSettings {
            endpoint: endpoint.parse().expect("a URL"),
            headers: HeaderMap::new(),
            resource: BTreeMap::new(),
            metrics_period: Duration::from_secs(60),
            traced_part: 0.0,
        }
    }

    #[test]
    fn signals_are_below_the_endpoint() {
        for (endpoint, url) in [
            ("http://a:4318", "http://a:4318/v1/traces"),
            ("https://b/otlp/", "https://b/otlp/v1/traces"),
        ] {
            assert_eq!(settings(endpoint).url("traces").as_str(), url);
        }
    }

    #[test]
    fn lists_are_read_as_opentelemetry_writes_them() {
        let read = attributes("team=rl, site=a%20b%2Cc ,").expect("it is well-formed");
        assert_eq!(read["team"], "rl");
        assert_eq!(read["site"], "a b,c");
        for bad in ["team", "a=%2", "a=%zz", "a=%ff"] {
            assert!(attributes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        let read = headers("authorization=Basic%20abc").expect("it is well-formed");
        assert_eq!(read["authorization"], "Basic abc");
        assert!(!format!("{read:?}").contains("abc"));
        let refused = headers("key=s%0Acret").expect_err("it is two lines");
        assert!(refused.contains("key") && !refused.contains("cret"), "{refused}");
        assert!(headers("a b=1").is_err());
    }
}
