//! Plugins, their versions and channels.

use std::time::Duration;

use assay_api::plugin::{GoldenCaseList, Plugin, PluginList, PromotePlugin, YankPlugin};
use assay_core::golden::CaseFile;
use assay_core::limits::{
    COMPILE_WALL_SECONDS_MAX, GOLDEN_WAIT_SECONDS_MAX, GOLDEN_WALL_SECONDS_MAX,
};
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

/// A component with its golden cases.
#[derive(Debug, Clone)]
pub struct Upload {
    pub component: Bytes,
    pub cases: Vec<CaseFile>,
    /// Whether the server keeps the cases without running them; needs the scope `admin:*`.
    pub skip_cases: bool,
}

/// A text of 128 random bits, which stands in no file.
fn random_boundary() -> String {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the operating system gives random bytes");
    format!("assay-{}", hex::encode(bits))
}

/// The body of a form with a component and its golden cases.
fn form(boundary: &str, component: &[u8], cases: &[CaseFile]) -> Vec<u8> {
    let mut form = Vec::with_capacity(component.len() + 1024);
    let mut part = |name: &str, file: &str, kind: &str, bytes: &[u8]| {
        // As browsers escape names.
        let file = file.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; \
             filename=\"{file}\"\r\nContent-Type: {kind}\r\n\r\n"
        );
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(bytes);
        form.extend_from_slice(b"\r\n");
    };
    part("component", "component.wasm", "application/wasm", component);
    for case in cases {
        part("case", &case.file, "application/yaml", case.text.as_bytes());
    }
    form.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    form
}

impl Client {
    /// The golden cases of a version with their results.
    pub async fn golden_cases(&self, name: &str, version: &str) -> Result<GoldenCaseList, Error> {
        let path = ["plugins", name, "versions", version, "cases"];
        self.json(self.request(Method::GET, &path), Repeat::Safe).await
    }

    /// Publishes a component; publishing the same bytes again changes nothing.
    pub async fn publish(&self, component: Bytes) -> Result<Plugin, Error> {
        let upload = Upload { component, cases: Vec::new(), skip_cases: false };
        Ok(self.publish_noting(upload).await?.0)
    }

    /// Publishes a component with its golden cases and returns whether it was new.
    pub async fn publish_noting(&self, upload: Upload) -> Result<(Plugin, Publication), Error> {
        let Upload { component, cases, skip_cases } = upload;
        let mut seconds = COMPILE_WALL_SECONDS_MAX;
        let request = self.request(Method::POST, &["plugins"]);
        let request = if cases.is_empty() {
            request.header(CONTENT_TYPE, "application/wasm").body(component)
        } else {
            seconds += GOLDEN_WAIT_SECONDS_MAX + GOLDEN_WALL_SECONDS_MAX;
            let boundary = random_boundary();
            let kind = format!("multipart/form-data; boundary={boundary}");
            request.header(CONTENT_TYPE, kind).body(form(&boundary, &component, &cases))
        };
        let request = if skip_cases { request.query(&[("skip_cases", "true")]) } else { request };
        let request = request.timeout(SHORT_CALL + Duration::from_secs(seconds));
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
        Ok(PluginList { items: self.every(&["plugins"], None).await?, next: None })
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
