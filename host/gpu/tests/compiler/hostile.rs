//! Sources that attack the compiler, or the machine through it. Each ends as the fault that it is,
//! within its limits, and the next source compiles.

use std::time::{Duration, Instant};

use assay_core::limits::GPU_LOG_BYTES_MAX;
use assay_gpu::compiler::{CompileError, CompileRequest, CudaArtifact, FrontEnd};

use crate::support::{CompilerFixture, file, request};

const BOTH: [FrontEnd; 2] = [FrontEnd::Nvrtc, FrontEnd::NvccDevice];
const GOOD: &str = "extern \"C\" __global__ void k(float* x) { x[0] = 1; }";

/// Compiles a hostile source and returns the result. A good source must still compile after it.
fn attack(
    bench: &mut CompilerFixture,
    hostile: &CompileRequest,
) -> Result<CudaArtifact, CompileError> {
    let started = Instant::now();
    let came = bench.compile(hostile);
    // The wall limit of a box, twice where the machine is busy, and that is tried again.
    let wall = Duration::from_millis(8 * u64::from(hostile.cpu_ms) + 10_000);
    assert!(started.elapsed() < 10 * wall, "{:?} {:?}", started.elapsed(), hostile.front_end);
    if let Err(CompileError::Rejected(log) | CompileError::Crashed(log)) = &came {
        assert!(log.len() <= GPU_LOG_BYTES_MAX + 100, "{}", log.len());
    }
    bench.compile(&request(hostile.front_end, "sm_90", GOOD)).expect("a good source");
    came
}

fn small(front_end: FrontEnd, text: &str) -> CompileRequest {
    CompileRequest { cpu_ms: 5_000, memory_mib: 1_024, ..request(front_end, "sm_90", text) }
}

fn short(came: &Result<CudaArtifact, CompileError>) -> String {
    let said = came.as_ref().map_or_else(ToString::to_string, |_| "it compiled".to_owned());
    said.chars().take(200).collect()
}

