//! Checks a plugin's compile request before anything is run.
//!
//! Paths and words are kept to what no compiler driver takes for an option or a command: `nvcc` hands
//! them on to a shell.

use assay_core::limits::{
    GPU_COMPILE_CPU_MS, GPU_COMPILE_CPU_MS_MAX, GPU_COMPILE_MEMORY_MIB, GPU_COMPILE_MEMORY_MIB_MAX,
    GPU_COMPILE_MEMORY_MIB_MIN, GPU_HEADERS_MAX, GPU_IMAGE_BYTES_MAX, GPU_SOURCE_BYTES_MAX,
    GPU_WORD_BYTES_MAX, GPU_WORDS_MAX,
};
use assay_exec::limits::BoxLimits;
use assay_exec::path;

use super::{BuildOption, CompileError, CompileRequest, FrontEnd};

const MIB: u64 = 1 << 20;
/// The folder in the working folder that holds what is ours.
pub(super) const OWN_FOLDER: &str = ".assay";
const STANDARDS: [&str; 4] = ["c++11", "c++14", "c++17", "c++20"];
const REGISTERS: std::ops::RangeInclusive<u32> = 16..=255;

fn bad(problem: impl Into<String>) -> CompileError {
    CompileError::BadRequest(problem.into())
}

/// Checks the request and says what its compiler may use.
pub(super) fn check(request: &CompileRequest) -> Result<BoxLimits, CompileError> {
    arch_number(&request.arch)?;
    check_files(request)?;
    request.options.iter().try_for_each(check_option)?;
    let (names, entries) = (&request.name_expressions, &request.entries);
    if request.options.len() > GPU_WORDS_MAX {
        return Err(bad(format!("there are more than {GPU_WORDS_MAX} options")));
    }
    check_words("name expressions", names, |_| true)?;
    check_words("entries", entries, is_identifier)?;
    if !names.is_empty() && request.front_end != FrontEnd::Nvrtc {
        return Err(bad("name expressions are for `nvrtc` alone"));
    }
    if !entries.is_empty() && request.front_end != FrontEnd::NvccHost {
        return Err(bad("entries are for `nvcc-host` alone"));
    }
    Ok(limits(request.cpu_ms, request.memory_mib))
}

