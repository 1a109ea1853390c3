//! Sources that compile, and sources that are merely wrong.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use assay_core::id::TenantId;
use assay_gpu::compiler::{
    BuildOption, CompileError, CompileRequest, CudaArtifact, CudaCompiler, CudaCompilerOptions,
    FrontEnd,
};
use assay_gpu::types::KernelParam;

use crate::support::{CompilerFixture, file, request, toolkit};

const VADD: &str = r#"
extern "C" __global__ void __launch_bounds__(256)
vadd(const float* a, const float* b, float* c, int n)
{
    __shared__ float kept[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) c[i] = kept[threadIdx.x ^ 1] + b[i];
}
"#;

/// With what a whole file has beside its kernels.
fn whole() -> String {
    format!(
        r#"
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
{VADD}
int main()
{{
    std::vector<float> host(256);
    vadd<<<1, 256>>>(nullptr, nullptr, nullptr, 0);
    std::printf("%zu\n", host.size());
}}
"#
    )
}

fn vadd_params() -> Vec<KernelParam> {
    [(0, 8), (8, 8), (16, 8), (24, 4)].map(|(offset, bytes)| KernelParam { offset, bytes }).into()
}

#[test]
fn what_is_found() {
    let Some(mut bench) = CompilerFixture::new("what_is_found") else { return };
    let found = bench.compiler.found().unwrap();
    assert_eq!((found.version.as_str(), found.arch.as_str()), ("13.0", "sm_90"));
    assert_eq!(found.front_ends, [FrontEnd::Nvrtc, FrontEnd::NvccDevice, FrontEnd::NvccHost]);
}

#[test]
fn without_a_toolkit_it_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for toolkit in [None, Some(folder.path().to_owned())] {
        let options = CudaCompilerOptions {
            toolkit,
            program: "assay-gpu".into(),
            arch: "compute_90".into(),
            cache: folder.path().to_owned(),
        };
        let found = CudaCompiler::new(options).found();
        let Err(CompileError::NoToolkit(reason)) = found else { panic!("{found:?}") };
        assert!(reason.contains("assay gpu install-toolchain"), "{reason}");
    }
}

#[test]
fn kernels_for_a_gpu() {
    let Some(mut bench) = CompilerFixture::new("kernels_for_a_gpu") else { return };
    for (front_end, text, tool) in [
        (FrontEnd::Nvrtc, VADD.to_owned(), "nvrtc 13."),
        (FrontEnd::NvccDevice, whole(), "nvcc 13."),
    ] {
        let artifact = bench.compile(&request(front_end, "", &text)).unwrap();
        assert!(artifact.image.starts_with(b"\x7fELF"), "{front_end:?}");
        assert!(artifact.ptx.contains(".visible .entry vadd("), "{front_end:?}");
        assert!(artifact.toolchain.starts_with(tool), "{}", artifact.toolchain);
        assert_eq!((artifact.arch.as_str(), artifact.log.as_str()), ("sm_90", ""));
        assert!(!artifact.cached && artifact.host_object.is_none());
        let [kernel] = artifact.kernels.as_slice() else { panic!("{:?}", artifact.kernels) };
        assert_eq!((kernel.name.as_str(), &kernel.params), ("vadd", &vadd_params()));
        assert_eq!((kernel.static_shared_bytes, kernel.threads_max), (1_024, 256));
        assert!((1..=64).contains(&kernel.registers), "{}", kernel.registers);
    }
}

#[test]
fn kernels_for_the_simulation() {
    let Some(mut bench) = CompilerFixture::new("kernels_for_the_simulation") else { return };
    for (front_end, text) in [(FrontEnd::Nvrtc, VADD.to_owned()), (FrontEnd::NvccDevice, whole())] {
        let artifact = bench.compile(&request(front_end, "compute_90", &text)).unwrap();
        assert_eq!(artifact.image, artifact.ptx.as_bytes());
        assert!(!artifact.ptx.contains('\0'));
        let module = assay_ptx::PtxModule::parse(&artifact.ptx).unwrap();
        assert_eq!(module.kernels().len(), 1);
        let [kernel] = artifact.kernels.as_slice() else { panic!("{:?}", artifact.kernels) };
        assert_eq!((kernel.name.as_str(), &kernel.params), ("vadd", &vadd_params()));
        assert_eq!((kernel.static_shared_bytes, kernel.registers), (1_024, 0));
    }
}

