//! Four ways to run a program that does nothing, each as a caller would use it: with its output
//! captured and its end awaited.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use assay_exec::job::{JobProgram, Purpose};
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::ProgramEnding;
use assay_exec::{BoxJob, Helper, HelperOptions};
use hakoniwa::Container;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};

use assay_bench::sections::{ASSAY, PLAIN};

const NOTHING: &str = "int main(void) { return 0; }\n";
/// Far beyond what a run takes on the busiest machine.
const RUN_MAX: Duration = Duration::from_secs(30);
/// The path of the program in the others' boxes; Assay's and plain runs have no need of a name.
const PATH_IN_BOX: &str = "/program";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Assay,
    Bubblewrap,
    Hakoniwa,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => PLAIN,
            Self::Assay => ASSAY,
            Self::Bubblewrap => "bubblewrap",
            Self::Hakoniwa => "hakoniwa",
        }
    }
}

/// The program and folder from which contenders are made.
pub(crate) struct Workshop {
    helper_program: PathBuf,
    /// The program that does nothing.
    program: PathBuf,
    folder: PathBuf,
    made: u32,
}

impl Workshop {
    /// Compiles the program in `folder`, which is new.
    pub(crate) fn new(helper_program: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let (source, program) = (folder.join("nothing.c"), folder.join("nothing"));
        fs::write(&source, NOTHING)?;
        let mut gcc = Command::new("gcc");
        gcc.args(["-O2", "-static", "-o"]).arg(&program).arg(&source);
        let output = gcc.output().context("gcc is needed")?;
        ensure!(output.status.success(), "gcc: {}", String::from_utf8_lossy(&output.stderr));
        let helper_program = helper_program.to_owned();
        Ok(Self { helper_program, program, folder: folder.to_owned(), made: 0 })
    }

    /// A contender of its own for one thread, after its first run, which has to succeed.
    pub(crate) fn contender(&mut self, kind: Kind) -> Result<Contender> {
        let mut contender = match kind {
            Kind::Plain => Contender::Plain(self.program.clone()),
            Kind::Assay => self.assay()?,
            Kind::Bubblewrap => Contender::Bubblewrap(self.program.clone()),
            Kind::Hakoniwa => Contender::Hakoniwa(Box::new(self.container()?)),
        };
        contender.run().with_context(|| format!("{} runs nothing here", kind.name()))?;
        Ok(contender)
    }

    fn assay(&mut self) -> Result<Contender> {
        self.made += 1;
        let folder = self.folder.join(format!("helper-{}", self.made));
        let [scratch, toolchains] = ["scratch", "toolchains"].map(|name| folder.join(name));
        fs::create_dir_all(&scratch)?;
        fs::create_dir_all(&toolchains)?;
        let helper = Helper::start(&HelperOptions {
            program: self.helper_program.clone(),
            scratch,
            paths: Vec::new(),
            shown: Vec::new(),
            toolchains,
            weaker: Vec::new(),
        })?;
        let program = sealed(&fs::read(&self.program)?)?;
        Ok(Contender::Assay { helper: Box::new(helper), program })
    }

    fn container(&self) -> Result<Container> {
        let mut container = Container::new();
        let program = self.program.to_str().context("the temporary folder's name is no text")?;
        container.rootfs("/")?.tmpfsmount("/tmp").bindmount_ro(program, PATH_IN_BOX);
        Ok(container)
    }
}

/// A memory file that nobody can change, as artifacts are kept.
fn sealed(bytes: &[u8]) -> Result<OwnedFd> {
    let file = memfd_create(c"nothing", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals | SealFlag::F_SEAL_SEAL))?;
    Ok(file.into())
}

pub(crate) enum Contender {
    Plain(PathBuf),
    Assay { helper: Box<Helper>, program: OwnedFd },
    Bubblewrap(PathBuf),
    Hakoniwa(Box<Container>),
}

impl Contender {
    /// One run, from its start to its end.
    pub(crate) fn run(&mut self) -> Result<()> {
        match self {
            Self::Plain(program) => succeed(&mut Command::new(program)),
            Self::Assay { helper, program } => run_boxed(helper, program),
            Self::Bubblewrap(program) => succeed(&mut bubblewrap(program)),
            Self::Hakoniwa(container) => {
                let output = container.command(PATH_IN_BOX).output()?;
                ensure!(output.status.success(), "{}", output.status.reason);
                Ok(())
            }
        }
    }
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", output.status);
    Ok(())
}

fn bubblewrap(program: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command
        .args(["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--ro-bind"])
        .arg(program)
        .args([PATH_IN_BOX, "--proc", "/proc", "--tmpfs", "/tmp", "--", PATH_IN_BOX]);
    command
}

fn run_boxed(helper: &mut Helper, program: &OwnedFd) -> Result<()> {
    let job = BoxJob {
        purpose: Purpose::Run,
        program: JobProgram::Sealed(program.as_fd()),
        args: vec!["nothing".into()],
        env: Vec::new(),
        files: Vec::new(),
        stdin: b"",
        collect: Vec::new(),
        limits: BoxLimits::RUN,
    };
    let ended = helper.run(&job, Instant::now() + RUN_MAX)?;
    ensure!(ended.ending == ProgramEnding::Exited(0), "it ended as {:?}", ended.ending);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_fails_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut workshop = Workshop::new(Path::new("/no/helper"), folder.path()).expect("gcc");
        workshop.contender(Kind::Plain).expect("nothing is easy");
        let Err(error) = workshop.contender(Kind::Assay) else { panic!("there is no helper") };
        assert!(format!("{error:#}").contains("/no/helper"), "{error:#}");
        workshop.program = "/bin/false".into();
        let Err(error) = workshop.contender(Kind::Plain) else { panic!("it fails") };
        assert!(format!("{error:#}").contains("exit status: 1"), "{error:#}");
    }
}