/// 90 of `sm_90`, `compute_90` and `sm_90a`.
pub(super) fn arch_number(arch: &str) -> Result<u32, CompileError> {
    let number = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_"));
    let digits = number.map(|number| number.strip_suffix(['a', 'f']).unwrap_or(number));
    let is_number = |digits: &&str| {
        (2..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    digits
        .filter(is_number)
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| bad(format!("no such architecture: `{}`", shown(arch))))
}

fn check_files(request: &CompileRequest) -> Result<(), CompileError> {
    if request.headers.len() > GPU_HEADERS_MAX {
        return Err(bad(format!("there are more than {GPU_HEADERS_MAX} headers")));
    }
    let files = || std::iter::once(&request.main).chain(&request.headers);
    if files().map(|file| file.text.len()).sum::<usize>() > GPU_SOURCE_BYTES_MAX {
        return Err(bad(format!("the files have more than {GPU_SOURCE_BYTES_MAX} bytes")));
    }
    for file in files() {
        path::check(&file.path).map_err(bad)?;
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
        let plain = |part: &str| !part.starts_with('-') && part.bytes().all(letters);
        if !file.path.split('/').all(plain) {
            return Err(bad(format!(
                "the path `{}` has a part that is not made of letters, digits and `._-+`, or starts \
                 with `-`",
                shown(&file.path)
            )));
        }
        if file.path.split('/').next() == Some(OWN_FOLDER) {
            return Err(bad(format!("the folder `{OWN_FOLDER}` is not for sources")));
        }
    }
    path::check_together(files().map(|file| file.path.as_str())).map_err(bad)
}

fn check_option(option: &BuildOption) -> Result<(), CompileError> {
    match option {
        BuildOption::FastMath | BuildOption::NoFma | BuildOption::LineInfo => Ok(()),
        BuildOption::RegistersMax(registers) if REGISTERS.contains(registers) => Ok(()),
        BuildOption::RegistersMax(_) => Err(bad("a thread's registers are at most 16 to 255")),
        BuildOption::Std(name) if STANDARDS.contains(&name.as_str()) => Ok(()),
        BuildOption::Std(name) => {
            let known = STANDARDS.join(", ");
            Err(bad(format!("no such standard: `{}`; there are {known}", shown(name))))
        }
        BuildOption::Define { name, value } => {
            if !is_identifier(name) || name.len() > GPU_WORD_BYTES_MAX {
                return Err(bad(format!("`{}` cannot be defined", shown(name))));
            }
            let value = value.as_deref().unwrap_or_default();
            if value.len() > GPU_WORD_BYTES_MAX || value.contains(['\n', '\r', '\0', '\\']) {
                return Err(bad(format!(
                    "what `{}` is defined as is too long, or holds a line's end, a NUL or a backslash",
                    shown(name)
                )));
            }
            Ok(())
        }
    }
}

fn check_words(
    what: &str,
    words: &[String],
    good: impl Fn(&str) -> bool,
) -> Result<(), CompileError> {
    if words.len() > GPU_WORDS_MAX {
        return Err(bad(format!("there are more than {GPU_WORDS_MAX} {what}")));
    }
    for word in words {
        if word.is_empty() || word.len() > GPU_WORD_BYTES_MAX || word.contains('\0') || !good(word)
        {
            return Err(bad(format!("among the {what} is `{}`", shown(word))));
        }
    }
    Ok(())
}

pub(super) fn is_identifier(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn shown(word: &str) -> String {
    word.chars().take(80).flat_map(char::escape_debug).collect()
}

fn limits(cpu_ms: u32, memory_mib: u32) -> BoxLimits {
    let or = |asked: u32, default: u32| if asked == 0 { default } else { asked };
    let memory_mib = or(memory_mib, GPU_COMPILE_MEMORY_MIB)
        .clamp(GPU_COMPILE_MEMORY_MIB_MIN, GPU_COMPILE_MEMORY_MIB_MAX);
    let cpu_ms = or(cpu_ms, GPU_COMPILE_CPU_MS).min(GPU_COMPILE_CPU_MS_MAX);
    BoxLimits {
        cpu_ms,
        // A compiler does not sleep: on a busy machine it gets the time to reach the other limits.
        wall_ms: 8 * cpu_ms + 10_000,
        memory_bytes: u64::from(memory_mib) * MIB,
        stdout_bytes: MIB,
        stderr_bytes: MIB,
        // Preprocessed text, PTX and the image, side by side.
        disk_bytes: 6 * GPU_IMAGE_BYTES_MAX,
        processes: 64,
        open_files: 256,
    }
}

/// The definitions that are included before the first line of a source.
pub(super) fn definitions(options: &[BuildOption]) -> String {
    let mut text = String::new();
    for option in options {
        if let BuildOption::Define { name, value } = option {
            // In the form of `-D`.
            let value = value.as_deref().unwrap_or("1");
            text.push_str(&format!("#define {name} {value}\n"));
        }
    }
    text
}

/// The options that both compilers share, without definitions.
pub(super) fn options(request: &CompileRequest) -> Vec<String> {
    let mut words = vec![format!("-arch={}", request.arch)];
    let mut standard = "c++17";
    for option in &request.options {
        match option {
            BuildOption::FastMath => words.push("--use_fast_math".to_owned()),
            BuildOption::NoFma => words.push("--fmad=false".to_owned()),
            BuildOption::LineInfo => words.push("--generate-line-info".to_owned()),
            BuildOption::RegistersMax(registers) => {
                words.push(format!("--maxrregcount={registers}"));
            }
            BuildOption::Std(name) => standard = name,
            BuildOption::Define { .. } => {}
        }
    }
    words.push(format!("--std={standard}"));
    words
}

#[cfg(test)]
mod tests {
    use super::super::TextFile;
    use super::*;

    fn request(path: &str) -> CompileRequest {
        CompileRequest {
            front_end: FrontEnd::Nvrtc,
            arch: "sm_90".into(),
            main: TextFile { path: path.into(), text: "x".into() },
            headers: vec![],
            options: vec![],
            name_expressions: vec![],
            entries: vec![],
            cpu_ms: 0,
            memory_mib: 0,
        }
    }

    fn refused(request: &CompileRequest) -> bool {
        matches!(check(request), Err(CompileError::BadRequest(_)))
    }

    #[test]
    fn paths_stay_in_their_folder_and_are_no_options() {
        for good in ["main.cu", "a/b-c.cu", "a.b/c++.cuh", ".hidden"] {
            assert!(check(&request(good)).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x.cu",
            "a/../x.cu",
            "-o.cu",
            "a/-x",
            "@x",
            "a b.cu",
            "a;b.cu",
            "a$(b).cu",
            "`a`.cu",
            "a\"b.cu",
            "a'b.cu",
            "a\\b.cu",
            ".assay/order",
            "a\nb.cu",
            "ä.cu",
        ] {
            assert!(refused(&request(bad)), "{bad}");
            let header = TextFile { path: bad.into(), text: String::new() };
            assert!(
                refused(&CompileRequest { headers: vec![header], ..request("main.cu") }),
                "{bad}"
            );
        }
        let header = TextFile { path: "main.cu".into(), text: String::new() };
        assert!(refused(&CompileRequest { headers: vec![header], ..request("main.cu") }), "twice");
    }

    #[test]
    fn architectures() {
        for (arch, number) in
            [("sm_90", 90), ("sm_90a", 90), ("compute_120", 120), ("sm_103f", 103)]
        {
            assert_eq!(arch_number(arch), Ok(number));
        }
        for arch in
            ["", "90", "sm_", "sm_9", "sm_9000", "sm_90 -o x", "lto_90", "sm_90aa", "native"]
        {
            assert!(arch_number(arch).is_err(), "{arch}");
        }
    }

    #[test]
    fn options_say_what_they_may() {
        let define = |name: &str, value: Option<&str>| BuildOption::Define {
            name: name.into(),
            value: value.map(str::to_owned),
        };
        let with = |option| CompileRequest { options: vec![option], ..request("main.cu") };
        for good in [
            define("N", Some("(1 + 2)")),
            define("_a1", None),
            BuildOption::Std("c++20".into()),
            BuildOption::RegistersMax(32),
        ] {
            assert!(check(&with(good)).is_ok());
        }
        for bad in [
            define("1N", None),
            define("A B", None),
            define("", None),
            define("N", Some("1\n#include \"/etc/passwd\"")),
            BuildOption::Std("c++17 -v".into()),
            BuildOption::RegistersMax(0),
        ] {
            assert!(refused(&with(bad)));
        }
        assert_eq!(
            definitions(&[define("N", None), define("M", Some("a b"))]),
            "#define N 1\n#define M a b\n"
        );
    }

    #[test]
    fn names_and_entries_have_their_front_ends() {
        let names = vec!["reduce<float>".to_owned()];
        let nvrtc = CompileRequest { name_expressions: names.clone(), ..request("m") };
        assert!(check(&nvrtc).is_ok());
        let nvcc = CompileRequest { front_end: FrontEnd::NvccDevice, ..request("m") };
        assert!(refused(&CompileRequest { name_expressions: names.clone(), ..nvcc.clone() }));
        assert!(refused(&CompileRequest { entries: vec!["solve".into()], ..nvcc.clone() }));
        let host = CompileRequest { front_end: FrontEnd::NvccHost, ..nvcc };
        assert!(check(&CompileRequest { entries: vec!["solve".into()], ..host.clone() }).is_ok());
        assert!(refused(&CompileRequest { entries: names, ..host }), "no identifier");
    }

    #[test]
    fn limits_have_defaults_and_ceilings() {
        let all = |cpu_ms, memory_mib| {
            let limits = limits(cpu_ms, memory_mib);
            (limits.cpu_ms, limits.memory_bytes / MIB)
        };
        assert_eq!(all(0, 0), (30_000, 2_048));
        assert_eq!(all(1_000, 1_024), (1_000, 1_024));
        assert_eq!(all(u32::MAX, u32::MAX), (120_000, 4_096));
        assert_eq!(all(1, 1), (1, 512));
    }
}
