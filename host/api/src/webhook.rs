//! Webhooks: addresses that are told of incidents.

use std::str::FromStr as _;

use assay_core::id::WebhookId;
use assay_core::limits;
use assay_core::outbound::{Host, Scheme, Target};
use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use crate::operations::IncidentKind;
use crate::problem::FieldError;

/// The form of the messages that a webhook gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebhookForm {
    /// The incident as JSON, signed as Standard Webhooks say.
    #[default]
    Json,
    /// A JSON object with `text`, as Slack, Mattermost and Discord's `/slack` addresses take it.
    Slack,
}

impl WebhookForm {
    /// The name of the form in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Slack => "slack",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Json, Self::Slack].into_iter().find(|form| form.as_str() == text)
    }
}

/// `POST /v1/webhooks`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWebhook {
    /// Name of the webhook, unique in your tenant; 1 to 64 bytes.
    pub name: String,
    /// Address that messages are posted to: a host that was granted to your tenant, https unless the grant says
    /// http. At most 2,048 bytes.
    pub url: String,
    /// Form of the messages.
    #[serde(default)]
    pub form: WebhookForm,
    /// Kinds of incidents to be told of; all of them when absent or empty.
    #[serde(default)]
    pub kinds: Vec<IncidentKind>,
    /// Whether to be told of the platform's incidents too; needs the scope `platform:*`, in the tenant `platform`.
    #[serde(default)]
    pub platform: bool,
}

impl CreateWebhook {
    /// Checks the limits of the fields; returns what the URL names.
    pub fn check(&self) -> Result<Target, FieldError> {
        let max = limits::WEBHOOK_NAME_BYTES_MAX;
        if !(1..=max).contains(&self.name.len()) || self.name.chars().any(char::is_control) {
            let detail = format!("name must be 1 to {max} bytes without control characters");
            return Err(FieldError::new("name", detail));
        }
        webhook_target(&self.url).map_err(|detail| FieldError::new("url", detail))
    }
}

/// The scheme, host and port of a webhook's URL.
pub fn webhook_target(url: &str) -> Result<Target, String> {
    let max = limits::WEBHOOK_URL_BYTES_MAX;
    if url.len() > max {
        return Err(format!("url must be at most {max} bytes"));
    }
    let (scheme, rest) = match url.split_once("://") {
        Some(("https", rest)) => (Scheme::Https, rest),
        Some(("http", rest)) => (Scheme::Http, rest),
        _ => return Err("url must begin with https:// or http://".into()),
    };
    if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains(['\\', '#']) {
        return Err(
            "url must be plain: no spaces, backslashes or fragment, other letters as %XX".into()
        );
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    // Which a colon inside brackets does not begin.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let host = Host::parse(host)?;
    let port = match port.map(u16::from_str) {
        None => scheme.port(),
        Some(Ok(port)) if port != 0 => port,
        Some(_) => return Err("the port of url must be 1 to 65535".into()),
    };
    Ok(Target { scheme, host, port })
}

/// A webhook.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Webhook {
    /// Id of the webhook.
    #[schema(value_type = String)]
    pub id: WebhookId,
    /// Name of the webhook.
    pub name: String,
    /// Scheme, host and port of its URL; the rest may be a secret and is not shown.
    pub to: String,
    /// Form of the messages.
    pub form: WebhookForm,
    /// Kinds of incidents that it is told of; all of them if empty.
    pub kinds: Vec<IncidentKind>,
    /// Whether it is told of the platform's incidents too.
    pub platform: bool,
    /// Time of its creation.
    #[schema(value_type = String)]
    pub created_at: Micros,
    /// Name of the key or address of the person that made it.
    pub created_by: String,
    /// Key of the signatures, `whsec_` and base64; only in the answer of the call that made the webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The latest delivery; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<WebhookDelivery>,
}

/// A list of webhooks.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WebhookList {
    /// The webhooks of your tenant by name.
    pub items: Vec<Webhook>,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is tried, or is to be tried again.
    Waiting,
    /// The receiver took it.
    Delivered,
    /// It was given up.
    Failed,
}

impl DeliveryState {
    /// The name of the state in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Waiting, Self::Delivered, Self::Failed];
        all.into_iter().find(|state| state.as_str() == text)
    }
}

/// A message to a webhook.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WebhookDelivery {
    /// Id of the delivery, which the receiver gets as `webhook-id`.
    pub id: i64,
    /// Kind of the incident; absent for a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<IncidentKind>,
    /// Time at which it was made.
    #[schema(value_type = String)]
    pub made_at: Micros,
    /// State of the delivery.
    pub state: DeliveryState,
    /// Number of tries so far.
    pub tries: u32,
    /// Why the latest try failed; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time of the next try; absent once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub next_try_at: Option<Micros>,
}

/// The latest deliveries of a webhook.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WebhookDeliveryList {
    /// The latest first, at most 50.
    pub items: Vec<WebhookDelivery>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_one_host() {
        let target = |url: &str| {
            let target = webhook_target(url).expect("valid");
            (target.scheme, target.host.to_string(), target.port)
        };
        let (https, http) = (Scheme::Https, Scheme::Http);
        assert_eq!(target("https://Hooks.example/a?b=c"), (https, "hooks.example".into(), 443));
        assert_eq!(target("https://hooks.example?b"), (https, "hooks.example".into(), 443));
        assert_eq!(target("http://10.0.0.5:8080/x"), (http, "10.0.0.5".into(), 8080));
        assert_eq!(target("https://[2001:db8::1]/x"), (https, "[2001:db8::1]".into(), 443));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let long = format!("https://a.example/{}", "a".repeat(limits::WEBHOOK_URL_BYTES_MAX));
        for url in [
            "",
            "hooks.example",
            "ftp://hooks.example",
            "HTTPS://hooks.example",
            "https://",
            "https://user@hooks.example",
            "https://user:word@hooks.example",
            "https://good.example\\@bad.example",
            "https://good.example#@bad.example",
            "https://a b.example",
            "https://a.example/\n",
            "https://127.1/",
            "https://0x7f000001/",
            "https://a.example:0/",
            "https://a.example:99999/",
            "https://bücher.example/",
            &long,
        ] {
            assert!(webhook_target(url).is_err(), "{url}");
        }
    }
}
