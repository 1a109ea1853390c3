//! Write reward plugins in Rust: implement [`Plugin`], call [`export!`], build for
//! `wasm32-wasip2`.
//!
//! ```
//! use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage};
//!
//! struct Exact;
//!
//! impl Plugin for Exact {
//!     fn describe() -> Description {
//!         Description::new("exact", "0.1.0")
//!             .summary("1 when the response is the label, else 0")
//!             .stage(Stage::cpu("score"))
//!     }
//!
//!     fn run_stage(
//!         _stage: &str,
//!         _settings: &str,
//!         request: &Request,
//!         _input: Option<Artifact>,
//!     ) -> Result<Outcome, Error> {
//!         let label: String = request.label_as()?;
//!         Ok(match request.response.trim() == label {
//!             true => Scored::new(1.0, "success").into(),
//!             false => Scored::new(0.0, "wrong").explain(format!("expected {label}")).into(),
//!         })
//!     }
//! }
//!
//! assay_plugin::export!(Exact);
//! # fn main() {
//! let request = Request::new("what is 6 * 7?", " 42 ", r#""42""#);
//! let outcome = Exact::run_stage("score", "{}", &request, None).expect("a reward");
//! assert_eq!(outcome.scored().expect("finished").reward, 1.0);
//! # }
//! ```
//!
//! The crate compiles for the host as well, so that a plugin's tests run natively; only there do
//! log lines go to standard error. It owns no state, and must never reach for a clock, a file or
//! randomness of its own: what a plugin sees is its request.

mod build;
pub mod exec;
mod export;
pub mod gpu;
pub mod http;
pub mod log;
mod read;
pub mod response;
pub mod storage;

pub use bindings::assay::reward::types::{
    Artifact, Component, Description, Error, Outcome, Request, Scored, Stage,
};
pub use export::Plugin;
pub use read::settings_as;

#[doc(hidden)]
pub use export::Exported;

#[doc(hidden)]
#[allow(clippy::all, unreachable_pub, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../wit/reward",
        world: "reward-plugin",
        pub_export_macro: true,
        export_macro_name: "export_component",
        default_bindings_module: "assay_plugin::bindings",
        generate_all,
        // A stage may pass a value from the host to the next stage.
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        additional_derives_ignore: ["compiled", "compile-result"],
    });
}
