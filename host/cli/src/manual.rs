//! `assay completions` and `assay manual`: the command line described for shells and for `man`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use super::terminal::written;

#[derive(clap::Args)]
pub(super) struct CompletionsOptions {
    /// Shell to write for
    shell: Shell,
}

#[derive(clap::Args)]
pub(super) struct ManualOptions {
    /// Folder to write to; made if absent
    folder: PathBuf,
}

pub(super) fn complete(options: &CompletionsOptions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut program(), "assay", &mut script);
    written(std::io::stdout().write_all(&script)).context("writing the completions")?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn write(options: &ManualOptions) -> anyhow::Result<ExitCode> {
    let folder = &options.folder;
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    // A page for each visible verb: `assay-batch-ls.1`.
    clap_mangen::generate_to(program(), folder)
        .with_context(|| format!("writing to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn program() -> Command {
    super::Arguments::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_and_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        write(&ManualOptions { folder: folder.path().to_owned() }).unwrap();
        let mut script = Vec::new();
        clap_complete::generate(Shell::Bash, &mut program(), "assay", &mut script);
        let script = String::from_utf8(script).unwrap();
        let mut program = program();
        program.build();
        for verb in program.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let name = verb.get_name();
            assert!(script.contains(name), "{name} is not completed");
            if name != "help" {
                let page = folder.path().join(format!("assay-{name}.1"));
                let page = std::fs::read_to_string(page).unwrap();
                assert!(page.contains(".SH NAME"), "{page}");
            }
        }
        assert!(folder.path().join("assay-batch-ls.1").is_file());
        assert!(!folder.path().join("assay-manual.1").exists());
    }
}
