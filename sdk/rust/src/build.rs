//! Making the things a plugin returns: defaults, then what differs.

use serde::Serialize;

use crate::{Artifact, Component, Description, Error, Outcome, Request, Scored, Stage};

impl Description {
    /// A deterministic plugin without stages, schemas or summary; a stage that times out is worth
    /// 0. Add at least one [`stage`](Self::stage).
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            summary: String::new(),
            stages: Vec::new(),
            settings_schema: String::new(),
            label_schema: String::new(),
            timeout_reward: 0.0,
            deterministic: true,
        }
    }

    /// One line for people.
    #[must_use]
    pub fn summary(mut self, summary: &str) -> Self {
        self.summary = summary.into();
        self
    }

    /// Adds a stage; they run in the order they were added.
    #[must_use]
    pub fn stage(mut self, stage: Stage) -> Self {
        self.stages.push(stage);
        self
    }

    /// JSON schema of the settings a run may give.
    #[must_use]
    pub fn settings_schema(mut self, schema: &str) -> Self {
        self.settings_schema = schema.into();
        self
    }

    /// JSON schema of `label`.
    #[must_use]
    pub fn label_schema(mut self, schema: &str) -> Self {
        self.label_schema = schema.into();
        self
    }

    /// The reward of a request one of whose stages ran into its timeout.
    #[must_use]
    pub fn timeout_reward(mut self, reward: f64) -> Self {
        self.timeout_reward = reward;
        self
    }

    /// The same input may give another reward: the platform then never shares a computation.
    #[must_use]
    pub fn nondeterministic(mut self) -> Self {
        self.deterministic = false;
        self
    }
}

impl Stage {
    /// A stage on the pool `cpu`, with a timeout of 1 s, 64 MiB of memory and no retries.
    #[must_use]
    pub fn cpu(name: &str) -> Self {
        Self::on(name, "cpu")
    }

    /// A stage on the pool `gpu`, with the defaults of [`Stage::cpu`].
    #[must_use]
    pub fn gpu(name: &str) -> Self {
        Self::on(name, "gpu")
    }

    /// A stage on an operator's own pool, with the defaults of [`Stage::cpu`].
    #[must_use]
    pub fn on(name: &str, pool: &str) -> Self {
        Self {
            name: name.into(),
            pool: pool.into(),
            timeout_ms: 1_000,
            memory_bytes_max: 64 << 20,
            retries_max: 0,
        }
    }

    /// The stage's limit of processor time and of the time that it waits for others, in milliseconds.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = timeout_ms;
        self
    }

    #[must_use]
    pub fn memory_mib_max(mut self, mib: u32) -> Self {
        self.memory_bytes_max = u64::from(mib) << 20;
        self
    }

    /// How often the platform tries again after [`Error::Unavailable`].
    #[must_use]
    pub fn retries_max(mut self, retries: u32) -> Self {
        self.retries_max = retries;
        self
    }
}

impl Scored {
    /// A finite reward and the plugin's word for what happened.
    ///
    /// ```
    /// use assay_plugin::{Outcome, Scored};
    /// let scored = Scored::new(0.5, "partly").component("exact", 0.0).explain("1 of 2 cases");
    /// assert_eq!(Outcome::from(scored.clone()).scored(), Some(&scored));
    /// ```
    #[must_use]
    pub fn new(reward: f64, verdict: &str) -> Self {
        Self { reward, verdict: verdict.into(), components: Vec::new(), explanation: String::new() }
    }

    /// One of the parts the reward was made from.
    #[must_use]
    pub fn component(mut self, name: &str, value: f64) -> Self {
        self.components.push(Component { name: name.into(), value });
        self
    }

    /// For the person who asks why.
    #[must_use]
    pub fn explain(mut self, explanation: impl Into<String>) -> Self {
        self.explanation = explanation.into();
        self
    }
}

impl From<Scored> for Outcome {
    fn from(scored: Scored) -> Self {
        Self::Scored(scored)
    }
}

impl From<Artifact> for Outcome {
    fn from(artifact: Artifact) -> Self {
        Self::Next(artifact)
    }
}

impl Artifact {
    /// Bytes of the plugin's own format.
    #[must_use]
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { content_type: "application/octet-stream".into(), bytes: bytes.into() }
    }

    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content_type: "text/plain; charset=utf-8".into(), bytes: text.into().into_bytes() }
    }

    /// `value` as JSON; an internal error where it has no JSON form.
    ///
    /// ```
    /// use assay_plugin::Artifact;
    /// let artifact = Artifact::json(&vec![1, 2, 3])?;
    /// assert_eq!(artifact.as_json::<Vec<u32>>()?, [1, 2, 3]);
    /// # Ok::<(), assay_plugin::Error>(())
    /// ```
    pub fn json<T: Serialize>(value: &T) -> Result<Self, Error> {
        let bytes = serde_json::to_vec(value)
            .map_err(|error| Error::internal(format!("cannot write the artifact: {error}")))?;
        Ok(Self { content_type: "application/json".into(), bytes })
    }
}

impl Error {
    /// The request can have no reward: a missing or malformed label, say.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::BadRequest(message.into())
    }

    /// The run's settings make no sense.
    #[must_use]
    pub fn bad_settings(message: impl Into<String>) -> Self {
        Self::BadSettings(message.into())
    }

    /// Something the plugin needs is not there just now; the platform may try again.
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::Unavailable(message.into())
    }

    /// The plugin's own fault.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::Internal(message.into())
    }

    /// For the arm of `run_stage` that no described stage reaches.
    #[must_use]
    pub fn unknown_stage(stage: &str) -> Self {
        Self::Internal(format!("there is no stage `{stage}`"))
    }
}

impl Request {
    /// A first attempt without group or metadata, for tests. `label` is JSON text.
    #[must_use]
    pub fn new(prompt: &str, response: &str, label: &str) -> Self {
        Self {
            id: "test".into(),
            group: None,
            prompt: prompt.into(),
            response: response.into(),
            label: label.into(),
            metadata: "null".into(),
            attempt: 1,
            seed: 0,
        }
    }
}
