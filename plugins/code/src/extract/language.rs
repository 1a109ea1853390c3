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

    /// The run's preference for this name, or the toolchain of this id, or the host's first one for the
    /// language, unless the run prefers another under a synonym.
    pub(crate) fn toolchain(&self, name: &str) -> Option<&'a exec::Toolchain> {
        let name = name.to_lowercase();
        let preferred = self.preferred.get(&name).and_then(|id| self.by_id(id));
        preferred.or_else(|| self.by_id(&name)).or_else(|| {
            let first = self.first(&name)?;
            self.preferred_by_synonym(&name, first).or(Some(first))
        })
    }

    fn first(&self, name: &str) -> Option<&'a exec::Toolchain> {
        let named = |toolchain: &exec::Toolchain| toolchain.languages.iter().any(|one| one == name);
        self.toolchains.iter().find(|toolchain| named(toolchain))
    }

    /// `c++` means what is preferred for `cpp`: both have the same first toolchain, and the preferred one has
    /// both names.
    fn preferred_by_synonym(
        &self,
        name: &str,
        first: &exec::Toolchain,
    ) -> Option<&'a exec::Toolchain> {
        let synonym = |other: &str| self.first(other).is_some_and(|one| one.id == first.id);
        let synonyms = self.preferred.iter().filter(|(other, _)| synonym(other));
        let mut preferred = synonyms.filter_map(|(_, id)| self.by_id(id));
        preferred.find(|toolchain| toolchain.languages.iter().any(|one| one == name))
    }

    /// Whether the name of a block means this toolchain.
    pub(super) fn means(&self, name: &str, toolchain: &exec::Toolchain) -> bool {
        toolchain.id == name
            || toolchain.languages.iter().any(|one| one == name)
            || self.toolchain(name).is_some_and(|meant| meant.id == toolchain.id)
    }

    /// Whether the name of a block means a toolchain that shares a language with this one, as those for
    /// two standards of C++ do.
    pub(super) fn is_akin(&self, name: &str, toolchain: &exec::Toolchain) -> bool {
        let shared = |meant: &exec::Toolchain| {
            meant.languages.iter().any(|language| toolchain.languages.contains(language))
        };
        self.toolchain(name).is_some_and(shared)
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
