//! The messages to webhooks: an incident as JSON, or as a line for a chat; signed as Standard Webhooks 1.0 say.

use assay_api::operations::Incident;
use assay_api::webhook::WebhookForm;
use assay_core::time::Micros;
use assay_store::webhooks::DueDelivery;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::json;

/// The characters of a detail that a chat is shown.
const DETAIL_CHARACTERS_MAX: usize = 500;

/// A message, ready to be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    pub headers: [(&'static str, String); 3],
    pub body: String,
}

/// The message of a try at `at`; `dashboard` is the address of the dashboard.
pub(super) fn message(delivery: &DueDelivery, dashboard: &str, at: Micros) -> Message {
    let link = format!("{dashboard}/in/{}/incidents", delivery.tenant);
    let body = match delivery.form {
        WebhookForm::Json => {
            let kind = if delivery.incident.is_some() { "incident" } else { "test" };
            json!({
                "type": kind,
                "timestamp": at,
                "data": {
                    "webhook": delivery.webhook,
                    "tenant": delivery.tenant,
                    "incident": delivery.incident,
                    "link": link,
                },
            })
        }
        WebhookForm::Slack => json!({ "text": text(delivery, &link) }),
    };
    let body = body.to_string();
    let (id, seconds) = (delivery.id, at.to_datetime().unix_timestamp());
    let key = hmac::Key::new(hmac::HMAC_SHA256, &delivery.secret);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    let headers = [
        ("webhook-id", id.to_string()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", format!("v1,{}", STANDARD.encode(tag))),
    ];
    Message { headers, body }
}

fn text(delivery: &DueDelivery, link: &str) -> String {
    let Some(incident) = &delivery.incident else {
        let webhook = plain(&delivery.webhook);
        return format!(
            "Assay can reach this channel (test of the webhook {webhook}). <{link}|Incidents>"
        );
    };
    let Incident { kind, tenant, run, pool, count, detail, .. } = incident;
    let tenant = tenant.as_deref().unwrap_or("platform");
    let mut about = vec![plain(tenant)];
    about.extend(run.as_deref().map(|run| format!("run {}", plain(run))));
    about.extend(pool.as_deref().map(|pool| format!("pool {}", plain(pool))));
    let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
    let kind = kind.as_str().replace('_', " ");
    let detail: String = plain(detail).chars().take(DETAIL_CHARACTERS_MAX).collect();
    format!("*{kind}*{times} in {}: {detail} <{link}|Incidents>", about.join(", "))
}

/// A text of strangers that a chat shows as it is: no link, no mention of people, no second line.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            // Chats that know mentions without angle brackets see none with an empty letter after the sign.
            '@' => shown.push_str("@\u{200b}"),
            '*' | '_' | '`' | '~' => shown.extend(['\u{200b}', letter]),
            letter if letter.is_control() => shown.push(' '),
            letter => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use assay_api::operations::IncidentKind;
    use serde_json::Value;

    use super::*;

    fn delivery(form: WebhookForm, run: &str) -> DueDelivery {
        let incident = Incident {
            id: 7,
            at: Micros::from_secs(1),
            tenant: Some("demo".into()),
            kind: IncidentKind::BatchLate,
            pool: None,
            batch: None,
            run: Some(run.into()),
            code: None,
            count: 3,
            detail: "it ended 4 s late\n<!channel>".into(),
            acknowledged: None,
        };
        DueDelivery {
            id: 42,
            incident: Some(incident),
            tries: 0,
            webhook: "ops".into(),
            tenant: "demo".into(),
            url: "https://hooks.example/secret".into(),
            form,
            secret: b"the secret of this webhook, 32 b".to_vec(),
            hosts: Vec::new(),
        }
    }

    #[test]
    fn json_has_the_incident_and_a_signature_that_can_be_checked() {
        let delivery = delivery(WebhookForm::Json, "grpo");
        let Message { headers, body } =
            message(&delivery, "https://assay.example", Micros::from_secs(1_700_000_000));
        let said: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(said["type"], "incident");
        assert_eq!(said["data"]["incident"]["kind"], "batch_late");
        assert_eq!(said["data"]["link"], "https://assay.example/in/demo/incidents");
        assert!(!body.contains("hooks.example"), "{body}");
        let [(_, id), (_, seconds), (_, signature)] = headers;
        assert_eq!((&*id, &*seconds), ("42", "1700000000"));
        let tag =
            STANDARD.decode(signature.strip_prefix("v1,").expect("a version")).expect("base64");
        let key = hmac::Key::new(hmac::HMAC_SHA256, &delivery.secret);
        let signed = format!("42.1700000000.{body}");
        assert!(hmac::verify(&key, signed.as_bytes(), &tag).is_ok());
    }

    #[test]
    fn a_chat_shows_what_strangers_wrote_as_it_is() {
        let delivery = delivery(WebhookForm::Slack, "<https://bad.example|run> @everyone *x*");
        let message = message(&delivery, "https://assay.example", Micros::ZERO);
        let said: Value = serde_json::from_str(&message.body).expect("JSON");
        assert_eq!(
            said["text"],
            "*batch late* (3 times) in demo, run &lt;https://bad.example|run&gt; @\u{200b}everyone \
             \u{200b}*x\u{200b}*: it ended 4 s late &lt;!channel&gt; <https://assay.example/in/demo/incidents|Incidents>"
        );
    }
}
