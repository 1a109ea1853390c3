//! References, by which callers name a version of a plugin.

/// A version of a plugin as a caller names it: `name@channel-or-version`, or `tenant/name@...`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    pub tenant: Option<String>,
    pub name: String,
    pub channel_or_version: String,
}

impl Reference {
    pub fn parse(text: &str) -> Result<Self, String> {
        let explain = || {
            let shown: String = text.chars().take(80).collect();
            format!(
                "`{shown}` names no plugin version; write name@channel or name@version, such as math@prod"
            )
        };
        let (path, channel_or_version) = text.split_once('@').ok_or_else(explain)?;
        let (tenant, name) = match path.split_once('/') {
            Some((tenant, name)) => (Some(tenant.to_owned()), name),
            None => (None, path),
        };
        if name.is_empty() || channel_or_version.is_empty() {
            return Err(explain());
        }
        let channel_or_version = channel_or_version.to_owned();
        Ok(Self { tenant, name: name.into(), channel_or_version })
    }

    /// The error for a reference that leads to nothing.
    pub(crate) fn unknown(&self) -> String {
        let Self { name, channel_or_version, .. } = self;
        match self.is_version() {
            true => format!("there is no version {channel_or_version} of a plugin `{name}`"),
            false => format!("there is no channel `{channel_or_version}` of a plugin `{name}`"),
        }
    }

    /// Versions start with a digit, channels with a letter.
    #[must_use]
    pub fn is_version(&self) -> bool {
        self.channel_or_version.starts_with(|c: char| c.is_ascii_digit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_a_channel_or_a_version() {
        let reference = Reference::parse("team/cuda@prod").expect("valid");
        assert_eq!(reference.tenant.as_deref(), Some("team"));
        assert_eq!(reference.name, "cuda");
        assert!(!reference.is_version());
        let version = Reference::parse("math@1.0.0").expect("valid");
        assert!(version.is_version());
        assert_eq!(reference.unknown(), "there is no channel `prod` of a plugin `cuda`");
        assert_eq!(version.unknown(), "there is no version 1.0.0 of a plugin `math`");
        for bad in ["math", "@prod", "math@", ""] {
            assert!(Reference::parse(bad).is_err(), "{bad}");
        }
    }
}