#[test]
fn structs_and_templates() {
    let Some(mut bench) = CompilerFixture::new("structs_and_templates") else { return };
    let text = "struct Shape { char rank; double scale; int sizes[3]; };
        template <class T, int N> __global__ void fill(T* x, Shape shape, char last)
        {
            T kept[64];
            for (int i = 0; i < 64; i++) kept[i] = x[(i * N) % shape.sizes[1]];
            x[threadIdx.x] = kept[shape.sizes[0]] + N + last;
        }";
    let names = vec!["fill<float, 256>".to_owned(), "fill<int, 2>".to_owned()];
    let named =
        CompileRequest { name_expressions: names, ..request(FrontEnd::Nvrtc, "sm_90", text) };
    let artifact = bench.compile(&named).unwrap();
    assert_eq!(artifact.lowered_names.len(), 2);
    assert!(artifact.lowered_names[0].contains("fillIfLi256E"), "{:?}", artifact.lowered_names);
    for name in &artifact.lowered_names {
        let kernel = artifact.kernels.iter().find(|kernel| kernel.name == *name).unwrap();
        let params: Vec<_> = kernel.params.iter().map(|p| (p.offset, p.bytes)).collect();
        assert_eq!(params, [(0, 8), (8, 32), (40, 1)]);
        assert!(kernel.local_bytes >= 256 && kernel.threads_max == 1_024, "{kernel:?}");
    }
    for wrong in ["fill<float>", "missing<int>", "Shape", "1 + 1"] {
        let named = CompileRequest { name_expressions: vec![wrong.to_owned()], ..named.clone() };
        let refused = bench.compile(&named);
        assert!(matches!(refused, Err(CompileError::Rejected(_))), "{wrong}: {refused:?}");
    }
}

#[test]
fn what_models_include() {
    let Some(mut bench) = CompilerFixture::new("what_models_include") else { return };
    let text = r#"
        #include <cstdint>
        #include <cmath>
        #include <cstdio>
        #include <cfloat>
        #include <climits>
        #include <algorithm>
        #include <cuda.h>
        #include <cuda_runtime.h>
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        #include <cooperative_groups.h>
        #include <math_constants.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <math.h>
        #include <float.h>
        #include <limits>
        #include <vector>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(float* x, __half* h, __nv_bfloat16* b, uint32_t n)
        {
            auto block = cg::this_thread_block();
            int64_t i = block.thread_rank();
            float most = -INFINITY;
            most = std::max(most, fmaxf(x[i], -FLT_MAX)) + (float)M_PI + CUDART_INF_F;
            if (i < INT_MAX && n < UINT32_MAX && !std::isnan(x[i]))
                x[i] = std::sqrt(std::min(x[i], most));
            h[i] = __float2half(std::exp(x[i]));
            b[i] = __float2bfloat16(std::numeric_limits<float>::max() + NAN);
            block.sync();
        }"#;
    for front_end in [FrontEnd::Nvrtc, FrontEnd::NvccDevice] {
        let artifact = bench.compile(&request(front_end, "compute_90", text)).unwrap();
        assert_eq!(artifact.log, "", "{front_end:?}");
        assert_eq!(artifact.kernels[0].params.len(), 4);
    }
    // These names nvcc has without a single include.
    let bare = "extern \"C\" __global__ void k(float* x, unsigned n)
        { x[0] = INFINITY + FLT_MAX * 0 + std::sqrt(x[1]) + (uint32_t)n; }";
    bench.compile(&request(FrontEnd::Nvrtc, "sm_90", bare)).unwrap();
}

