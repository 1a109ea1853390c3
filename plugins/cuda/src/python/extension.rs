//! Extensions that a response compiles: calls of `load_inline`, and of `load` over files that it writes itself.

use ruff_text_size::TextRange;

use super::call::{CallArguments, texts};
use super::run::Run;
use super::value::Value;
use super::{Extension, unsupported};
use crate::limits::{EXTENSIONS_MAX, PYTHON_ENTRIES_MAX, SOURCE_BYTES_MAX};
use crate::verdict::{Failure, Stop, Verdict};

/// The folder that stands for every temporary one.
const FOLDER: &str = "/tmp/files";

impl Run<'_> {
    pub(super) fn load_inline(&mut self, taken: &CallArguments) -> Result<Value, Stop> {
        let part = |place: usize, name: &str| {
            texts(taken.get(place, name)).ok_or_else(|| {
                unsupported(format!(
                    "{name} of load_inline is not known without running it, or too long"
                ))
            })
        };
        let mut sources = part(1, "cpp_sources")?;
        let cuda = part(2, "cuda_sources")?;
        let functions = part(3, "functions")?;
        if cuda.is_empty() {
            let reason = "its load_inline has no cuda_sources";
            return Err(Failure::new(Verdict::GenerationFailed, reason).into());
        }
        sources.extend(cuda);
        self.extension(Extension { sources, functions })
    }

    /// `load` reads files, of which only those are there that the response wrote.
    pub(super) fn load(&mut self, taken: &CallArguments) -> Result<Value, Stop> {
        let paths = texts(taken.get(1, "sources"))
            .ok_or_else(|| unsupported("sources of load is not known without running it"))?;
        let (mut sources, mut bytes) = (Vec::new(), 0);
        for path in &paths {
            let Some(text) = self.files.get(path) else {
                return Err(unsupported(format!(
                    "it compiles the file `{path}`, which it did not write: a response has no files beside it"
                ))
                .into());
            };
            bytes += text.len();
            if bytes > SOURCE_BYTES_MAX {
                return Err(unsupported("it compiles too long files").into());
            }
            sources.push(text.clone());
        }
        self.extension(Extension { sources, functions: Vec::new() })
    }

    /// The number of an extension; the run that reads and those at each size meet the same ones.
    fn extension(&mut self, made: Extension) -> Result<Value, Stop> {
        if let Some(number) = self.extensions.iter().position(|one| *one == made) {
            return Ok(Value::Extension(number));
        }
        if self.extensions.len() >= EXTENSIONS_MAX {
            let reason = format!("it compiles more than {EXTENSIONS_MAX} extensions");
            return Err(unsupported(reason).into());
        }
        if self.at.is_some() && !self.collects {
            return Err(unsupported("it compiles other extensions at other sizes").into());
        }
        self.extensions.push(made);
        Ok(Value::Extension(self.extensions.len() - 1))
    }

    /// Functions of paths and files; nothing where it is none of those.
    pub(super) fn of_files(
        &mut self,
        name: &str,
        taken: &CallArguments,
    ) -> Option<Result<Value, Stop>> {
        let first = taken.values.first();
        Some(match name {
            "open" | "pathlib.Path" => {
                let path = first?.as_text()?;
                let mode = taken.get(1, "mode").and_then(Value::as_text);
                match name == "pathlib.Path" || mode.is_some_and(|mode| mode.starts_with('w')) {
                    true => {
                        self.files.remove(path);
                        Ok(Value::File(path.into()))
                    }
                    false => return None,
                }
            }
            "os.path.join" => {
                let parts: Option<Vec<&str>> = taken.values.iter().map(Value::as_text).collect();
                self.text(&parts?.join("/"))
            }
            "os.path.abspath" => self.text(first?.as_text()?),
            "tempfile.mkdtemp" | "tempfile.gettempdir" | "tempfile.TemporaryDirectory" => {
                self.text(FOLDER)
            }
            "os.makedirs" => Ok(Value::None),
            _ => return None,
        })
    }

    pub(super) fn file_method(
        &mut self,
        path: &str,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        match (name, &taken.values[..]) {
            ("write" | "write_text", [Value::Text(text)]) => {
                let is_new = !self.files.contains_key(path);
                self.charge(text.len())?;
                let written = self.files.entry(path.to_owned()).or_default();
                if name == "write_text" {
                    written.clear();
                }
                written.push_str(text);
                let is_long = written.len() > SOURCE_BYTES_MAX;
                if is_long || (is_new && self.files.len() > PYTHON_ENTRIES_MAX) {
                    return Err(unsupported("it writes too many or too long files").into());
                }
                Ok(Value::None)
            }
            ("close" | "flush", []) => Ok(Value::None),
            _ => Err(self.not_run(range)),
        }
    }
}
