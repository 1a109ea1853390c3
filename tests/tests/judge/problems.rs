//! The problems of `tests/problems`: what is submitted to each with the verdict that it must get, and
//! the tests, of which the larger ones are made here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_tests::checkout;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A response to a problem. Its verdict is the name of its folder.
pub(crate) struct Submission {
    pub(crate) problem: String,
    pub(crate) verdict: &'static str,
    /// Folder and file, to name it.
    pub(crate) name: String,
    pub(crate) response: String,
}

/// The folders' names as Kattis has them, and ours for what it does not know.
const VERDICTS: [(&str, &str); 8] = [
    ("accepted", "success"),
    ("wrong_answer", "wrong_answer"),
    ("time_limit_exceeded", "time_limit"),
    ("memory_limit_exceeded", "memory_limit"),
    ("output_limit_exceeded", "output_limit"),
    ("run_time_error", "runtime_error"),
    ("compile_error", "compile_failed"),
    ("extraction_failed", "extraction_failed"),
];

fn root() -> PathBuf {
    checkout().join("tests/problems")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The entries of a folder, in the order of names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = found.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned()
}

pub(crate) fn submissions() -> Vec<Submission> {
    let mut submissions = Vec::new();
    for problem in entries(&root()).into_iter().filter(|path| path.is_dir()) {
        for folder in entries(&problem.join("submissions")) {
            let kind = name(&folder);
            let known = VERDICTS.iter().find(|(kattis, _)| *kattis == kind);
            let (_, verdict) = known.unwrap_or_else(|| panic!("no verdict is called {kind}"));
            for file in entries(&folder) {
                submissions.push(Submission {
                    problem: name(&problem),
                    verdict,
                    name: format!("{}/{kind}/{}", name(&problem), name(&file)),
                    response: response(&file),
                });
            }
        }
    }
    submissions
}

/// A program as a model hands it in; a text is a response as it is.
fn response(file: &Path) -> String {
    let text = read(file);
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("cpp") => format!("This should do.\n\n```cpp\n{text}```\n"),
        Some("py") => format!("```python\n{text}\n```\nIt reads, computes and prints.\n"),
        _ => text,
    }
}

/// The label of a problem; packages and large tests lie in the storage root `judge`.
pub(crate) fn label(problem: &str) -> Value {
    let tests = |tests: &[(&str, &str)]| -> Value {
        tests.iter().map(|(input, output)| json!({ "input": input, "output": output })).collect()
    };
    let limits = json!({ "cpu_ms": 1_000, "memory_mib": 128 });
    match problem {
        "sum" => json!({ "tests": tests(SUMS), "limits": limits }),
        "paths" => json!({ "tests": paths(), "limits": limits }),
        "lines" => json!({
            "tests": "judge/lines", "compare": "trim_lines",
            "limits": { "cpu_ms": 1_000, "output_kib": 4_096 },
        }),
        "roots" => json!({
            "tests": tests(ROOTS), "limits": limits,
            "compare": { "floats": { "absolute": 1e-6, "relative": 1e-6 } },
        }),
        "pair" => json!({
            "tests": tests(PAIRS), "limits": limits,
            "checker": { "source": read(&root().join("pair/checker.cpp")), "toolchain": "cpp17-gcc" },
        }),
        "primes" => json!({
            "tests": tests(PRIMES), "limits": { "cpu_ms": 1_000, "memory_mib": 32 },
        }),
        "spaces" => json!({ "tests": tests(SPACES), "compare": "exact", "limits": limits }),
        "sorting" | "guess" | "halves" => {
            json!({ "problem": format!("judge/{problem}"), "format": "kattis" })
        }
        "coins" | "shuffle" => {
            json!({ "problem": format!("judge/{problem}"), "format": "dmoj", "limits": limits })
        }
        _ => panic!("nothing is known of the problem {problem}"),
    }
}

/// A number that no explanation may tell: it is expected, and in no submission.
pub(crate) const HIDDEN: &str = "1000000000000000003";

const SUMS: &[(&str, &str)] = &[
    ("1 2\n", "3\n"),
    ("-5 5\n", "0\n"),
    ("1000000000000000000 3\n", HIDDEN),
    ("2147483647 1\n", "2147483648\n"),
];

const ROOTS: &[(&str, &str)] = &[
    ("0 1 2\n", "0\n1\n1.414213562373095\n"),
    ("1e-10 1e12 3\n", "1e-5\n1e6\n1.7320508075688772\n"),
    ("123456789\n", "11111.1110605555554\n"),
];

const PAIRS: &[(&str, &str)] = &[
    ("6 10\n1 2 3 7 8 9\n", "1 6\n"),
    ("2 10\n5 5\n", "1 2\n"),
    ("3 10\n5 4 3\n", "-1\n"),
    ("4 0\n0 -7 7 0\n", "1 4\n"),
];

const PRIMES: &[(&str, &str)] =
    &[("2\n", "1\n"), ("100\n", "25\n"), ("100000\n", "9592\n"), ("5000000\n", "348513\n")];