#[test]
fn own_headers_and_options() {
    let Some(mut bench) = CompilerFixture::new("own_headers_and_options") else { return };
    let text = "#include \"tile.cuh\"\n#include \"util/size.cuh\"\n
        static_assert(WIDTH == 3 && TWICE == 6 && FLAG, \"\");
        extern \"C\" __global__ void k(float* x) { x[0] = x[1] * x[2] + tile(x[3]) / x[4]; }";
    let headers = vec![
        file("src/tile.cuh", "__device__ float tile(float x) { return x * WIDTH; }"),
        file("util/size.cuh", "#include \"twice.cuh\""),
        file("util/twice.cuh", "#define TWICE (2 * WIDTH)"),
        // One of ours by its name: the request's wins.
        file("iomanip", "#error theirs"),
    ];
    let define = |name: &str, value: Option<&str>| BuildOption::Define {
        name: name.into(),
        value: value.map(str::to_owned),
    };
    let options = vec![
        define("WIDTH", Some("3")),
        define("FLAG", None),
        BuildOption::Std("c++20".into()),
        BuildOption::FastMath,
        BuildOption::NoFma,
        BuildOption::LineInfo,
        BuildOption::RegistersMax(32),
    ];
    for front_end in [FrontEnd::Nvrtc, FrontEnd::NvccDevice] {
        let mut wanted =
            CompileRequest { headers: headers.clone(), ..request(front_end, "sm_90", text) };
        wanted.main.path = "src/main.cu".into();
        let missing = bench.compile(&wanted);
        let Err(CompileError::Rejected(log)) = missing else { panic!("{missing:?}") };
        assert!(log.contains("WIDTH"), "{log}");
        wanted.options.clone_from(&options);
        let artifact = bench.compile(&wanted).unwrap();
        assert!(artifact.ptx.contains("div.approx"), "fast maths: {}", artifact.ptx);
        assert!(!artifact.ptx.contains("fma."), "{}", artifact.ptx);
        assert!(artifact.kernels[0].registers <= 32);
        let refused =
            bench.compile(&CompileRequest { main: file("a.cu", "#include <iomanip>"), ..wanted });
        assert!(matches!(&refused, Err(CompileError::Rejected(log)) if log.contains("theirs")));
    }
}

#[test]
fn a_rejected_source_is_told_why() {
    let Some(mut bench) = CompilerFixture::new("a_rejected_source_is_told_why") else { return };
    for front_end in [FrontEnd::Nvrtc, FrontEnd::NvccDevice] {
        let text = "extern \"C\" __global__ void k(float* x)\n{\n    x[0] = missing;\n}\n";
        let refused = bench.compile(&request(front_end, "sm_90", text));
        let Err(CompileError::Rejected(log)) = refused else { panic!("{refused:?}") };
        assert!(log.contains("main.cu(3)") && log.contains("missing"), "{log}");
        // This fault only the assembler notices.
        let text = "extern \"C\" __global__ void k(float* x) { __shared__ float s[100000]; \
                    s[threadIdx.x] = x[1]; __syncthreads(); x[0] = s[threadIdx.x ^ 1]; }";
        let refused = bench.compile(&request(front_end, "sm_90", text));
        let Err(CompileError::Rejected(log)) = refused else { panic!("{refused:?}") };
        assert!(log.contains("shared"), "{log}");
    }
}

#[test]
fn a_warning_is_shown() {
    let Some(mut bench) = CompilerFixture::new("a_warning_is_shown") else { return };
    for front_end in [FrontEnd::Nvrtc, FrontEnd::NvccDevice] {
        let text = "extern \"C\" __global__ void k(float* x) { int unused_thing; x[0] = 1; }";
        let artifact = bench.compile(&request(front_end, "sm_90", text)).unwrap();
        assert!(artifact.log.contains("unused_thing"), "{}", artifact.log);
        assert!(!artifact.log.contains("ptxas"), "{}", artifact.log);
    }
}

#[test]
fn an_architecture_that_the_toolkit_lacks_is_a_bad_request() {
    let Some(mut bench) = CompilerFixture::new("an_architecture_that_the_toolkit_lacks") else {
        return;
    };
    for front_end in [FrontEnd::Nvrtc, FrontEnd::NvccDevice] {
        for arch in ["sm_20", "compute_999", "native"] {
            let refused = bench.compile(&request(front_end, arch, VADD));
            assert!(matches!(refused, Err(CompileError::BadRequest(_))), "{arch}: {refused:?}");
        }
    }
}

#[test]
fn what_was_compiled_is_found_again_by_its_tenant_alone() {
    let Some(mut bench) = CompilerFixture::new("what_was_compiled_is_found_again") else { return };
    let wanted = request(FrontEnd::Nvrtc, "compute_90", VADD);
    let first = bench.compile(&wanted).unwrap();
    let again = bench.compile(&wanted).unwrap();
    assert!(!first.cached && again.cached);
    assert_eq!(CudaArtifact { cached: false, ..again }, first);
    let mut other = bench.beside("what_was_compiled_is_found_again").unwrap();
    assert!(other.compile(&wanted).unwrap().cached, "another worker");
    other.caller.tenant = TenantId::generate();
    assert!(!other.compile(&wanted).unwrap().cached, "another tenant");
    let more = CompileRequest { options: vec![BuildOption::NoFma], ..wanted };
    assert!(!bench.compile(&more).unwrap().cached);
}

#[test]
fn past_its_deadline_it_is_cancelled() {
    let Some(mut bench) = CompilerFixture::new("past_its_deadline_it_is_cancelled") else { return };
    bench.caller.deadline = Instant::now();
    let cancelled = bench.compile(&request(FrontEnd::Nvrtc, "sm_90", VADD));
    assert_eq!(cancelled, Err(CompileError::Cancelled));
}

#[test]
fn a_library_that_cannot_be_loaded_any_more_is_not_the_sources_fault() {
    let Some(installed) = toolkit("a_library_that_cannot_be_loaded_any_more") else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("toolkit");
    for part in ["include", "lib"] {
        fs::create_dir_all(own.join(part)).unwrap();
    }
    let header = "include/cuda_runtime_api.h";
    fs::copy(installed.join(header), own.join(header)).unwrap();
    let lib = ["lib", "lib64"].map(|lib| installed.join(lib)).into_iter().find(|lib| lib.is_dir());
    let mut libraries = Vec::new();
    for entry in fs::read_dir(lib.unwrap()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("libnvrtc") && !name.contains(".alt.") {
            let library = own.join("lib").join(name);
            fs::copy(entry.path(), &library).unwrap();
            libraries.push(library);
        }
    }
    let mut bench = CompilerFixture::with_toolkit(own, Arc::new(folder));
    bench.compile(&request(FrontEnd::Nvrtc, "compute_90", VADD)).unwrap();
    for library in &libraries {
        fs::write(library, "no library").unwrap();
    }
    let lost = bench.compile(&request(FrontEnd::Nvrtc, "sm_90", VADD));
    assert!(matches!(lost, Err(CompileError::Unavailable(_))), "{lost:?}");
}
