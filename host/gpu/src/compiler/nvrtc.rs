//! The run-time compiler, in the box: `assay-gpu nvrtc` is this module's [`main`].
//!
//! It loads NVIDIA's library, compiles one source in this process and leaves a file. The host
//! trusts none of its output: a source that takes over the compiler can at most forge an image.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::process::ExitCode;
use std::ptr;

use assay_core::limits::{GPU_IMAGE_BYTES_MAX, GPU_LOG_BYTES_MAX};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

/// Both in the folder in which the program runs.
pub(super) const ORDER: &str = ".assay/order";
pub(super) const ANSWER: &str = ".assay/answer";
/// The exit status where the library cannot be used; why stands on standard error.
pub(super) const NO_LIBRARY: i32 = 3;

#[derive(Serialize, Deserialize)]
pub(super) struct NvrtcRequest {
    pub builtins: String,
    pub nvrtc: String,
    /// The source to compile; without one, only the library is described.
    pub source: Option<NvrtcSource>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct NvrtcSource {
    /// The file name in messages.
    pub name: String,
    pub text: String,
    /// Headers, as pairs of the name under which they are included and their text.
    pub headers: Vec<(String, String)>,
    pub options: Vec<String>,
    pub name_expressions: Vec<String>,
    /// Machine code beside the PTX.
    pub machine_code: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum NvrtcAnswer {
    Library {
        version: (c_int, c_int),
        /// 90 for `compute_90`.
        archs: Vec<c_int>,
    },
    Compiled {
        #[serde(with = "serde_bytes")]
        machine_code: Vec<u8>,
        #[serde(with = "serde_bytes")]
        ptx: Vec<u8>,
        lowered_names: Vec<String>,
        log: String,
        log_cut: bool,
    },
    Rejected {
        log: String,
        log_cut: bool,
    },
    OutOfMemory,
    TooLarge,
    Failed(String),
}

/// Statuses of the library's functions.
const SUCCESS: c_int = 0;
const OUT_OF_MEMORY: c_int = 1;
const COMPILATION: c_int = 6;
const NAME_EXPRESSION_NOT_VALID: c_int = 10;

type Compilation = *mut c_void;
type Texts = *const *const c_char;
type Size = unsafe extern "C" fn(Compilation, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Compilation, *mut c_char) -> c_int;
type Create = unsafe extern "C" fn(
    *mut Compilation,
    *const c_char,
    *const c_char,
    c_int,
    Texts,
    Texts,
) -> c_int;
type Lower = unsafe extern "C" fn(Compilation, *const c_char, *mut *const c_char) -> c_int;

/// The functions that are used, as `nvrtc.h` declares them.
struct Nvrtc {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    arch_count: unsafe extern "C" fn(*mut c_int) -> c_int,
    archs: unsafe extern "C" fn(*mut c_int) -> c_int,
    create: Create,
    add_name: unsafe extern "C" fn(Compilation, *const c_char) -> c_int,
    compile: unsafe extern "C" fn(Compilation, c_int, Texts) -> c_int,
    log: (Size, Get),
    ptx: (Size, Get),
    machine_code: (Size, Get),
    lowered: Lower,
    /// Last, so that the functions never outlive them.
    _libraries: [Library; 2],
}

/// Carries out the order in the working folder.
#[must_use]
pub fn main() -> ExitCode {
    let order: Result<NvrtcRequest, String> = fs::read(ORDER)
        .map_err(|error| error.to_string())
        .and_then(|bytes| postcard::from_bytes(&bytes).map_err(|error| error.to_string()));
    let order = match order {
        Ok(order) => order,
        Err(error) => {
            eprintln!("assay-gpu nvrtc: {ORDER}: {error}: the worker starts this program");
            return ExitCode::FAILURE;
        }
    };
    let nvrtc = match Nvrtc::load(&order) {
        Ok(nvrtc) => nvrtc,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(NO_LIBRARY as u8);
        }
    };
    let answer = match &order.source {
        Some(source) => nvrtc.compiled(source),
        None => nvrtc.described(),
    };
    let answer = answer.unwrap_or_else(|answer| answer);
    let bytes = postcard::to_stdvec(&answer).expect("plain data is encoded");
    match fs::write(ANSWER, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{ANSWER}: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Nvrtc {
    #[expect(unsafe_code, reason = "a library is loaded and its functions are given their types")]
    fn load(order: &NvrtcRequest) -> Result<Self, String> {
        let open = |path: &str| {
            // SAFETY: its initialisers are the toolkit's, which the operator chose.
            unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }
                .map_err(|error| format!("{path}: {error}"))
        };
        let builtins = open(&order.builtins)?;
        let nvrtc = open(&order.nvrtc)?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the field that takes it has the type that `nvrtc.h` gives this function.
                *unsafe { nvrtc.get($name) }.map_err(|error| error.to_string())?
            };
        }
        Ok(Self {
            version: function!(c"nvrtcVersion"),
            arch_count: function!(c"nvrtcGetNumSupportedArchs"),
            archs: function!(c"nvrtcGetSupportedArchs"),
            create: function!(c"nvrtcCreateProgram"),
            add_name: function!(c"nvrtcAddNameExpression"),
            compile: function!(c"nvrtcCompileProgram"),
            log: (function!(c"nvrtcGetProgramLogSize"), function!(c"nvrtcGetProgramLog")),
            ptx: (function!(c"nvrtcGetPTXSize"), function!(c"nvrtcGetPTX")),
            machine_code: (function!(c"nvrtcGetCUBINSize"), function!(c"nvrtcGetCUBIN")),
            lowered: function!(c"nvrtcGetLoweredName"),
            _libraries: [nvrtc, builtins],
        })
    }

