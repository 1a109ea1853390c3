//! `wasi:http/outgoing-handler`: requests to the hosts that the tenant was granted.
//!
//! The host does here what a plugin must not be trusted with: it looks names up, once, checks every
//! address, connects to one that it checked, verifies certificates, counts, and ends what takes too long.
//! Redirects are answers like others. No proxy, no cookie and no credential but a secret that the plugin
//! names (see [`HeaderSecret`]), which it never sees.

mod answer;
mod budget;
mod lookups;
mod refused;
mod send;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, OnceLock};

use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::outbound::{HostPattern, Target, grant};
use http::HeaderName;
use http::header::{EXPECT, TE, TRAILER};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use wasmtime::component::ResourceTable;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView,
    WasiHttpHooks,
};

use crate::latest_end::LatestEnd;
use budget::HttpBudget;
use lookups::Lookups;
use refused::RefusalNotes;

/// The addresses of a name. May block.
pub type Resolve = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// How this machine sends requests, for all calls of a process.
#[derive(Clone)]
pub struct Network {
    resolve: Resolve,
    lookups: Arc<Lookups>,
    tls: OnceLock<TlsConnector>,
    /// Beside the public ones: an operator's own.
    roots: Vec<CertificateDer<'static>>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network with {} further roots", self.roots.len())
    }
}

impl Network {
    /// The machine's own resolver, and the authorities that browsers trust.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Arc::new(|name| {
            Ok((name, 0).to_socket_addrs()?.map(|found| found.ip()).collect())
        }))
    }

    /// Uses a resolver of the caller.
    #[must_use]
    pub fn with(resolve: Resolve) -> Self {
        Self { resolve, lookups: Arc::default(), tls: OnceLock::new(), roots: Vec::new() }
    }

    /// Trusts these authorities as well, certificates in PEM.
    pub fn trust(mut self, pem: &[u8]) -> Result<Self, String> {
        let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        self.roots = roots.map_err(|problem| format!("these are no certificates: {problem}"))?;
        if self.roots.is_empty() {
            return Err("there is no certificate in PEM here".into());
        }
        Ok(self)
    }

    fn tls(&self) -> TlsConnector {
        let made = self.tls.get_or_init(|| {
            let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
            roots.add_parsable_certificates(self.roots.iter().cloned());
            let provider = Arc::new(crypto::ring::default_provider());
            let config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .expect("the provider has suites for every version")
                .with_root_certificates(roots)
                .with_no_client_auth();
            TlsConnector::from(Arc::new(config))
        });
        made.clone()
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::new()
    }
}

/// The hosts that a tenant's plugins may send requests to, and the secrets for them.
#[derive(Debug, Clone, Default)]
pub struct Outbound {
    pub hosts: Vec<HostPattern>,
    pub secrets: Vec<HeaderSecret>,
    /// The header by which other hosts continue the trace of the request, if it is traced.
    pub traceparent: Option<String>,
}

/// A header that the sandbox puts on a request which names it (`assay-secret: NAME`) and goes to its
/// host.
#[derive(Clone)]
pub struct HeaderSecret {
    pub name: String,
    pub host: HostPattern,
    pub header: String,
    pub value: String,
}

impl fmt::Debug for HeaderSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "secret `{}`", self.name)
    }
}

impl Outbound {
    /// Whether it may go there at all, and then whether to addresses that are not public.
    fn allows(&self, target: &Target) -> Option<bool> {
        grant(&self.hosts, target)
    }
}

/// The interface during one call.
pub(crate) struct Requests {
    context: WasiHttpCtx,
    sent: HttpHooks,
}

#[derive(Default)]
struct HttpHooks {
    /// `None`: every request is refused.
    granted: Option<HttpGrant>,
    notes: RefusalNotes,
}

#[derive(Clone)]
struct HttpGrant {
    tenant: TenantId,
    outbound: Arc<Outbound>,
    network: Arc<Network>,
    budget: Arc<HttpBudget>,
    notes: RefusalNotes,
    /// The latest end of requests and sleeps.
    end: Arc<LatestEnd>,
}

impl Requests {
    /// The requests of a call that may send none.
    pub(crate) fn refused() -> Self {
        let mut context = WasiHttpCtx::new();
        context.set_field_size_limit(limits::HTTP_HEADER_BYTES_MAX);
        Self { context, sent: HttpHooks::default() }
    }

    /// The requests of a call of this tenant, which end at `end`.
    pub(crate) fn granted(
        tenant: TenantId,
        outbound: Arc<Outbound>,
        network: Arc<Network>,
        end: Arc<LatestEnd>,
    ) -> Self {
        let mut requests = Self::refused();
        requests.sent.granted = Some(HttpGrant {
            tenant,
            outbound,
            network,
            budget: Arc::new(HttpBudget::new()),
            notes: requests.sent.notes.clone(),
            end,
        });
        requests
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        let Self { context, sent } = self;
        WasiHttpCtxView { ctx: context, table, hooks: sent }
    }

    /// The latest end of a wait for something other than an answer; `None` if the call never waits.
    pub(crate) fn latest_end(&self) -> Option<Arc<LatestEnd>> {
        self.sent.granted.as_ref().map(|granted| Arc::clone(&granted.end))
    }

    /// The hosts and secrets that requests named without a grant, in words.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.sent.notes.missing()
    }

    /// Why requests were refused, for the plugin's log.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.sent.notes.into_lines()
    }
}

type Answered = (http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl WasiHttpHooks for HttpHooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        DEFAULT_FORBIDDEN_HEADERS.contains(name) || [EXPECT, TE, TRAILER].contains(name)
    }

    /// Always false: the Host header is made from the address alone.
    fn set_host_header(&mut self) -> bool {
        false
    }

    /// With the default of a MiB, a guest would have the host store two MiB for each request that it never sends.
    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        limits::HTTP_WRITE_BYTES_MAX
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Answered, Error>> + Send> {
        let granted = self.granted.clone();
        if granted.is_none() {
            self.notes.add("no requests are sent from here");
        }
        Box::new(async move {
            let granted = granted.ok_or(Error::HttpRequestDenied)?;
            send::send(&granted, request, options.unwrap_or_default()).await
        })
    }
}
