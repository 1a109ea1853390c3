//! What the plugins of this worker may use, made when the first one asks: a worker whose plugins run
//! no programs and read no objects starts and keeps nothing for it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use assay_exec::Exec;
use assay_gpu::compiler::Compiler;
use assay_model::id::TenantId;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::gpu::Device;
use assay_sandbox::capability::http::{Network, Outbound, Secret};
use assay_wire::proto::{self, Grant};
use tokio::sync::mpsc;

use super::storage::{Client, Leased};
use super::wishes::Wish;
use crate::programs;

pub(crate) struct Granted {
    options: programs::Options,
    pool: String,
    cache: PathBuf,
    wishes: mpsc::UnboundedSender<Wish>,
    made: Option<Made>,
}

struct Made {
    exec: Arc<Mutex<Exec>>,
    compiler: Arc<Mutex<Compiler>>,
    device: Device,
    network: Arc<Network>,
    client: Arc<Client>,
}

impl Granted {
    pub(crate) fn new(
        options: programs::Options,
        pool: String,
        cache: PathBuf,
        wishes: mpsc::UnboundedSender<Wish>,
    ) -> Self {
        Self { options, pool, cache, wishes, made: None }
    }

    /// For the stage of this grant, in its tenant's name; the error says why there is nothing.
    pub(crate) fn to(&mut self, grant: &Grant) -> Result<Capabilities, String> {
        let tenant = TenantId::try_from(&grant.tenant_id[..]);
        let tenant = tenant.map_err(|_| "the host did not say whose request it is".to_owned())?;
        let made = match &self.made {
            Some(made) => made,
            None => self.made.insert(self.make()?),
        };
        Ok(Capabilities {
            tenant,
            exec: Arc::clone(&made.exec),
            toolchains: grant.toolchains.as_ref().map(|granted| granted.names.clone().into()),
            storage: Arc::new(Leased::new(Arc::clone(&made.client), tenant, grant.lease)),
            compiler: Arc::clone(&made.compiler),
            device: made.device.clone(),
            network: Arc::clone(&made.network),
            outbound: Arc::new(outbound(grant.outbound.as_ref())?),
        })
    }

    fn make(&self) -> Result<Made, String> {
        let programs = self.options.open(&self.pool, &self.cache).map_err(|problem| {
            tracing::error!(problem = format!("{problem:#}"), "programs cannot be run");
            "this worker has no room for programs and objects".to_owned()
        })?;
        let client = Client::new(self.wishes.clone(), programs.objects);
        Ok(Made {
            exec: programs.exec,
            compiler: programs.compiler,
            device: programs.device,
            network: programs.network,
            client: Arc::new(client),
        })
    }
}

/// The host wrote what it had checked: one that cannot be read is of another version's.
fn outbound(granted: Option<&proto::Outbound>) -> Result<Outbound, String> {
    let Some(granted) = granted else { return Ok(Outbound::default()) };
    let pattern = |host: &String| {
        host.parse().map_err(|problem| format!("a granted host cannot be read: {problem}"))
    };
    let secret = |secret: &proto::Secret| {
        let (name, header) = (secret.name.clone(), secret.header.clone());
        Ok(Secret { name, host: pattern(&secret.host)?, header, value: secret.value.clone() })
    };
    Ok(Outbound {
        hosts: granted.hosts.iter().map(pattern).collect::<Result<_, _>>()?,
        secrets: granted.secrets.iter().map(secret).collect::<Result<_, String>>()?,
    })
}
