//! The trait a plugin implements and the macro that makes a component of it.

use std::marker::PhantomData;

use crate::bindings::exports::assay::reward::plugin::Guest;
use crate::{Artifact, Description, Error, Outcome, Request};

/// A reward plugin. Its functions have no `self`: every call is a fresh instance that sees its
/// arguments and nothing else.
pub trait Plugin {
    /// Describes the plugin. The service calls it once, at upload.
    fn describe() -> Description;

    /// Runs one stage of one request. `settings` is the run's JSON text (see
    /// [`settings_as`](crate::settings_as)); `input` is what the stage before returned as
    /// [`Outcome::Next`], `None` at the first.
    ///
    /// An `Err` is never a reward: it says that there can be none, and whose fault that is.
    fn run_stage(
        stage: &str,
        settings: &str,
        request: &Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error>;
}

/// Stands between a [`Plugin`] and the generated bindings.
#[doc(hidden)]
pub struct Exported<P>(PhantomData<P>);

impl<P: Plugin> Guest for Exported<P> {
    fn describe() -> Description {
        P::describe()
    }

    fn run_stage(
        stage: String,
        settings: String,
        request: Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        P::run_stage(&stage, &settings, &request, input)
    }
}

/// Exports a type that implements [`Plugin`] as the component's `assay:reward/plugin`. Once a
/// crate, at its root.
///
/// A native build only checks the type: the component's names are no symbols of a native library.
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        const _: () = {
            const fn is_plugin<P: $crate::Plugin>() {}
            is_plugin::<$plugin>();
        };

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type ExportedPlugin = $crate::Exported<$plugin>;
            $crate::bindings::export_component!(
                ExportedPlugin with_types_in $crate::bindings
            );
        };
    };
}
