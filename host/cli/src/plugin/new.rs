//! `assay plugin new`: a project from a template, with the SDK in it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use assay_core::limits;
use assay_core::plugin::check_name;
use serde::Serialize;

use super::super::Format;

/// Paths below `sdk/`, and what the files hold.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));
/// The placeholders in templates for the plugin's name, and for its name as an identifier.
const NAME: &str = "__NAME__";
const IDENTIFIER: &str = "__CRATE__";

#[derive(clap::Args)]
pub(super) struct PluginNewCommand {
    /// Name of the plugin: lower-case letters, digits, `-` and `_`
    name: String,
    /// Template of the project, such as rust or python
    #[arg(long, default_value = "rust", value_parser = template)]
    template: String,
    /// Folder to create [default: NAME]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

#[derive(Serialize)]
struct NewProject {
    name: String,
    template: String,
    folder: PathBuf,
    files: usize,
}

fn templates() -> Vec<&'static str> {
    let named = |path: &'static str| path.strip_prefix("templates/")?.split('/').next();
    let mut names: Vec<_> = FILES.iter().filter_map(|(path, _)| named(path)).collect();
    names.dedup();
    names
}

fn template(text: &str) -> Result<String, String> {
    let known = templates();
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("unknown template; the templates are {}", known.join(", ")))
}

pub(super) fn run(options: PluginNewCommand, format: Format) -> anyhow::Result<()> {
    let PluginNewCommand { name, template, to } = options;
    check_name("NAME", &name, limits::PLUGIN_NAME_BYTES_MAX).map_err(anyhow::Error::msg)?;
    ensure!(
        name.starts_with(|c: char| c.is_ascii_lowercase()),
        "NAME `{name}` must start with a letter, as packages do"
    );
    let folder = to.unwrap_or_else(|| PathBuf::from(&name));
    ensure!(
        !folder.exists(),
        "{} exists already and is not overwritten; give another name, or --to DIR",
        folder.display()
    );
    let files = files_of(&template);
    // Created atomically: an interrupted call must not block the next one.
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    std::fs::create_dir_all(&parent).with_context(|| format!("creating {}", parent.display()))?;
    let unfinished = tempfile::Builder::new()
        .prefix(".assay-new-")
        .tempdir_in(&parent)
        .with_context(|| format!("writing to {}", parent.display()))?;
    let project = unfinished.path().join("project");
    for (path, bytes) in &files {
        write(&project.join(path), &filled(bytes, &name))?;
    }
    std::fs::rename(&project, &folder).with_context(|| format!("creating {}", folder.display()))?;
    let made = NewProject { name, template, files: files.len(), folder };
    format.print(&made, text)
}

/// The files of a project: their paths, and bytes with placeholders for its name.
fn files_of(template: &str) -> Vec<(String, &'static [u8])> {
    let own = format!("templates/{template}/");
    let below = |prefix: &str, to: &str| {
        let found = FILES.iter().filter_map(|(path, bytes)| {
            Some((format!("{to}{}", path.strip_prefix(prefix)?), *bytes))
        });
        found.collect::<Vec<_>>()
    };
    let mut files = below(&own, "");
    // The project contains the SDK, as no registry has it.
    let is_rust = files.iter().any(|(path, _)| path == "Cargo.toml");
    let is_python = files.iter().any(|(path, _)| path == "plugin.py");
    if is_rust {
        files.extend(below("rust/", "vendor/assay-plugin/"));
        files.extend(below("wit/", "vendor/wit/"));
    } else if is_python {
        files.extend(below("python-plugin/", "vendor/assay-plugin/"));
        files.extend(below("wit/", "vendor/assay-plugin/wit/"));
    } else {
        files.extend(below("wit/", "vendor/wit/"));
    }
    files
}

fn filled(bytes: &[u8], name: &str) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            text.replace(NAME, name).replace(IDENTIFIER, &name.replace('-', "_")).into_bytes()
        }
        Err(_) => bytes.to_vec(),
    }
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .with_context(|| format!("writing {}", path.display()))
}

fn text(made: &NewProject) -> String {
    let folder = made.folder.display();
    let NewProject { template, files, .. } = made;
    format!(
        "created {folder} from the template {template}: {files} files\n\n  cd {folder}\n  \
         assay plugin test\n  assay plugin publish --channel dev\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_a_project_that_stands_alone() {
        for template in templates() {
            let files = files_of(template);
            let has = |name: &str| files.iter().any(|(path, _)| path == name);
            assert!(has("plugin.toml") && has("README.md") && has(".gitignore"), "{template}");
            assert!(files.iter().any(|(path, _)| path.starts_with("cases/")), "{template}");
            assert!(files.iter().any(|(path, _)| path.ends_with("wit/reward/reward.wit")));
            for (path, bytes) in files {
                let text = String::from_utf8(filled(bytes, "a-plugin")).unwrap_or_default();
                assert!(!text.contains("__NAME__") && !text.contains("__CRATE__"), "{path}");
                let ours = path.ends_with("Cargo.toml") && text.contains("workspace = true");
                assert!(!ours, "{template}/{path} inherits from a workspace that is not there");
            }
        }
        assert!(template("cobol").is_err_and(|known| known.contains("rust-multistage")));
    }
}
