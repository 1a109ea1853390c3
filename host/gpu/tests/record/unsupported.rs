use super::*;

static UNSUPPORTED: Source = Source::new(
    include_str!("sources/unsupported.cu"),
    &[
        "to_host",
        "to_host_by_default",
        "from_host",
        "symbol",
        "symbol_address",
        "managed",
        "clocks",
        "graph",
        "reads",
        "writes",
        "outside",
        "shows",
    ],
);

#[test]
fn what_cannot_be_replayed_is_named() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&UNSUPPORTED);
    for (entry, expected) in [
        ("to_host", "cudaMemcpy to the host"),
        ("to_host_by_default", "cudaMemcpy to the host"),
        ("from_host", "cudaMemcpy from the host"),
        ("symbol", "cudaMemcpyToSymbol"),
        ("symbol_address", "cudaGetSymbolAddress"),
        ("managed", "cudaMallocManaged"),
        ("clocks", "cudaEventElapsedTime"),
        ("graph", "cudaGraphCreate"),
        ("reads", "it reads or writes a buffer on the host"),
        ("writes", "it reads or writes a buffer on the host"),
        ("outside", "a kernel's argument points outside of all buffers"),
    ] {
        let trace = fixture.record(&artifact, entry, &[64], &[]).expect(entry);
        assert_eq!(
            (trace.unsupported, trace.steps),
            (vec![expected.to_owned()], vec![]),
            "{entry}"
        );
    }
}

#[test]
fn no_way_leads_to_a_buffers_bytes() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&UNSUPPORTED);
    let trace = fixture.record(&artifact, "shows", &[4_096], &[]).unwrap();
    assert_eq!(launches(&trace)[0].block.x, 1, "nothing was shown");
}

#[test]
fn missing_libraries_are_named() {
    let Some(mut fixture) = Fixture::new() else { return };
    let mut rejected = |source: &str| match fixture.compile(source, &["solve"]) {
        Err(CompileError::Rejected(log)) => log,
        other => panic!("{other:?}"),
    };
    let log = rejected("#include <cublas_v2.h>\nextern \"C\" void solve(float* x) {}");
    assert!(log.starts_with("assay: unsupported: the header cublas_v2.h\n"), "{log}");
    let log = rejected(
        "extern \"C\" int cublasCreate_v2(void**);\n\
         extern \"C\" void solve(float* x) { void* handle; cublasCreate_v2(&handle); }",
    );
    assert!(log.starts_with("assay: unsupported: cublasCreate_v2\n"), "{log}");
    let log = rejected(
        "#include <cuda_runtime.h>\n\
         extern \"C\" void solve(float* x) { cudaIpcMemHandle_t h; cudaIpcGetMemHandle(&h, x); }",
    );
    assert!(log.starts_with("assay: unsupported: cudaIpcGetMemHandle\n"), "{log}");
    let log = rejected("void helper();\nextern \"C\" void solve(float* x) { helper(); }");
    assert!(!log.contains("assay: unsupported") && log.contains("helper"), "{log}");
}
