//! Capabilities: the interfaces beyond its request that a plugin may import.
//!
//! [`CAPABILITIES`] is the one list of them. The server checks a plugin's imports against it, the sandbox
//! links its interfaces, and the command line says how a local run differs. The code of a capability is in
//! `host/sandbox/src/call/capability/<name>`.

/// One capability.
#[derive(Debug, PartialEq, Eq)]
pub struct Capability {
    /// The name of its folder in the sandbox, such as `exec`.
    pub name: &'static str,
    /// The capability's interfaces, without their versions.
    pub interfaces: &'static [&'static str],
    /// The permission that a tenant needs.
    pub grant: Grant,
    /// A sentence for a plugin's author: how a run on the author's machine differs from the service.
    pub local_difference: &'static str,
}

/// The permission of a tenant that a capability needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// A grant of at least one host.
    Hosts,
    /// A grant of GPUs.
    Gpu,
    /// A grant of at least one toolchain.
    Toolchains,
    /// A grant of storage; it is checked for each object when it is read.
    StorageRoots,
}

/// Requests to hosts outside.
pub static HTTP: Capability = Capability {
    name: "http",
    interfaces: &["wasi:http/outgoing-handler"],
    grant: Grant::Hosts,
    local_difference: "the plugin sends requests to hosts: from here only to those of --hosts, without \
                       the service's secrets, and they may answer otherwise",
};

/// CUDA kernels, compiled and run.
pub static GPU: Capability = Capability {
    name: "gpu",
    interfaces: &["assay:gpu/compiler", "assay:gpu/device", "assay:gpu/types"],
    grant: Grant::Gpu,
    local_difference: "the plugin uses GPUs: what runs here is this machine's, or --gpu simulated; \
                       times differ",
};

/// Untrusted programs, compiled and run.
pub static EXEC: Capability = Capability {
    name: "exec",
    interfaces: &["assay:exec/exec", "assay:exec/types"],
    grant: Grant::Toolchains,
    local_difference: "the plugin runs programs: they are compiled and run by this machine's toolchains",
};

/// Objects of the tenant's storage roots.
pub static STORAGE: Capability = Capability {
    name: "storage",
    interfaces: &["assay:reward/storage"],
    grant: Grant::StorageRoots,
    local_difference: "the plugin reads storage, and there is none here: give --storage DIR, a \
                       folder with a folder for each root",
};

/// All capabilities, in the order in which missing grants are reported.
pub static CAPABILITIES: [&Capability; 4] = [&HTTP, &GPU, &EXEC, &STORAGE];

impl Capability {
    /// The first of a plugin's imports that belongs to this capability. An import is an interface with or
    /// without its version.
    #[must_use]
    pub fn imported_by<'a>(&self, imports: &'a [String]) -> Option<&'a str> {
        imports.iter().map(String::as_str).find(|import| self.has(import))
    }

    /// Whether an import is one of this capability's interfaces.
    #[must_use]
    pub fn has(&self, import: &str) -> bool {
        let interface = import.split_once('@').map_or(import, |(interface, _)| interface);
        self.interfaces.contains(&interface)
    }

    /// Whether an import is of the package of one of this capability's interfaces, such as `wasi:http/types` beside
    /// `wasi:http/outgoing-handler`.
    #[must_use]
    pub fn has_package_of(&self, import: &str) -> bool {
        let package = |interface: &str| interface.split('/').next().map(str::to_owned);
        self.interfaces.iter().any(|interface| package(interface) == package(import))
    }
}

impl Grant {
    /// The end of the sentence "the tenant was not granted ..." in an error: the permission that is
    /// missing.
    #[must_use]
    pub const fn missing(self) -> &'static str {
        match self {
            Self::Hosts => "any host to send requests to",
            Self::Gpu => "GPUs",
            Self::Toolchains => "any toolchain",
            Self::StorageRoots => "any storage root",
        }
    }
}

/// The capability that an import belongs to.
#[must_use]
pub fn of_import(import: &str) -> Option<&'static Capability> {
    CAPABILITIES.into_iter().find(|capability| capability.has(import))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_belongs_to_one_capability() {
        assert_eq!(of_import("assay:exec/exec@0.1.0"), Some(&EXEC));
        assert_eq!(of_import("wasi:http/outgoing-handler@0.2.0"), Some(&HTTP));
        assert_eq!(of_import("wasi:http/types@0.2.0"), None);
        assert!(HTTP.has_package_of("wasi:http/types") && !HTTP.has_package_of("wasi:io/poll"));
        assert_eq!(of_import("assay:reward/log@0.1.0"), None);
        for capability in CAPABILITIES {
            for interface in capability.interfaces {
                assert_eq!(of_import(interface), Some(capability));
            }
        }
    }

    #[test]
    fn imports_are_found_with_their_versions() {
        let imports = ["assay:reward/log@0.1.0".to_owned(), "assay:gpu/types@0.1.0".to_owned()];
        assert_eq!(GPU.imported_by(&imports), Some("assay:gpu/types@0.1.0"));
        assert_eq!(STORAGE.imported_by(&imports), None);
    }
}
