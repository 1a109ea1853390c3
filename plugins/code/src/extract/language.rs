//! Which toolchain the name of a language means.

use std::collections::BTreeMap;

use assay_plugin::{Error, exec};

/// The host's toolchains and the run's preferences among them.
pub(crate) struct Languages<'a> {
    toolchains: &'a [exec::Toolchain],
    preferred: &'a BTreeMap<String, String>,
}

impl<'a> Languages<'a> {
    /// Bad settings where a preferred toolchain is not there.
    pub(crate) fn new(
        toolchains: &'a [exec::Toolchain],
        preferred: &'a BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let languages = Self { toolchains, preferred };
        match preferred.iter().find(|(_, id)| languages.by_id(id).is_none()) {
            None => Ok(languages),
            Some((language, id)) => Err(Error::bad_settings(format!(
                "toolchains.{language}: there is no toolchain `{id}` here, but {}",
                languages.ids()
            ))),
        }
    }

    fn by_id(&self, id: &str) -> Option<&'a exec::Toolchain> {
        self.toolchains.iter().find(|toolchain| toolchain.id == id)
    }

    fn ids(&self) -> String {
        let ids: Vec<&str> = self.toolchains.iter().map(|one| one.id.as_str()).collect();
        ids.join(", ")
    }

    /// The toolchain of this id, or the run's preference for this language, or the host's first toolchain
    /// for it.
    pub(crate) fn toolchain(&self, name: &str) -> Option<&'a exec::Toolchain> {
        let name = name.to_lowercase();
        let preferred = self.preferred.get(&name).and_then(|id| self.by_id(id));
        preferred.or_else(|| self.by_id(&name)).or_else(|| {
            self.toolchains.iter().find(|toolchain| toolchain.languages.contains(&name))
        })
    }

    /// The toolchain that the label names, else the one that the settings name.
    pub(super) fn wanted(
        &self,
        of_label: Option<&str>,
        of_settings: Option<&str>,
    ) -> Result<Option<&'a exec::Toolchain>, Error> {
        let Some(name) = of_label.or(of_settings) else { return Ok(None) };
        let unknown = || format!("there is no language or toolchain `{name}`, but {}", self.ids());
        self.toolchain(name).map(Some).ok_or_else(|| match of_label {
            Some(_) => Error::bad_request(format!("label: {}", unknown())),
            None => Error::bad_settings(format!("language: {}", unknown())),
        })
    }
}

/// Whether the name of a block is one of this toolchain's.
pub(super) fn is_named(toolchain: &exec::Toolchain, name: &str) -> bool {
    toolchain.id == name || toolchain.languages.iter().any(|language| language == name)
}
