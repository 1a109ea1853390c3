//! `host_object`: a recording program, with what a recording needs beside it. It travels through the
//! plugin, which may hand over anything.

use postcard::{from_bytes, to_allocvec};
use serde::{Deserialize, Serialize};

use crate::compiler::CompileError;
use crate::types::KernelInfo;

/// Its first bytes; the number changes with the fields, and with what program and host say to each other.
const MAGIC: &[u8] = b"assay host object 1\n";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compiler) struct HostObject {
    /// 90 of `sm_90`.
    pub capability: u32,
    /// The kernels of the image, in the order of the program's numbers for them.
    pub kernels: Vec<KernelInfo>,
    #[serde(with = "serde_bytes")]
    pub program: Vec<u8>,
}

impl HostObject {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(to_allocvec(self).expect("lists and numbers can always be written"));
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, CompileError> {
        let object = bytes.strip_prefix(MAGIC).and_then(|bytes| from_bytes(bytes).ok());
        object.ok_or_else(|| {
            CompileError::BadRequest(
                "the host object is none that this version compiled".to_owned(),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_and_nothing_else_does() {
        let object = HostObject { capability: 90, kernels: vec![], program: b"\x7fELF".to_vec() };
        let bytes = object.encode();
        assert_eq!(HostObject::decode(&bytes), Ok(object));
        for bad in [&b""[..], b"\x7fELF", &bytes[1..], &bytes[..bytes.len() - 1]] {
            assert!(matches!(HostObject::decode(bad), Err(CompileError::BadRequest(_))));
        }
    }
}
