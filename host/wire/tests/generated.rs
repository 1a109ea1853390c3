//! The committed code is what the `.proto` file compiles to. `UPDATE_EXPECT=1 cargo test -p assay-wire`
//! (`make proto`) writes it anew.

use std::path::Path;

#[test]
fn the_generated_code_is_that_of_the_proto_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let proto = root.join("proto");
    let files = protox::compile([proto.join("worker.proto")], [&proto]).expect("a valid file");
    tonic_prost_build::configure()
        .bytes(".")
        .codec_path("crate::codec::BoundedCodec")
        .out_dir(folder.path())
        .compile_fds(files)
        .expect("compiles");
    let read = |path: &Path| std::fs::read_to_string(path).expect("is there");
    let fresh = read(&folder.path().join("assay.worker.v1.rs"));
    let committed = root.join("src/generated/worker.rs");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&committed, &fresh).expect("can be written");
    }
    let same = read(&committed) == fresh;
    assert!(same, "{} is out of date: run `make proto`", committed.display());
}
