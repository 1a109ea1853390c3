//! Plugins, their versions and channels.

use std::time::Duration;

use assay_model::api::{Plugin, PluginList, PromotePlugin, YankPlugin};
use assay_model::limits::COMPILE_SECONDS_MAX;
use bytes::Bytes;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use crate::call::{Client, Repeat, SHORT_CALL};
use crate::error::Error;

impl Client {
    /// Publishes a component; the same bytes again change nothing.
    pub async fn publish(&self, component: Bytes) -> Result<Plugin, Error> {
        let request = self
            .request(Method::POST, &["plugins"])
            .timeout(SHORT_CALL + Duration::from_secs(COMPILE_SECONDS_MAX))
            .header(CONTENT_TYPE, "application/wasm")
            .body(component);
        self.json(request, Repeat::Safe).await
    }

    pub async fn plugins(&self) -> Result<PluginList, Error> {
        self.json(self.request(Method::GET, &["plugins"]), Repeat::Safe).await
    }

    pub async fn plugin_versions(&self, name: &str) -> Result<PluginList, Error> {
        self.json(self.request(Method::GET, &["plugins", name]), Repeat::Safe).await
    }

    /// Points a channel at a version; new runs follow it, running ones keep theirs.
    pub async fn promote(
        &self,
        name: &str,
        channel: &str,
        promote: &PromotePlugin,
    ) -> Result<Plugin, Error> {
        let request = self.request(Method::PUT, &["plugins", name, "channels", channel]);
        self.json(request.json(promote), Repeat::Safe).await
    }

    /// Takes a version out of use for new runs.
    pub async fn yank(
        &self,
        name: &str,
        version: &str,
        yank: &YankPlugin,
    ) -> Result<Plugin, Error> {
        let request = self.request(Method::POST, &["plugins", name, "versions", version, "yank"]);
        self.json(request.json(yank), Repeat::Safe).await
    }
}
