use super::*;

static HOSTILE: Source = Source::new(
    include_str!("sources/hostile.cu"),
    &[
        "endless",
        "sleeping",
        "hog",
        "bomb",
        "thread",
        "deep",
        "leaves",
        "fails",
        "aborts",
        "null",
        "throws",
        "throws_number",
        "talks",
        "forges_own",
        "forges_kernel",
        "forges_buffer",
        "forges_nonsense",
        "fills",
        "folder",
        "looks",
    ],
);

fn ended(fixture: &mut Fixture, entry: &str) -> Result<RecordedTrace, CompileError> {
    let artifact = fixture.shared(&HOSTILE);
    fixture.record(&artifact, entry, &[64], &[])
}

#[test]
fn limits_end_it() {
    let Some(mut fixture) = Fixture::new() else { return };
    assert_eq!(ended(&mut fixture, "endless"), Err(CompileError::TimedOut));
    assert_eq!(ended(&mut fixture, "sleeping"), Err(CompileError::TimedOut));
    assert_eq!(ended(&mut fixture, "hog"), Err(CompileError::OutOfMemory));
    // It is refused every other process, and goes on trying.
    assert_eq!(ended(&mut fixture, "bomb"), Err(CompileError::TimedOut));
}

#[test]
fn what_ends_by_itself_has_crashed() {
    let Some(mut fixture) = Fixture::new() else { return };
    for (entry, expected) in [
        ("leaves", "it ended before the function returned"),
        ("fails", "it ended as Exited(3)"),
        ("aborts", "signal 6"),
        ("null", "signal 11"),
        ("throws", "it threw an exception: say 'no'"),
        ("throws_number", "it threw an exception: something that is no std::exception"),
        ("thread", "it threw an exception: Resource temporarily unavailable"),
        ("talks", "it wrote without end"),
        ("folder", "it ended as Exited(70)"),
    ] {
        match ended(&mut fixture, entry) {
            Err(CompileError::Crashed(said)) => {
                assert!(said.starts_with(expected), "{entry}: {said}")
            }
            other => panic!("{entry}: {other:?}"),
        }
    }
    let deep = ended(&mut fixture, "deep");
    assert!(matches!(deep, Err(CompileError::Crashed(_) | CompileError::OutOfMemory)), "{deep:?}");
}

#[test]
fn a_forged_trace_gains_nothing() {
    let Some(mut fixture) = Fixture::new() else { return };
    let own = ended(&mut fixture, "forges_own").unwrap();
    assert_eq!((launches(&own)[0].grid.x, launches(&own)[0].args[0].clone()), (9, address(0, 0)));
    for (entry, expected) in [
        ("forges_kernel", "it left a trace with a kernel that is not in the image"),
        ("forges_buffer", "it left a trace with a buffer that there is not"),
        ("forges_nonsense", "it left a trace that makes no sense"),
    ] {
        assert_eq!(
            ended(&mut fixture, entry),
            Err(CompileError::Crashed(expected.into())),
            "{entry}"
        );
    }
    let fills = ended(&mut fixture, "fills");
    assert!(
        matches!(
            fills,
            Err(CompileError::Crashed(_) | CompileError::OutOfMemory | CompileError::TooLarge(_))
        ),
        "{fills:?}"
    );
}

#[test]
fn there_is_nothing_to_be_had() {
    let Some(mut fixture) = Fixture::new() else { return };
    let trace = ended(&mut fixture, "looks").unwrap();
    assert_eq!(launches(&trace)[0].grid.x, 1, "the file, socket or process that it got");
}