const SPACES: &[(&str, &str)] = &[
    ("abc  def\tg\n", "cba  fed\tg\n"),
    ("  lead and trail \n\n", "  dael dna liart \n\n"),
    ("no end of line", "on dne fo enil"),
    ("\r\n\t\n", "\r\n\t\n"),
    ("", ""),
];

/// Sixty diamonds in a row: more ways than anyone can walk.
fn paths() -> Value {
    let mut edges = Vec::new();
    for at in (1..180).step_by(3) {
        edges.extend([(at, at + 1), (at, at + 2), (at + 1, at + 3), (at + 2, at + 3)]);
    }
    let lines: String = edges.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
    let ways = (0..60).fold(1_u64, |ways, _| ways * 2 % 1_000_000_007);
    json!([
        { "input": "4 4\n1 2\n1 3\n2 4\n3 4\n", "output": "2\n" },
        { "input": "3 1\n1 2\n", "output": "0\n" },
        { "input": format!("181 {}\n{lines}", edges.len()), "output": format!("{ways}\n") },
    ])
}

/// A storage root with all packages, and the file that names it.
pub(crate) struct Storage {
    folder: TempDir,
}

impl Storage {
    pub(crate) fn new() -> Self {
        let storage = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for problem in ["sorting", "guess", "halves", "coins", "shuffle"] {
            copy(&root().join(problem), &storage.judge().join(problem));
        }
        storage.add_sorting();
        storage.add_lines();
        storage.add_coins();
        let roots = format!(
            "[roots.judge]\nurl = \"file://{}\"\ntenants = [\"*\"]\n",
            storage.judge().display()
        );
        fs::write(storage.folder.path().join("storage.toml"), roots).expect("writes");
        storage
    }

    fn judge(&self) -> PathBuf {
        self.folder.path().join("judge")
    }

    /// For `--storage`.
    pub(crate) fn file(&self) -> String {
        self.folder.path().join("storage.toml").to_str().expect("a plain path").to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.judge().join(path);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("makes folders");
        fs::write(path, text).expect("writes");
    }

    fn add_sorting(&self) {
        for (test, count, spread) in
            [("1-few", 10, 5), ("2-equal", 200_000, 2), ("3-many", 200_000, 1 << 30)]
        {
            let mut state = count as u64 + spread;
            let mut numbers: Vec<i64> = (0..count)
                .map(|_| (next(&mut state) % spread) as i64 - spread as i64 / 2)
                .collect();
            let input = format!("{count}\n{}\n", words(&numbers));
            numbers.sort_unstable();
            self.write(&format!("sorting/data/secret/{test}.in"), &input);
            self.write(
                &format!("sorting/data/secret/{test}.ans"),
                &format!("{}\n", words(&numbers)),
            );
        }
    }

    fn add_lines(&self) {
        for (test, count) in [("1", 3_u64), ("2", 1), ("3", 200_000)] {
            let squares: String = (1..=count).map(|n| format!("{}\n", n * n)).collect();
            self.write(&format!("lines/{test}.in"), &format!("{count}\n"));
            self.write(&format!("lines/{test}.ans"), &squares);
        }
    }

    /// The archive that the package names, made as its author would.
    fn add_coins(&self) {
        let folder = self.folder.path().join("coins");
        fs::create_dir(&folder).expect("makes a folder");
        let tests = [
            ("1", 11, &[1, 5, 6][..]),
            ("2a", 10, &[1, 5, 6]),
            ("2b", 7, &[2, 4]),
            ("3", 9_000, &[1, 7, 13, 29, 31]),
        ];
        let mut zip = Command::new("python3");
        zip.args(["-m", "zipfile", "-c"]).arg(self.judge().join("coins/coins.zip"));
        for (test, amount, coins) in tests {
            let (input, output) = (format!("coins.{test}.in"), format!("coins.{test}.out"));
            fs::write(folder.join(&input), format!("{amount}\n{}\n", words(coins)))
                .expect("writes");
            let least = format!("{}\n", least_coins(amount, coins));
            fs::write(folder.join(&output), least).expect("writes");
            zip.args([folder.join(input), folder.join(output)]);
        }
        assert!(zip.status().expect("python3 runs").success(), "python3 makes an archive");
    }
}

fn words(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The next of a series of numbers that is the same everywhere.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn least_coins(amount: usize, coins: &[usize]) -> i64 {
    let mut least = vec![None; amount + 1];
    least[0] = Some(0);
    for value in 1..=amount {
        let before = coins.iter().filter_map(|coin| least[value.checked_sub(*coin)?]);
        least[value] = before.min().map(|used: i64| used + 1);
    }
    least[amount].unwrap_or(-1)
}

/// A package without what is submitted to it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes folders");
    for path in entries(from) {
        let target = to.join(name(&path));
        if path.is_dir() && name(&path) != "submissions" {
            copy(&path, &target);
        } else if path.is_file() {
            fs::copy(&path, target).expect("copies");
        }
    }
}
