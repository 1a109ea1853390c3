//! Makes the capabilities of leases. The services behind them are made for the first plugin that imports a capability:
//! a worker whose plugins import none starts nothing.

use std::path::PathBuf;
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_exec::Exec;
use assay_gpu::compiler::CudaCompiler;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::gpu::StageDevice;
use assay_sandbox::capability::http::{HeaderSecret, Network, Outbound};
use assay_wire::proto::{self, Grant};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::host_request::HostRequest;
use super::storage::{LeasedStorage, StorageClient};
use crate::programs;

pub(crate) struct CapabilityFactory {
    options: programs::ProgramOptions,
    gpus: u8,
    cache: PathBuf,
    host_requests: mpsc::UnboundedSender<HostRequest>,
    made: Option<SharedResources>,
}

struct SharedResources {
    exec: Arc<Mutex<Exec>>,
    compiler: Arc<Mutex<CudaCompiler>>,
    device: StageDevice,
    network: Arc<Network>,
    client: Arc<StorageClient>,
}

impl CapabilityFactory {
    pub(crate) fn new(
        options: programs::ProgramOptions,
        gpus: u8,
        cache: PathBuf,
        host_requests: mpsc::UnboundedSender<HostRequest>,
    ) -> Self {
        Self { options, gpus, cache, host_requests, made: None }
    }

    /// The capabilities of one granted stage, in the name of its tenant; the error says why there are none.
    pub(crate) fn to(&mut self, grant: &Grant) -> Result<Capabilities, String> {
        let tenant = TenantId::try_from(&grant.tenant_id[..]);
        let tenant = tenant.map_err(|_| "the grant names no tenant".to_owned())?;
        let made = match &self.made {
            Some(made) => made,
            None => self.made.insert(self.make()?),
        };
        Ok(Capabilities {
            tenant,
            exec: Arc::clone(&made.exec),
            toolchains: grant.toolchains.as_ref().map(|granted| granted.names.clone().into()),
            storage: Arc::new(LeasedStorage::new(Arc::clone(&made.client), tenant, grant.lease)),
            compiler: Arc::clone(&made.compiler),
            device: made.device.clone(),
            network: Arc::clone(&made.network),
            outbound: Arc::new(outbound(grant)?),
        })
    }

    fn make(&self) -> Result<SharedResources, String> {
        let programs = self.options.open(self.gpus, &self.cache).map_err(|problem| {
            tracing::error!(problem = format!("{problem:#}"), "programs cannot be run");
            "this worker cannot open its caches for programs and objects".to_owned()
        })?;
        let client = StorageClient::new(self.host_requests.clone(), programs.objects);
        Ok(SharedResources {
            exec: programs.exec,
            compiler: programs.compiler,
            device: programs.device,
            network: programs.network,
            client: Arc::new(client),
        })
    }
}

/// The host checked the hosts before: one that cannot be read comes from another version of the host.
fn outbound(grant: &Grant) -> Result<Outbound, String> {
    let Some(granted) = &grant.outbound else { return Ok(Outbound::default()) };
    let pattern = |host: &String| {
        host.parse().map_err(|problem| format!("a granted host cannot be read: {problem}"))
    };
    let secret = |secret: &proto::Secret| {
        let (name, header) = (secret.name.clone(), secret.header.clone());
        Ok(HeaderSecret { name, host: pattern(&secret.host)?, header, value: secret.value.clone() })
    };
    Ok(Outbound {
        hosts: granted.hosts.iter().map(pattern).collect::<Result<_, _>>()?,
        secrets: granted.secrets.iter().map(secret).collect::<Result<_, String>>()?,
        traceparent: grant.traceparent.clone(),
    })
}
