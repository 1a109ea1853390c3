//! Problem packages in storage: whoever wrote them, the worker unpacks them. The first byte chooses between a Kattis
//! package and a DMOJ package, whose files follow, each after a line `=== PATH`, and a DMOJ package with an archive,
//! whose bytes follow.
//!
//! A package is read, or refused as a bad request with a short reason, and the same way when it is read again.

#![no_main]

use std::collections::BTreeMap;

use assay_plugin::{Artifact, Error, Request};
use assay_plugin_code::run_stage;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

#[path = "code/world.rs"]
mod world;

use world::{Files, Refusing};

const INIT: &[u8] =
    b"archive: all.zip\ntest_cases:\n- {in: 1.in, out: 1.out}\n- {in: 2.in, out: 2.out}\n";
const REASON_BYTES_MAX: usize = 64 << 10;

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let (format, files) = match kind % 3 {
        0 => ("kattis", files(rest)),
        1 => ("dmoj", files(rest)),
        _ => {
            let archive = [
                ("root/p/init.yml".into(), INIT.to_vec()),
                ("root/p/all.zip".into(), rest.to_vec()),
            ];
            ("dmoj", BTreeMap::from(archive))
        }
    };
    let files = Files(files);
    let label = json!({"problem": "root/p", "format": format}).to_string();
    let request = Request::new("", "", &label);
    let read = || {
        let program = json!({"toolchain": "cpp17-gcc", "code": "", "origin": "", "key": null});
        let program = Artifact::json(&program).expect("JSON can be written");
        // The package is read where the response does not compile, as every response here.
        run_stage((&Refusing, &files), "compile", "{}", &request, Some(program))
    };
    let outcome = read();
    assert_eq!(format!("{outcome:?}"), format!("{:?}", read()));
    match outcome {
        Ok(outcome) => assert_eq!(outcome.scored().expect("a verdict").verdict, "compile_failed"),
        Err(Error::BadRequest(why)) => {
            assert!(why.len() <= REASON_BYTES_MAX, "{} bytes", why.len())
        }
        Err(other) => panic!("{other:?}"),
    }
});

fn files(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_prefix(b"=== ").and_then(|path| std::str::from_utf8(path).ok())
        else {
            continue;
        };
        let mut content = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with(b"=== ")) {
            content.extend_from_slice(line);
        }
        files.insert(format!("root/p/{}", path.trim_end()), content);
    }
    files
}
