//! Problem packages in storage, read as they are.
//!
//! A package is the trainer's, hence trusted in what it says, but not in its form: what is not
//! supported is a bad request that names it, and nothing is guessed.

mod archive;
mod dmoj;
mod folder;
mod kattis;
mod program;

use assay_plugin::{Error, storage};

use crate::label::{PackageFormat, PackageTask};
use crate::limits::{PACKAGE_NAMES_MAX, check_tests};
use crate::machine::Objects;
use crate::problem::Problem;
pub(crate) use folder::pairs;

pub(crate) fn read(objects: &impl Objects, task: &PackageTask) -> Result<Problem, Error> {
    let package = Package::open(objects, &task.problem)?;
    let problem = match task.format {
        PackageFormat::Kattis => kattis::read(&package)?,
        PackageFormat::Dmoj => dmoj::read(&package)?,
    };
    check_tests(problem.tests()).map_err(|fault| package.fault(fault))?;
    Ok(problem)
}

/// A folder and the names of all that is in it.
struct Package<'a, O> {
    objects: &'a O,
    folder: &'a str,
    /// Relative to the folder, sorted.
    paths: Vec<String>,
}

impl<'a, O: Objects> Package<'a, O> {
    fn open(objects: &'a O, folder: &'a str) -> Result<Self, Error> {
        let folder = folder.trim_end_matches('/');
        let names = objects.names(folder)?;
        if names.len() > PACKAGE_NAMES_MAX {
            let count = names.len();
            return Err(Error::bad_request(format!(
                "{folder} holds {count} objects, at most {PACKAGE_NAMES_MAX} are looked at"
            )));
        }
        let relative =
            |name: String| Some(name.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
        Ok(Self { objects, folder, paths: names.into_iter().filter_map(relative).collect() })
    }

    fn has(&self, path: &str) -> bool {
        self.paths.binary_search_by(|have| have.as_str().cmp(path)).is_ok()
    }

    fn name(&self, path: &str) -> String {
        format!("{}/{path}", self.folder)
    }

    /// Paths below a folder of the package.
    fn below(&self, folder: &str) -> impl Iterator<Item = &str> {
        self.paths
            .iter()
            .map(String::as_str)
            .filter(move |path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, Error> {
        self.objects.get(&self.name(path)).map_err(|error| match error {
            storage::Error::NotFound(_) => self.fault(format!("there is no {path}")),
            storage::Error::TooLarge(size) => {
                self.fault(format!("{path} has {size} bytes, too many to be read"))
            }
            other => other.into(),
        })
    }

    fn text(&self, path: &str) -> Result<String, Error> {
        String::from_utf8(self.bytes(path)?).map_err(|_| self.fault(format!("{path} is no text")))
    }

    fn yaml<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        serde_saphyr::from_str(&self.text(path)?)
            .map_err(|error| self.fault(format!("{path}: {error}")))
    }

    fn fault(&self, problem: impl std::fmt::Display) -> Error {
        Error::bad_request(format!("package {}: {problem}", self.folder))
    }
}

#[cfg(test)]
mod tests;
