//! Reading what a plugin is given: JSON texts as the plugin's own types, errors that name the
//! culprit.

use serde::de::DeserializeOwned;

use crate::{Artifact, Error, Outcome, Request, Scored};

impl Request {
    /// The label as a type of the plugin's; a bad request where it is none.
    ///
    /// ```
    /// use assay_plugin::{Error, Request};
    /// let request = Request::new("", "", "[1, 2]");
    /// assert_eq!(request.label_as::<Vec<u32>>()?, [1, 2]);
    /// assert!(matches!(request.label_as::<String>(), Err(Error::BadRequest(_))));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn label_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.label)
            .map_err(|error| Error::bad_request(format!("label: {error}")))
    }

    /// The metadata as a type of the plugin's; a bad request where it is none.
    pub fn metadata_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.metadata)
            .map_err(|error| Error::bad_request(format!("metadata: {error}")))
    }
}

/// The run's settings as a type of the plugin's, usually a struct with `#[serde(default)]`.
///
/// ```
/// use assay_plugin::{Error, settings_as};
///
/// #[derive(serde::Deserialize)]
/// #[serde(default, deny_unknown_fields)]
/// struct Settings {
///     bonus: f64,
/// }
///
/// impl Default for Settings {
///     fn default() -> Self {
///         Self { bonus: 0.5 }
///     }
/// }
///
/// assert_eq!(settings_as::<Settings>("{}")?.bonus, 0.5);
/// assert_eq!(settings_as::<Settings>(r#"{"bonus": 1}"#)?.bonus, 1.0);
/// for wrong in [r#"{"bonnus": 1}"#, "[1]", ""] {
///     assert!(matches!(settings_as::<Settings>(wrong), Err(Error::BadSettings(_))));
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn settings_as<T: DeserializeOwned>(settings: &str) -> Result<T, Error> {
    // A derived struct would be read from an array as well.
    if !settings.trim_start().starts_with('{') {
        return Err(Error::bad_settings("settings are a JSON object"));
    }
    serde_json::from_str(settings).map_err(|error| Error::bad_settings(error.to_string()))
}

impl Artifact {
    /// The bytes as text; an error of the plugin where they are none.
    pub fn as_text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| Error::internal(format!("the artifact is no text: {error}")))
    }

    /// The bytes as JSON of a type of the plugin's; an error of the plugin where they are none.
    pub fn as_json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.bytes)
            .map_err(|error| Error::internal(format!("the artifact does not fit: {error}")))
    }
}

impl Outcome {
    /// The reward, where this is one.
    #[must_use]
    pub fn scored(&self) -> Option<&Scored> {
        match self {
            Self::Scored(scored) => Some(scored),
            Self::Next(_) => None,
        }
    }

    /// The artifact for the next stage; `None` if the request is scored.
    #[must_use]
    pub fn into_next(self) -> Option<Artifact> {
        match self {
            Self::Next(artifact) => Some(artifact),
            Self::Scored(_) => None,
        }
    }
}