/// All that a tenant gets to see.
fn shown(came: &Result<CudaArtifact, CompileError>) -> String {
    match came {
        Ok(artifact) => {
            let image = String::from_utf8_lossy(&artifact.image);
            format!("{}{}{image}", artifact.ptx, artifact.log)
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_of_the_machine_are_not_shown() {
    let Some(mut bench) = CompilerFixture::new("files_of_the_machine_are_not_shown") else {
        return;
    };
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let hidden = folder.path().join("hidden.h");
    std::fs::write(&hidden, "what only this machine knows\n").unwrap();
    let hidden = hidden.display().to_string();
    for front_end in BOTH {
        for path in [
            "/proc/self/environ",
            "/proc/1/environ",
            "/etc/shadow",
            "/etc/passwd",
            "/etc/hostname",
            "../../../../etc/shadow",
            &hidden,
        ] {
            let text = format!("#include \"{path}\"\n{GOOD}");
            let came = attack(&mut bench, &small(front_end, &text));
            assert!(matches!(came, Ok(_) | Err(CompileError::Rejected(_))), "{path}: {came:?}");
            let shown = shown(&came);
            // But for what the source itself said.
            let known =
                std::env::vars().filter(|(_, value)| value.len() > 16 && !text.contains(value));
            for (name, value) in known {
                assert!(!shown.contains(&value), "{path}: {name} is shown: {shown}");
            }
            // The box has one user, of its own.
            for word in ["what only this machine knows", "root:", "daemon:"] {
                assert!(!shown.contains(word), "{path}: {shown}");
            }
        }
    }
}

#[test]
fn an_assembler_reads_no_files_of_the_machine() {
    let Some(mut bench) = CompilerFixture::new("an_assembler_reads_no_files_of_the_machine") else {
        return;
    };
    for front_end in BOTH {
        for line in [
            ".incbin \\\"/etc/shadow\\\"",
            ".include \\\"/etc/passwd\\\"",
            ".file 1 \\\"/etc/passwd\\\"",
        ] {
            for text in [
                format!("asm(\"{line}\");\n{GOOD}"),
                format!("__global__ void a() {{ asm volatile(\"{line}\"); }}\n{GOOD}"),
                format!("void host() {{ asm volatile(\"{line}\"); }}\n{GOOD}"),
            ] {
                let came = attack(&mut bench, &small(front_end, &text));
                assert!(matches!(came, Ok(_) | Err(CompileError::Rejected(_))), "{text}: {came:?}");
                assert!(!shown(&came).contains("root:"), "{}", shown(&came));
            }
        }
    }
}

#[test]
fn endless_reads_end() {
    let Some(mut bench) = CompilerFixture::new("endless_reads_end") else { return };
    for front_end in BOTH {
        for path in ["/dev/zero", "/dev/urandom", "/dev/stdin", "/dev/full", "/proc/self/mem"] {
            let text = format!("#include \"{path}\"\n{GOOD}");
            let came = attack(&mut bench, &small(front_end, &text));
            eprintln!("{front_end:?} {path}: {}", short(&came));
            let platform =
                matches!(came, Err(CompileError::Unavailable(_) | CompileError::Cancelled));
            assert!(!platform && !matches!(came, Err(CompileError::BadRequest(_))), "{came:?}");
        }
    }
}

fn macro_bomb() -> String {
    let mut text = "#define A0 x[0] += 1;\n".to_owned();
    for level in 1..14 {
        let below = format!("A{} ", level - 1).repeat(10);
        text.push_str(&format!("#define A{level} {below}\n"));
    }
    text + "extern \"C\" __global__ void k(float* x) { A13 }\n"
}

#[test]
fn bombs_meet_their_limits() {
    let Some(mut bench) = CompilerFixture::new("bombs_meet_their_limits") else { return };
    let templates = "template <int N, int M> struct T
            { static const int v = T<N - 1, M>::v + T<N - 1, 2 * M + N % 2>::v; };
        template <int M> struct T<0, M> { static const int v = M; };
        extern \"C\" __global__ void k(int* x) { x[0] = T<40, 1>::v; }";
    // Each line is inlined code of some hundred instructions.
    let lines: String = (0..1_000)
        .map(|line| format!("x[{line}] += sinf(x[{}]) * tanf(x[{}] + n);\n", line + 1, line * 7))
        .collect();
    let lines = format!("extern \"C\" __global__ void k(float* x, int n) {{ {lines} }}");
    for front_end in BOTH {
        for (name, text) in [("templates", templates), ("macros", &macro_bomb()), ("lines", &lines)]
        {
            let came = attack(&mut bench, &small(front_end, text));
            eprintln!("{front_end:?} {name}: {}", short(&came));
            // A compiler has limits of its own too.
            let limited = matches!(
                came,
                Err(CompileError::TimedOut | CompileError::OutOfMemory | CompileError::Rejected(_))
            );
            assert!(limited, "{front_end:?} {name}: {}", short(&came));
        }
    }
}

#[test]
fn an_include_that_has_no_end() {
    let Some(mut bench) = CompilerFixture::new("an_include_that_has_no_end") else { return };
    for front_end in BOTH {
        let hostile = CompileRequest {
            headers: vec![file("a.h", "#include \"b.h\"\n"), file("b.h", "#include \"a.h\"\n")],
            ..small(front_end, "#include \"a.h\"\n")
        };
        let came = attack(&mut bench, &hostile);
        assert!(matches!(came, Err(CompileError::Rejected(_))), "{}", short(&came));
    }
}

#[test]
fn a_huge_image_is_refused() {
    let Some(mut bench) = CompilerFixture::new("a_huge_image_is_refused") else { return };
    for front_end in BOTH {
        for shift in [23, 29] {
            let text = format!(
                "__device__ int table[1 << {shift}] = {{ 1, 2, 3 }};
                 extern \"C\" __global__ void k(int* x) {{ x[0] = table[x[1]]; }}"
            );
            let came = attack(&mut bench, &small(front_end, &text));
            eprintln!("{front_end:?} 1 << {shift}: {}", short(&came));
            let refused = matches!(
                came,
                Err(CompileError::TooLarge(_)
                    | CompileError::OutOfMemory
                    | CompileError::TimedOut
                    | CompileError::Crashed(_))
            );
            assert!(refused, "{front_end:?} 1 << {shift}: {}", short(&came));
        }
    }
}

#[test]
fn a_flood_of_words_is_cut() {
    let Some(mut bench) = CompilerFixture::new("a_flood_of_words_is_cut") else { return };
    let line = format!("#warning {}\n", "x".repeat(200));
    let flood = format!("{}\n{GOOD}", line.repeat(4_000));
    for front_end in BOTH {
        let came =
            attack(&mut bench, &CompileRequest { cpu_ms: 30_000, ..small(front_end, &flood) });
        eprintln!("{front_end:?}: {}", short(&came));
        let (Ok(CudaArtifact { log, .. }) | Err(CompileError::Rejected(log))) = came else {
            panic!("{front_end:?}: {}", short(&came));
        };
        assert!(log.len() <= GPU_LOG_BYTES_MAX && log.ends_with("[the rest was cut off]"));
    }
}

#[test]
fn what_a_driver_would_take_for_an_option_is_refused() {
    let Some(mut bench) = CompilerFixture::new("what_a_driver_would_take_for_an_option") else {
        return;
    };
    for front_end in BOTH {
        for path in [
            "-Xcompiler=-wrapper.cu",
            "@options.cu",
            "a;touch b.cu",
            "$(touch b).cu",
            "../main.cu",
            "/etc/main.cu",
            "a/../../main.cu",
            ".assay/order",
            "",
        ] {
            let mut hostile = small(front_end, GOOD);
            hostile.main.path = path.into();
            let came = bench.compile(&hostile);
            assert!(matches!(came, Err(CompileError::BadRequest(_))), "{path}: {came:?}");
            let header = CompileRequest { headers: vec![file(path, "")], ..small(front_end, GOOD) };
            let came = bench.compile(&header);
            assert!(matches!(came, Err(CompileError::BadRequest(_))), "{path}: {came:?}");
        }
        let nul = attack(&mut bench, &small(front_end, &format!("{GOOD}\0{GOOD}")));
        assert!(matches!(nul, Ok(_) | Err(CompileError::Rejected(_))), "{nul:?}");
    }
}

#[test]
fn pragmas_do_not_reach_the_machine() {
    let Some(mut bench) = CompilerFixture::new("pragmas_do_not_reach_the_machine") else { return };
    let text = format!(
        "#pragma GCC system_header\n#pragma GCC dependency \"/etc/shadow\"\n\
         #pragma GCC pch_preprocess \"/etc/shadow\"\n#pragma nv_exec_check_disable\n\
         #pragma comment(linker, \"/etc/shadow\")\n#ident \"x\"\n#line 1 \"/etc/passwd\"\n\
         #if __has_include(\"/etc/shadow\")\n#error it is there\n#endif\n{GOOD}"
    );
    for front_end in BOTH {
        let came = attack(&mut bench, &small(front_end, &text));
        assert!(matches!(came, Ok(_) | Err(CompileError::Rejected(_))), "{came:?}");
        let shown = shown(&came);
        assert!(!shown.contains("it is there") && !shown.contains("root:"), "{shown}");
    }
}

#[test]
fn a_deep_source_is_its_own_fault() {
    let Some(mut bench) = CompilerFixture::new("a_deep_source_is_its_own_fault") else { return };
    let deep = format!(
        "extern \"C\" __global__ void k(int* x) {{ x[0] = {}1{}; }}",
        "(".repeat(200_000),
        ")".repeat(200_000)
    );
    for front_end in BOTH {
        let came = attack(&mut bench, &small(front_end, &deep));
        eprintln!("{front_end:?}: {}", short(&came));
        let fault = matches!(
            came,
            Ok(_)
                | Err(CompileError::Rejected(_)
                    | CompileError::Crashed(_)
                    | CompileError::TimedOut
                    | CompileError::OutOfMemory)
        );
        assert!(fault, "{front_end:?}: {}", short(&came));
    }
}
