//! Publishing: an upload is compiled and checked, its golden cases are run, and then its version is stored.

use std::sync::Arc;

use assay_api::plugin::GoldenCase;
use assay_core::architecture::Architecture;
use assay_core::compilation::PluginReport;
use assay_core::golden::{CaseFile, check_cases};
use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_core::plugin::Description;
use assay_dispatch::now;
use assay_storage::blob::digest_elsewhere;
use assay_store::StoreError;
use assay_store::plugins::{NewPlugin, Published};
use bytes::Bytes;

use crate::cases::{CaseMode, golden_case};
use crate::compile::{Compiled, KnownCode, read_verified};
use crate::error::RegistryError;
use crate::grants::check_grants;
use crate::registry::Registry;
use crate::upload::{AcceptedUpload, Publisher};
use crate::validation::Unusable;

impl Registry {
    /// Compiles and checks a component; nothing is stored of it.
    pub async fn accept(
        &self,
        publisher: &Publisher<'_>,
        component: Bytes,
    ) -> Result<AcceptedUpload, RegistryError> {
        if component.len() > limits::PLUGIN_BYTES_MAX {
            return Err(RegistryError::Refused(format!(
                "the component has {} bytes, the limit is {}",
                component.len(),
                limits::PLUGIN_BYTES_MAX
            )));
        }
        let digest = digest_elsewhere(&component).await;
        let turn = self.compiler.turn(publisher.tenant).await;
        let known = self.known_code(digest).await?;
        let Compiled { report, folder, .. } =
            self.compiler.compile(&turn, &component, known).await?;
        drop(turn);
        let PluginReport { code, description, imports, recalled, .. } = report;
        if recalled {
            let name = description.version_name();
            tracing::info!(%digest, "{name} is compiled already; its code is used again");
        }
        check_grants(&imports, publisher.grants)?;
        self.check_schemas(publisher.tenant, &description, digest).await?;
        Ok(AcceptedUpload {
            description,
            imports,
            digest,
            bytes: component.len() as u64,
            compiled_digest: code.compiled_digest,
            folder,
        })
    }

    /// The code that these bytes were compiled to for this engine before, whoever published them. Code that is missing or
    /// damaged is made anew.
    async fn known_code(&self, component: Digest) -> Result<Option<KnownCode>, RegistryError> {
        let Some(digest) = self.store.compilation(component, self.own_engine()).await? else {
            return Ok(None);
        };
        let code = self.blobs.get(digest).await;
        Ok(code.ok().map(|code| KnownCode { code, digest }))
    }

    /// Publishes an accepted component if no golden case fails. The same bytes again change nothing, and
    /// run no cases.
    pub async fn publish(
        self: &Arc<Self>,
        publisher: Publisher<'_>,
        accepted: AcceptedUpload,
        cases: Vec<CaseFile>,
        runs: CaseMode,
    ) -> Result<(Description, Published), RegistryError> {
        let Publisher { tenant, actor, .. } = publisher;
        let AcceptedUpload { description, digest, bytes, .. } = &accepted;
        if self.store.is_published(tenant, description, *digest).await? {
            // It may be compiled for another engine than the last time.
            self.keep(tenant, &accepted).await?;
            return Ok((accepted.description, Published::Already));
        }
        let cases = self.settle_cases(&publisher, &accepted, cases, runs).await?;
        self.keep(tenant, &accepted).await?;
        let imports = &accepted.imports;
        let (digest, bytes) = (*digest, *bytes);
        let plugin = NewPlugin { tenant, digest, bytes, description, imports, cases: &cases };
        let published = self.store.publish_plugin(plugin, actor, now()).await?;
        Ok((accepted.description, published))
    }

    /// Fails if the schemas cannot be used, unless these bytes were published before schemas were checked.
    async fn check_schemas(
        &self,
        tenant: TenantId,
        description: &Description,
        digest: Digest,
    ) -> Result<(), RegistryError> {
        let Err(why) = self.validations.compile(tenant, description).await else { return Ok(()) };
        let published = self.store.plugin(tenant, &description.name, &description.version).await;
        refuse_schemas(&why, digest, published.map(|row| row.digest))
    }

    /// Stores an accepted component and its compiled forms. Golden cases ran since they were written.
    async fn keep(
        self: &Arc<Self>,
        tenant: TenantId,
        accepted: &AcceptedUpload,
    ) -> Result<(), RegistryError> {
        self.keep_files(accepted).await?;
        for architecture in self.engines().architectures() {
            self.compiled_for(tenant, accepted.digest, architecture).await?;
        }
        Ok(())
    }

    async fn keep_files(&self, accepted: &AcceptedUpload) -> Result<(), RegistryError> {
        let AcceptedUpload { folder, digest, compiled_digest, .. } = accepted;
        let _turn = self.storing.acquire().await.expect("the semaphore is never closed");
        for (file, digest) in
            [(Compiled::component(folder), *digest), (Compiled::file(folder), *compiled_digest)]
        {
            let bytes = read_verified(&file, digest).await?;
            self.blobs.put(bytes).await?;
        }
        self.store.record_compilation(*digest, self.own_engine(), *compiled_digest, now()).await?;
        Ok(())
    }

    fn own_engine(&self) -> &str {
        self.engines().id(Architecture::own())
    }

    /// The cases with their results; an error if one of them failed or could not be run.
    async fn settle_cases(
        &self,
        publisher: &Publisher<'_>,
        accepted: &AcceptedUpload,
        cases: Vec<CaseFile>,
        runs: CaseMode,
    ) -> Result<Vec<GoldenCase>, RegistryError> {
        check_cases(&cases).map_err(|why| RegistryError::Refused(why.to_string()))?;
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let (cases, reports) = match runs {
            CaseMode::Skip => (cases, None),
            CaseMode::Run(grants) => {
                let (cases, reports) = self.cases.run(publisher, accepted, cases, grants).await?;
                (cases, Some(reports))
            }
        };
        let mut settled = Vec::with_capacity(cases.len());
        for (at, case) in cases.into_iter().enumerate() {
            let digest = self.blobs.put(case.text.into()).await?;
            let report = reports.as_ref().map(|reports| reports[at].clone());
            settled.push(golden_case(case.file, digest, report));
        }
        Ok(settled)
    }
}

/// Schemas that cannot be used are no obstacle for the bytes of a version that was published before schemas were
/// checked.
fn refuse_schemas(
    why: &Unusable,
    digest: Digest,
    published: Result<Digest, StoreError>,
) -> Result<(), RegistryError> {
    match published {
        Ok(there) if there == digest => Ok(()),
        Ok(_) | Err(StoreError::NotFound(_)) => Err(RegistryError::Refused(why.to_string())),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_is_down_refuses_no_schema() {
        let (these, others) = (Digest([1; 32]), Digest([2; 32]));
        let refused = |published| refuse_schemas(&Unusable::Broken, these, published);
        assert!(refused(Ok(these)).is_ok());
        for published in [Ok(others), Err(StoreError::NotFound("plugin version"))] {
            assert!(matches!(refused(published), Err(RegistryError::Refused(_))));
        }
        let down = Err(StoreError::Conflict("stands for any other error".into()));
        assert!(matches!(refused(down), Err(RegistryError::Store(_))));
    }

    #[tokio::test]
    async fn what_changed_in_the_meantime_is_not_stored() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("compiled");
        std::fs::write(&file, "native code").expect("written");
        assert!(read_verified(&file, Digest::of(b"native code")).await.is_ok());
        assert!(read_verified(&file, Digest::of(b"other code")).await.is_err());
    }
}
