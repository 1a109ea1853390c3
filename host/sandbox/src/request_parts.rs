//! The parts of a request that is not sent yet. The host stores them outside the memory of the guest, which may make many
//! requests without a grant and without sending any: so none of them may be long.

use assay_core::limits;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::WasiHttpView;
use wasmtime_wasi_http::p2::bindings::http::types::{
    HostOutgoingRequest as _, Method, OutgoingRequest,
};

/// The interface in the version of the system interface that is linked.
const TYPES: &str = "wasi:http/types@0.2.12";

type Handle = Resource<OutgoingRequest>;
/// Whether the part was taken.
type PartAnswer = (Result<(), ()>,);

/// Puts these in the place of functions that take parts of any length.
pub(crate) fn link<T: WasiHttpView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    types.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store, (request, method): (Handle, Method)| -> wasmtime::Result<PartAnswer> {
            match &method {
                Method::Other(name) if name.len() > limits::HTTP_METHOD_BYTES_MAX => Ok((Err(()),)),
                _ => Ok((store.data_mut().http().set_method(request, method)?,)),
            }
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store,
         (request, authority): (Handle, Option<String>)|
         -> wasmtime::Result<PartAnswer> {
            match is_long(authority.as_deref(), limits::HTTP_AUTHORITY_BYTES_MAX) {
                true => Ok((Err(()),)),
                false => Ok((store.data_mut().http().set_authority(request, authority)?,)),
            }
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-path-with-query",
        |mut store, (request, path): (Handle, Option<String>)| -> wasmtime::Result<PartAnswer> {
            match is_long(path.as_deref(), limits::HTTP_PATH_BYTES_MAX) {
                true => Ok((Err(()),)),
                false => Ok((store.data_mut().http().set_path_with_query(request, path)?,)),
            }
        },
    )
    // A scheme has 64 bytes at most: its parser takes no longer one.
}

fn is_long(part: Option<&str>, bytes_max: usize) -> bool {
    part.is_some_and(|part| part.len() > bytes_max)
}
