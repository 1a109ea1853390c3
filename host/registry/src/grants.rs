//! A plugin's imports against the grants of its tenant.

use assay_api::tenant::Grants;
use assay_core::capability::{CAPABILITIES, Grant};

use crate::error::RegistryError;

/// Fails if a plugin with these imports asks for a capability that its tenant was not granted.
pub fn check_grants(imports: &[String], grants: &Grants) -> Result<(), RegistryError> {
    for capability in CAPABILITIES {
        let granted = match capability.grant {
            Grant::Hosts => !grants.hosts.is_empty(),
            Grant::Gpu => grants.gpu,
            Grant::Toolchains => grants.toolchains.as_ref().is_none_or(|names| !names.is_empty()),
            Grant::StorageRoots => true,
        };
        if let Some(import) = capability.imported_by(imports).filter(|_| !granted) {
            let missing = capability.grant.missing();
            return Err(RegistryError::NotGranted(format!(
                "the plugin imports `{import}`, and the tenant was not granted {missing}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_gets_what_its_tenant_was_granted() {
        let refusal = |imports: &[&str], grants: &Grants| {
            let imports: Vec<String> = imports.iter().map(|&import| import.to_owned()).collect();
            match check_grants(&imports, grants) {
                Err(RegistryError::NotGranted(detail)) => Some(detail),
                _ => None,
            }
        };
        let none = Grants { toolchains: Some(Vec::new()), ..Grants::default() };
        let all = Grants { gpu: true, hosts: vec!["api.example.com".into()], ..Grants::default() };
        let some = Grants { toolchains: Some(vec!["cpp17-gcc".into()]), ..Grants::default() };
        let (gpu, exec) = ("assay:gpu/device@0.1.0", "assay:exec/exec@0.1.0");
        assert_eq!(refusal(&["assay:reward/log@0.1.0"], &none), None);
        let (types, http) = ("wasi:http/types@0.2.0", "wasi:http/outgoing-handler@0.2.0");
        assert_eq!(refusal(&[gpu, exec, http], &all), None);
        assert_eq!(refusal(&[types], &none), None);
        let detail = refusal(&[types, http], &none).expect("refused");
        assert!(detail.ends_with("was not granted any host to send requests to"), "{detail}");
        assert_eq!(refusal(&[exec], &some), None);
        let detail = refusal(&[gpu], &some).expect("refused");
        assert!(detail.contains(gpu) && detail.ends_with("was not granted GPUs"), "{detail}");
        let detail = refusal(&[exec], &none).expect("refused");
        assert!(detail.ends_with("was not granted any toolchain"), "{detail}");
    }
}