    #[expect(unsafe_code, reason = "calls of the library's functions")]
    fn described(&self) -> Result<NvrtcAnswer, NvrtcAnswer> {
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: each writes to the integers it is given.
        done("nvrtcVersion", unsafe { (self.version)(&raw mut major, &raw mut minor) })?;
        // SAFETY: as above.
        done("nvrtcGetNumSupportedArchs", unsafe { (self.arch_count)(&raw mut count) })?;
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: it writes as many integers as it said.
        done("nvrtcGetSupportedArchs", unsafe { (self.archs)(archs.as_mut_ptr()) })?;
        Ok(NvrtcAnswer::Library { version: (major, minor), archs })
    }

    #[expect(unsafe_code, reason = "calls of the library's functions")]
    fn compiled(&self, source: &NvrtcSource) -> Result<NvrtcAnswer, NvrtcAnswer> {
        let text = c_text(&source.text)?;
        let name = c_text(&source.name)?;
        let (names, texts): (Vec<_>, Vec<_>) = source.headers.iter().cloned().unzip();
        let (names, texts) = (CTexts::new(&names)?, CTexts::new(&texts)?);
        let options = CTexts::new(&source.options)?;
        let wanted = CTexts::new(&source.name_expressions)?;
        let mut compilation: Compilation = ptr::null_mut();
        // SAFETY: all texts end in a NUL and live until the end of this function; the lists are as
        // long as said.
        let created = unsafe {
            (self.create)(
                &raw mut compilation,
                text.as_ptr(),
                name.as_ptr(),
                texts.count(),
                texts.pointers.as_ptr(),
                names.pointers.as_ptr(),
            )
        };
        done("nvrtcCreateProgram", created)?;
        for expression in &wanted.pointers {
            // SAFETY: the compilation was created, the text ends in a NUL.
            done("nvrtcAddNameExpression", unsafe { (self.add_name)(compilation, *expression) })?;
        }
        // SAFETY: the compilation was created, the list is as long as said.
        let status =
            unsafe { (self.compile)(compilation, options.count(), options.pointers.as_ptr()) };
        let (log, log_cut) = self.log(compilation)?;
        if matches!(status, COMPILATION | NAME_EXPRESSION_NOT_VALID) {
            return Err(NvrtcAnswer::Rejected { log, log_cut });
        }
        done("nvrtcCompileProgram", status).map_err(|answer| match answer {
            NvrtcAnswer::Failed(what) => NvrtcAnswer::Failed(format!("{what}\n{log}")),
            answer => answer,
        })?;
        let lowered = |expression: &*const c_char| self.lowered(compilation, *expression);
        let lowered_names = wanted.pointers.iter().map(lowered).collect::<Result<_, _>>()?;
        let mut ptx = self.bytes("PTX", self.ptx, compilation, GPU_IMAGE_BYTES_MAX)?;
        // The NUL at its end.
        ptx.pop();
        let machine_code = if source.machine_code {
            self.bytes("machine code", self.machine_code, compilation, GPU_IMAGE_BYTES_MAX)?
        } else {
            Vec::new()
        };
        Ok(NvrtcAnswer::Compiled { machine_code, ptx, lowered_names, log, log_cut })
    }

