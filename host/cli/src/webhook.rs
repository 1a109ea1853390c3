//! `assay webhook`.

use std::process::ExitCode;

use anyhow::Context as _;
use assay_api::operations::IncidentKind;
use assay_api::webhook::{CreateWebhook, Webhook, WebhookDelivery, WebhookForm};
use assay_client::Client;
use assay_core::id::WebhookId;
use clap::Subcommand;

use super::table::table;
use super::{ClientOptions, incident};

#[derive(clap::Args)]
pub(super) struct WebhookCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: WebhookVerb,
}

#[derive(Subcommand)]
enum WebhookVerb {
    /// Tell an address of incidents; prints the key of the signatures once
    Add {
        /// Name of the webhook
        name: String,
        /// Address that messages are posted to; its host must be granted to your tenant
        #[arg(value_name = "URL")]
        address: String,
        /// Send lines for a chat (Slack, Mattermost, Discord's /slack addresses) instead of incidents as JSON
        #[arg(long)]
        slack: bool,
        /// Kinds of incidents, such as batch_late,requests_failed [default: all]
        #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = incident::kind)]
        kinds: Vec<IncidentKind>,
        /// Tell of the platform's incidents too; needs a key of the tenant `platform` with the scope platform:*
        #[arg(long)]
        platform: bool,
    },
    /// List the webhooks of your tenant
    Ls,
    /// Remove a webhook
    Rm {
        /// Name of the webhook
        name: String,
    },
    /// Send a test message
    Test {
        /// Name of the webhook
        name: String,
    },
    /// List the latest messages to a webhook, and whether they arrived
    Deliveries {
        /// Name of the webhook
        name: String,
    },
}

pub(super) async fn run(options: WebhookCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let format = options.client.format;
    match options.verb {
        WebhookVerb::Add { name, address, slack, kinds, platform } => {
            let form = if slack { WebhookForm::Slack } else { WebhookForm::Json };
            let call = CreateWebhook { name, url: address, form, kinds, platform };
            let made = client.create_webhook(&call).await?;
            format.print(&made, added)?;
        }
        WebhookVerb::Ls => {
            format.print(&client.webhooks().await?, |list| text(&list.items))?;
        }
        WebhookVerb::Rm { name } => client.remove_webhook(find(&client, &name).await?).await?,
        WebhookVerb::Test { name } => {
            let delivery = client.test_webhook(find(&client, &name).await?).await?;
            let how = format!("`assay webhook deliveries {name}` tells whether it arrived");
            format.print(&delivery, |_| format!("it is on its way; {how}\n"))?;
        }
        WebhookVerb::Deliveries { name } => {
            let list = client.webhook_deliveries(find(&client, &name).await?).await?;
            format.print(&list, |list| deliveries(&list.items))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(client: &Client, name: &str) -> anyhow::Result<WebhookId> {
    let webhooks = client.webhooks().await?.items;
    let found = webhooks.iter().find(|webhook| webhook.name == name);
    found.map(|webhook| webhook.id).with_context(|| {
        format!("there is no webhook called `{name}`; `assay webhook ls` lists them")
    })
}

fn added(Webhook { name, secret, .. }: &Webhook) -> String {
    let secret = secret.as_deref().unwrap_or_default();
    format!(
        "the webhook {name} is told of incidents from now on\n\
         its messages are signed with {secret}\n\
         (shown once; `assay webhook test {name}` sends a message)\n"
    )
}

fn text(webhooks: &[Webhook]) -> String {
    const HEAD: [&str; 6] = ["NAME", "TO", "FORM", "KINDS", "PLATFORM", "LATEST"];
    let row = |webhook: &Webhook| {
        let kinds: Vec<_> = webhook.kinds.iter().map(|kind| kind.as_str()).collect();
        [
            webhook.name.clone(),
            webhook.to.clone(),
            webhook.form.as_str().into(),
            if kinds.is_empty() { "all".into() } else { kinds.join(",") },
            if webhook.platform { "yes".into() } else { "no".into() },
            webhook.latest.as_ref().map_or_else(|| "none yet".into(), state),
        ]
    };
    table(HEAD, webhooks.iter().map(row))
}

fn deliveries(deliveries: &[WebhookDelivery]) -> String {
    const HEAD: [&str; 5] = ["ID", "MADE", "KIND", "TRIES", "STATE"];
    let row = |delivery: &WebhookDelivery| {
        [
            delivery.id.to_string(),
            delivery.made_at.to_string(),
            delivery.kind.map_or("test", IncidentKind::as_str).into(),
            delivery.tries.to_string(),
            state(delivery),
        ]
    };
    table(HEAD, deliveries.iter().map(row))
}

fn state(delivery: &WebhookDelivery) -> String {
    let mut words = delivery.state.as_str().to_owned();
    if let Some(error) = &delivery.error {
        words = format!("{words}: {error}");
    }
    if let Some(at) = delivery.next_try_at.filter(|_| delivery.tries > 0) {
        words = format!("{words}; next try {at}");
    }
    words
}

#[cfg(test)]
mod tests {
    use assay_api::webhook::DeliveryState;
    use assay_core::time::Micros;

    use super::*;

    #[test]
    fn a_list_says_what_went_wrong() {
        let latest = WebhookDelivery {
            id: 3,
            kind: Some(IncidentKind::BatchLate),
            made_at: Micros::ZERO,
            state: DeliveryState::Waiting,
            tries: 1,
            error: Some("the receiver answered 500".into()),
            next_try_at: Some(Micros::from_secs(10)),
        };
        let webhook = Webhook {
            id: WebhookId(uuid::Uuid::nil()),
            name: "ops".into(),
            to: "https://hooks.example".into(),
            form: WebhookForm::Slack,
            kinds: Vec::new(),
            platform: false,
            created_at: Micros::ZERO,
            created_by: "ada".into(),
            secret: None,
            latest: Some(latest.clone()),
        };
        let expected = "\
NAME  TO                     FORM   KINDS  PLATFORM  LATEST
ops   https://hooks.example  slack  all    no        waiting: the receiver answered 500; next try 1970-01-01T00:00:10Z
";
        assert_eq!(text(&[webhook]), expected);
        let expected = "\
ID  MADE                  KIND        TRIES  STATE
3   1970-01-01T00:00:00Z  batch_late  1      waiting: the receiver answered 500; next try 1970-01-01T00:00:10Z
";
        assert_eq!(deliveries(&[latest]), expected);
    }
}
