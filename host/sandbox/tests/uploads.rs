//! Uploads and loads of plugins: a file that is not a plugin for this service is refused with a reason.

use assay_core::id::Digest;
use assay_core::limits;
use assay_sandbox::compile::UploadError;
use assay_sandbox::{Sandbox, Unloadable};

use crate::guests::{compiled, guest, liar};

fn refused(bytes: &[u8], message: &str) {
    let refused = compiled(bytes).expect_err("must be refused");
    assert!(matches!(&refused, UploadError::Refused(why) if why.contains(message)), "{refused}");
}

#[test]
fn a_plugin_says_what_it_is() {
    let compiled = &liar().compiled;
    assert_eq!(compiled.description.name, "liar");
    let stages: Vec<_> = compiled.description.stages.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(stages, ["prepare", "score"]);
    assert_eq!(compiled.digest, Digest::of(&guest("liar")));
    assert_eq!(compiled.compiled_digest, Digest::of(&compiled.bytes));
    assert!(compiled.imports.iter().any(|import| import.starts_with("assay:reward/log@")));
}

#[test]
fn what_is_no_component_is_refused() {
    refused(b"", "no WebAssembly component");
    refused(b"#!/bin/sh\nexit 0\n", "no WebAssembly component");
    refused(b"\0asm\x01\0\0\0", "no WebAssembly component");
    refused(&liar().compiled.bytes, "no WebAssembly component");
    let whole = guest("trivial");
    refused(&whole[..whole.len() / 2], "not valid");
    refused(&vec![0; limits::PLUGIN_BYTES_MAX + 1], "the limit is 134217728");
}

#[test]
fn a_component_that_is_no_plugin_is_refused() {
    refused(b"\0asm\x0d\0\x01\0", "is not a plugin");
}

#[test]
fn a_forbidden_import_is_named() {
    refused(&guest("forbidden_import"), "`assay:forbidden/vault@0.1.0`");
}

#[test]
fn a_description_is_checked() {
    refused(&guest("describe_nonsense"), "`Not A Name!`");
}

#[test]
fn a_description_that_never_comes_is_refused() {
    refused(&guest("describe_spins"), "took longer than 5000 ms");
}

#[test]
fn compiled_bytes_are_verified_before_they_are_trusted() {
    let compiled = &liar().compiled;
    let sandbox = Sandbox::new().expect("a sandbox");
    let expected = compiled.compiled_digest;
    let wrong =
        |bytes: &[u8]| matches!(sandbox.load(bytes, expected), Err(Unloadable::WrongDigest { .. }));
    assert!(wrong(&compiled.bytes[..compiled.bytes.len() - 1]), "truncated");
    let mut flipped = compiled.bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    assert!(wrong(&flipped), "one bit flipped");
    assert!(sandbox.load(&compiled.bytes, expected).is_ok());
}

#[test]
fn what_the_compiler_did_not_write_does_not_load() {
    let sandbox = Sandbox::new().expect("a sandbox");
    let bytes = guest("trivial");
    let problem = sandbox.load(&bytes, Digest::of(&bytes)).err().expect("not compiled");
    assert!(matches!(problem, Unloadable::Engine(_)), "{problem}");
}