    fn log(&self, compilation: Compilation) -> Result<(String, bool), NvrtcAnswer> {
        let mut bytes = self.bytes("log", self.log, compilation, u64::MAX)?;
        // The NUL at its end; after some compilations there are two.
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        let cut = bytes.len() > GPU_LOG_BYTES_MAX;
        bytes.truncate(GPU_LOG_BYTES_MAX);
        Ok((String::from_utf8_lossy(&bytes).into_owned(), cut))
    }

    #[expect(unsafe_code, reason = "calls of the library's functions")]
    fn bytes(
        &self,
        what: &str,
        (size, get): (Size, Get),
        compilation: Compilation,
        bytes_max: u64,
    ) -> Result<Vec<u8>, NvrtcAnswer> {
        let mut count = 0;
        // SAFETY: the compilation was created; it writes one number.
        done(what, unsafe { size(compilation, &raw mut count) })?;
        if count as u64 > bytes_max {
            return Err(NvrtcAnswer::TooLarge);
        }
        let mut bytes = vec![0_u8; count];
        // SAFETY: it writes as many bytes as it said.
        done(what, unsafe { get(compilation, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    #[expect(unsafe_code, reason = "calls of the library's functions")]
    fn lowered(
        &self,
        compilation: Compilation,
        expression: *const c_char,
    ) -> Result<String, NvrtcAnswer> {
        let mut name = ptr::null();
        // SAFETY: the source was compiled, the text ends in a NUL.
        let status = unsafe { (self.lowered)(compilation, expression, &raw mut name) };
        done("nvrtcGetLoweredName", status)?;
        // SAFETY: on success it is a text that ends in a NUL and lives as long as the compilation.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}

fn done(what: &str, status: c_int) -> Result<(), NvrtcAnswer> {
    match status {
        SUCCESS => Ok(()),
        OUT_OF_MEMORY => Err(NvrtcAnswer::OutOfMemory),
        other => Err(NvrtcAnswer::Failed(format!("{what}: NVRTC's status {other}"))),
    }
}

fn c_text(text: &str) -> Result<CString, NvrtcAnswer> {
    // No compiler accepts a NUL in a source; their messages differ.
    CString::new(text).map_err(|_| NvrtcAnswer::Rejected {
        log: "the source holds a NUL".to_owned(),
        log_cut: false,
    })
}

/// Texts as C takes a list of them.
struct CTexts {
    /// To the texts, which do not move.
    pointers: Vec<*const c_char>,
    _texts: Vec<CString>,
}

impl CTexts {
    fn new(texts: &[String]) -> Result<Self, NvrtcAnswer> {
        let texts: Vec<CString> =
            texts.iter().map(|text| c_text(text)).collect::<Result<_, _>>()?;
        Ok(Self { pointers: texts.iter().map(|text| text.as_ptr()).collect(), _texts: texts })
    }

    fn count(&self) -> c_int {
        c_int::try_from(self.pointers.len()).expect("a request's lists are short")
    }
}
