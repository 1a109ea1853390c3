//! Webhooks: addresses that are told of incidents.

use assay_api::webhook::{
    CreateWebhook, Webhook, WebhookDelivery, WebhookDeliveryList, WebhookList,
};
use assay_core::id::WebhookId;
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    /// The webhooks of the tenant, by name.
    pub async fn webhooks(&self) -> Result<WebhookList, Error> {
        self.json(self.request(Method::GET, &["webhooks"]), Repeat::Safe).await
    }

    /// Makes a webhook; the answer has its secret once.
    pub async fn create_webhook(&self, call: &CreateWebhook) -> Result<Webhook, Error> {
        self.json(self.request(Method::POST, &["webhooks"]).json(call), Repeat::Unsafe).await
    }

    /// Removes a webhook with its deliveries.
    pub async fn remove_webhook(&self, webhook: WebhookId) -> Result<(), Error> {
        let path = ["webhooks", &webhook.to_string()];
        self.send(self.request(Method::DELETE, &path), Repeat::Unsafe).await.map(drop)
    }

    /// Sends a message that tells of no incident.
    pub async fn test_webhook(&self, webhook: WebhookId) -> Result<WebhookDelivery, Error> {
        let path = ["webhooks", &webhook.to_string(), "test"];
        self.json(self.request(Method::POST, &path), Repeat::Unsafe).await
    }

    /// The latest deliveries to a webhook.
    pub async fn webhook_deliveries(
        &self,
        webhook: WebhookId,
    ) -> Result<WebhookDeliveryList, Error> {
        let path = ["webhooks", &webhook.to_string(), "deliveries"];
        self.json(self.request(Method::GET, &path), Repeat::Safe).await
    }
}
