//! Plugins, their versions and channels.

use std::time::Duration;

use assay_api::plugin::{Plugin, PluginList, PromotePlugin, YankPlugin};
use assay_core::limits::COMPILE_SECONDS_MAX;
use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};

use crate::call::{Client, Repeat, SHORT_CALL};
use crate::error::Error;

/// The time limit of transfers of components, which have up to 128 MiB.
const DOWNLOAD_CALL: Duration = Duration::from_secs(600);

/// Whether a publication changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    New,
    /// The same bytes were published before under this name and version.
    Already,
}

impl Client {
    /// Publishes a component; publishing the same bytes again changes nothing.
    pub async fn publish(&self, component: Bytes) -> Result<Plugin, Error> {
        Ok(self.publish_noting(component).await?.0)
    }

    /// Publishes a component and returns whether it was new.
    pub async fn publish_noting(&self, component: Bytes) -> Result<(Plugin, Publication), Error> {
        let request = self
            .request(Method::POST, &["plugins"])
            .timeout(SHORT_CALL + Duration::from_secs(COMPILE_SECONDS_MAX))
            .header(CONTENT_TYPE, "application/wasm")
            .body(component);
        let response = self.send(request, Repeat::Safe).await?;
        let publication = match response.status() {
            StatusCode::CREATED => Publication::New,
            _ => Publication::Already,
        };
        Ok((self.parse(&self.body(response).await?)?, publication))
    }

    /// The bytes of a version.
    pub async fn component(&self, name: &str, version: &str) -> Result<Bytes, Error> {
        let path = ["plugins", name, "versions", version, "component"];
        let request = self.request(Method::GET, &path).timeout(DOWNLOAD_CALL);
        self.body(self.send(request, Repeat::Safe).await?).await
    }

    /// Points a channel to the version that it had before.
    pub async fn roll_back(&self, name: &str, channel: &str) -> Result<Plugin, Error> {
        let path = ["plugins", name, "channels", channel, "rollback"];
        self.json(self.request(Method::POST, &path), Repeat::Unsafe).await
    }

    pub async fn plugins(&self) -> Result<PluginList, Error> {
        self.json(self.request(Method::GET, &["plugins"]), Repeat::Safe).await
    }

    pub async fn plugin_versions(&self, name: &str) -> Result<PluginList, Error> {
        self.json(self.request(Method::GET, &["plugins", name]), Repeat::Safe).await
    }

    /// Points a channel to a version; active runs keep their version.
    pub async fn promote(
        &self,
        name: &str,
        channel: &str,
        promote: &PromotePlugin,
    ) -> Result<Plugin, Error> {
        let request = self.request(Method::PUT, &["plugins", name, "channels", channel]);
        self.json(request.json(promote), Repeat::Safe).await
    }

    /// Withdraws a version, so that new runs cannot use it.
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
