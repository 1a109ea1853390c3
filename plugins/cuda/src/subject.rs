//! A program to compile, and what its compilation left: kernels by name, and the compiler's complaint.

use assay_plugin::gpu::KernelInfo;

use crate::extract::{Form, Script, SourceUnit};
use crate::label::{Launch, Trusted};
use crate::limits::LOG_SHOWN_BYTES_MAX;
use crate::verdict::{Failure, Verdict, beginning};

/// A program to compile: that of a response, or one of the label's.
pub(crate) struct Subject<'a> {
    pub(crate) form: Form,
    pub(crate) units: Vec<SourceUnit>,
    pub(crate) entry: &'a str,
    pub(crate) python: Option<&'a Script>,
    /// The launch of a bare kernel.
    pub(crate) launch: Option<&'a Launch>,
    pub(crate) file: &'static str,
}

impl<'a> Subject<'a> {
    pub(crate) fn trusted(program: &'a Trusted, file: &'static str) -> Self {
        let form = if program.launch.is_some() { Form::Kernel } else { Form::Host };
        let launch = program.launch.as_ref();
        let (code, entries) = (program.source.clone(), vec![program.entry.clone()]);
        Self {
            form,
            units: vec![SourceUnit { code, entries, bound: false }],
            entry: &program.entry,
            python: None,
            launch,
            file,
        }
    }
}

/// A kernel by its name in the source; a C++ name is found by what the compiler made of it.
pub(crate) fn kernel_named<'a>(
    kernels: &'a [KernelInfo],
    entry: &str,
) -> Result<&'a KernelInfo, Failure> {
    if let Some(kernel) = kernels.iter().find(|kernel| kernel.name == entry) {
        return Ok(kernel);
    }
    let mangled = [format!("_Z{}{entry}", entry.len()), format!("_ZL{}{entry}", entry.len())];
    let is_named =
        |kernel: &&KernelInfo| mangled.iter().any(|begin| kernel.name.starts_with(begin));
    let mut named = kernels.iter().filter(is_named);
    let reason = match (named.next(), named.next()) {
        (Some(kernel), None) => return Ok(kernel),
        (None, _) => format!("there is no kernel `{entry}` in what was compiled"),
        (Some(_), Some(_)) => format!("there are several kernels `{entry}`"),
    };
    Err(Failure::new(Verdict::CompileFailed, reason))
}

/// The lines about errors with what stands below them, else the log's beginning.
pub(crate) fn complaint(log: &str) -> String {
    const LINES_BELOW: usize = 2;
    let mut shown = String::new();
    let mut below = 0;
    for line in log.lines() {
        if line.contains("error") || line.contains("undefined reference") {
            below = LINES_BELOW + 1;
        }
        if below > 0 && shown.len() < LOG_SHOWN_BYTES_MAX {
            shown.push_str(line);
            shown.push('\n');
            below -= 1;
        }
    }
    let text = if shown.is_empty() { log } else { &shown };
    beginning(text.trim(), LOG_SHOWN_BYTES_MAX)
}
