//! The machine itself: cores, memory, the data folder, PostgreSQL.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::statvfs::statvfs;

use super::Finding;
use assay_store::Store;

const GIB: f64 = (1_u64 << 30) as f64;
/// Enough for PostgreSQL, the server and a worker that compiles.
const MEMORY_GIB_FEW: f64 = 2.0;
const DISK_GIB_FEW: f64 = 2.0;
const DATABASE_TIMEOUT: Duration = Duration::from_secs(10);
const MAJOR_MIN: u32 = 14;

pub(super) fn hardware() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_gib(&text));
    let found = match memory {
        Some(gib) => format!("{cores} cores, {gib:.1} GiB of memory"),
        None => format!("{cores} cores"),
    };
    if memory.is_some_and(|gib| gib < MEMORY_GIB_FEW) {
        return Finding::warn("machine", found)
            .advise("large plugins may fail to compile, and only a few workers fit");
    }
    Finding::ok("machine", found)
}

fn memory_gib(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / GIB)
}

/// The folder with its finding, or the finding that there is none.
pub(super) fn data_folder(given: Option<PathBuf>) -> Result<(PathBuf, Finding), Finding> {
    const CHECK: &str = "data folder";
    let fail = |why: String| Finding::fail(CHECK, why);
    let data = given.map_or_else(assay_postgres::default_data_folder, Ok);
    let data = data.map_err(|error| fail(error.to_string()))?;
    let data = std::path::absolute(&data).map_err(|error| fail(error.to_string()))?;
    let shown = data.display().to_string();
    // The server creates it at its first start.
    let existing = data.ancestors().find(|folder| folder.exists()).unwrap_or(&data);
    if let Err(error) = tempfile::tempfile_in(existing) {
        let found = format!("{} cannot be written: {error}", existing.display());
        let advice =
            "choose another one with --data (or ASSAY_DATA), or allow this user to write to it";
        return Err(fail(found).advise(advice));
    }
    let free = statvfs(existing)
        .map(|disk| disk.blocks_available() as f64 * disk.fragment_size() as f64 / GIB);
    let finding = match free {
        Ok(gib) if gib < DISK_GIB_FEW => {
            Finding::warn(CHECK, format!("{shown} can be written, {gib:.1} GiB are free"))
                .advise("make room: results, history and compiled plugins grow there")
        }
        Ok(gib) => Finding::ok(CHECK, format!("{shown} can be written, {gib:.1} GiB are free")),
        Err(_) => Finding::ok(CHECK, format!("{shown} can be written")),
    };
    Ok((data, finding))
}

/// Checks the programs for a private cluster, or the database that is used instead.
pub(super) async fn postgres(data: &Path, url: Option<&str>) -> Finding {
    const CHECK: &str = "PostgreSQL";
    let Some(url) = url.filter(|url| !url.is_empty()) else {
        return match assay_postgres::find_programs(data) {
            Ok((folder, major)) => {
                Finding::ok(CHECK, format!("version {major} in {}", folder.display()))
            }
            // Its message says what to do.
            Err(error) => Finding::fail(CHECK, error.to_string()),
        };
    };
    let look = tokio::time::timeout(DATABASE_TIMEOUT, Store::look(url)).await;
    let advice = "correct DATABASE_URL (or --database-url), or start that server";
    match look {
        Err(_) => Finding::fail(CHECK, "the database does not answer").advise(advice),
        Ok(Err(error)) => Finding::fail(CHECK, error.to_string()).advise(advice),
        Ok(Ok(version)) => {
            let major = version / 10_000;
            let found = format!("the database answers, version {major}");
            if major >= MAJOR_MIN {
                return Finding::ok(CHECK, found);
            }
            Finding::fail(CHECK, found).advise(format!("version {MAJOR_MIN} or newer is needed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read() {
        let text = "MemTotal:        8388608 kB\nMemFree:          100 kB\n";
        assert_eq!(memory_gib(text), Some(8.0));
        assert_eq!(memory_gib("MemFree: 1 kB"), None);
    }

    #[test]
    fn a_data_folder_that_is_yet_to_come_is_fine_and_a_file_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, finding) = data_folder(Some(folder.path().join("a/b"))).expect("is fine");
        assert!(data.ends_with("a/b") && !data.exists());
        assert!(finding.found.contains("can be written"), "{finding:?}");
        std::fs::write(folder.path().join("file"), b"").expect("writes");
        let finding = data_folder(Some(folder.path().join("file/data"))).expect_err("is a file");
        assert!(finding.advice.expect("it says").contains("--data"));
    }
}
