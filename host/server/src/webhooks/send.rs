//! One message to one receiver, at an address that was looked up once and checked.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use assay_api::webhook::webhook_target;
use assay_core::cause::deepest;
use assay_core::limits;
use assay_core::outbound::{Host, HostPattern, Target, check_addresses, grant};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::message::Message;

const PATIENCE: Duration = Duration::from_secs(limits::WEBHOOK_SECONDS_MAX);

/// A message that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unsent {
    /// Never has the URL, whose path may be a secret, or anything that the receiver wrote.
    pub why: String,
    /// Whether another try is in vain.
    pub is_final: bool,
}

impl Unsent {
    fn again(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_final: false }
    }

    fn last(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_final: true }
    }
}

/// Posts a message to a URL whose host is among the granted `hosts`.
pub(super) async fn send(url: &str, hosts: &[String], message: Message) -> Result<(), Unsent> {
    let target = webhook_target(url).map_err(Unsent::last)?;
    let hosts: Vec<HostPattern> = hosts.iter().filter_map(|host| host.parse().ok()).collect();
    let Some(private) = grant(&hosts, &target) else {
        return Err(Unsent::last(format!("{} is not granted to the tenant any more", target.host)));
    };
    let url = same_host(url, &target)?;
    let client = tokio::time::timeout(PATIENCE, connected_to(&url, &target, private))
        .await
        .map_err(|_| Unsent::again(format!("{} could not be looked up in time", target.host)))??;
    let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(message.body);
    for (name, value) in message.headers {
        request = request.header(name, value);
    }
    let answer = request.send().await.map_err(|error| Unsent::again(words(&error)))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    Err(Unsent::again(format!("the receiver answered {}", status.as_u16())))
}

/// The URL as the client reads it; fails unless it is for the host that was checked.
fn same_host(url: &str, target: &Target) -> Result<Url, Unsent> {
    let url: Url = url.parse().map_err(|_| Unsent::last("the URL is not valid"))?;
    let host = url.host_str().map(Host::parse);
    let is_same = host == Some(Ok(target.host.clone()))
        && url.port_or_known_default() == Some(target.port)
        && url.username().is_empty()
        && url.password().is_none();
    if is_same { Ok(url) } else { Err(Unsent::last("the URL can be read in two ways")) }
}

/// A client that goes to the host's addresses of now, all of which are allowed.
async fn connected_to(url: &Url, target: &Target, private: bool) -> Result<Client, Unsent> {
    let addresses: Vec<IpAddr> = match &target.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => {
            let unknown = |_| Unsent::again(format!("{name} has no address"));
            let found = tokio::net::lookup_host((name.as_str(), target.port)).await;
            found.map_err(unknown)?.map(|found| found.ip()).collect()
        }
    };
    if addresses.is_empty() {
        return Err(Unsent::again(format!("{} has no address", target.host)));
    }
    check_addresses(&target.host, private, &addresses).map_err(Unsent::last)?;
    let addresses: Vec<_> =
        addresses.into_iter().map(|address| SocketAddr::new(address, target.port)).collect();
    Client::builder()
        .user_agent(concat!("assay/", env!("CARGO_PKG_VERSION")))
        .timeout(PATIENCE)
        // A proxy, or the receiver, would choose another host.
        .no_proxy()
        .redirect(Policy::none())
        .resolve_to_addrs(url.host_str().unwrap_or_default(), &addresses)
        .build()
        .map_err(|error| Unsent::again(words(&error)))
}

/// The deepest cause, without the URL.
fn words(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", limits::WEBHOOK_SECONDS_MAX);
    }
    match error.source() {
        Some(cause) => deepest(cause).to_string(),
        None => "the message could not be sent".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refusal(url: &str, hosts: &[&str]) -> Unsent {
        let hosts: Vec<_> = hosts.iter().map(|&host| host.to_owned()).collect();
        let headers = [("webhook-id", String::new()), ("a", String::new()), ("b", String::new())];
        let message = Message { headers, body: String::new() };
        send(url, &hosts, message).await.expect_err("it is refused")
    }

    #[tokio::test]
    async fn only_granted_hosts_at_allowed_addresses_are_called() {
        for (url, hosts, why) in [
            ("https://a.example/x", [].as_slice(), "is not granted"),
            ("http://a.example/x", &["a.example"], "is not granted"),
            ("https://127.0.0.1/x", &["127.0.0.1"], "an address that is not public"),
            ("http://localhost:1/x", &["http://localhost:1"], "an address that is not public"),
            ("https://169.254.169.254/x", &["private:169.254.169.254"], "no request is ever sent"),
        ] {
            let refused = refusal(url, hosts).await;
            assert!(refused.why.contains(why) && refused.is_final, "{url}: {refused:?}");
        }
    }

    #[tokio::test]
    async fn a_receiver_that_is_away_may_come_back() {
        // A second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let refused = refusal("http://127.0.0.1:1/secret", &["private:http://127.0.0.1:1"]).await;
        assert!(!refused.is_final && !refused.why.contains("secret"), "{refused:?}");
    }
}
