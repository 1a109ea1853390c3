//! DMOJ packages: `init.yml` and the files that it names, in the folder or in its archive; README.md
//! lists what is supported.

use std::collections::BTreeMap;

use assay_plugin::Error;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Package;
use super::archive::Archive;
use super::program::program_of;
use crate::compare::{Comparison, FloatMode, Split};
use crate::limits::{TestLimits, check_tests};
use crate::machine::Objects;
use crate::problem::{Data, Group, Judge, JudgeProgram, Problem, Protocol, Test};
use crate::settings::Compare;

const CHECKER_HARNESS: &str =
    concat!(include_str!("../python/blame.py"), include_str!("../python/dmoj_checker.py"));

/// Keys that change nothing about a verdict here.
const IGNORED: &[&str] =
    &["hints", "unbuffered", "wall_time_factor", "output_prefix_length", "pretest_test_cases"];

/// The same for programs of a package: their language shows in their names, and they have limits of
/// ours.
const BRIDGE_IGNORED: &[&str] = &[
    "lang",
    "feedback",
    "cached",
    "time_limit",
    "memory_limit",
    "compiler_time_limit",
    "preprocessing_time",
];

#[derive(Deserialize)]
struct Init {
    #[serde(default)]
    archive: Option<String>,
    test_cases: Vec<Case>,
    #[serde(default)]
    checker: Option<Checker>,
    #[serde(default)]
    points: Option<f64>,
    #[serde(default)]
    interactive: Option<Bridge>,
    #[serde(default)]
    output_limit_length: Option<u64>,
    /// Whether line ends stay as they are.
    #[serde(default)]
    binary_data: bool,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Case {
    #[serde(default, rename = "in")]
    input: Option<String>,
    #[serde(default, rename = "out")]
    output: Option<String>,
    #[serde(default)]
    points: Option<f64>,
    #[serde(default)]
    checker: Option<Checker>,
    #[serde(default)]
    batched: Vec<Case>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Checker {
    Name(String),
    WithArgs {
        name: String,
        #[serde(default)]
        args: Map<String, Value>,
    },
}

/// A program in the package that speaks testlib's or the default protocol.
#[derive(Deserialize)]
struct Bridge {
    files: OneOrMany,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

struct Reader<'a, O> {
    package: &'a Package<'a, O>,
    archive: Option<Archive>,
    judges: Vec<Judge>,
    interactive: bool,
    binary_data: bool,
}

pub(super) fn read<O: Objects>(package: &Package<'_, O>) -> Result<Problem, Error> {
    let init: Init = package.yaml("init.yml")?;
    only_known(&init.others).map_err(|problem| package.fault(problem))?;
    let archive = match &init.archive {
        None => None,
        Some(path) => {
            let opened = Archive::open(package.bytes(path)?);
            Some(opened.map_err(|problem| package.fault(format!("{path}: {problem}")))?)
        }
    };
    let tests = init.test_cases.iter().map(|case| case.batched.len().max(1)).sum();
    check_tests(tests).map_err(|problem| package.fault(problem))?;
    let binary_data = init.binary_data;
    let judges = Vec::new();
    let mut reader = Reader { package, archive, judges, interactive: false, binary_data };
    if let Some(bridge) = &init.interactive {
        let interactor = reader.bridge(bridge, Protocol::DmojInteractor)?;
        reader.judges.push(Judge::Interactor(interactor));
        reader.interactive = true;
    }
    let mut groups = Vec::new();
    for (at, case) in init.test_cases.iter().enumerate() {
        groups.push(reader.group(&(at + 1).to_string(), case, &init)?);
    }
    let output_kib =
        init.output_limit_length.map(|bytes| bytes.div_ceil(1_024).clamp(1, 16_384) as u32);
    let limits = TestLimits { output_kib, ..TestLimits::default() };
    Ok(Problem { groups, judges: reader.judges, limits })
}

fn only_known(others: &BTreeMap<String, Value>) -> Result<(), String> {
    match others.keys().find(|key| !IGNORED.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("init.yml: `{key}` is not supported")),
    }
}

impl<O: Objects> Reader<'_, O> {
    fn fault(&self, problem: impl std::fmt::Display) -> Error {
        self.package.fault(problem)
    }

    fn group(&mut self, name: &str, case: &Case, init: &Init) -> Result<Group, Error> {
        only_known(&case.others).map_err(|problem| self.fault(problem))?;
        let checker = case.checker.as_ref().or(init.checker.as_ref());
        let points = case.points.or(init.points).unwrap_or(1.0);
        if !(points.is_finite() && points >= 0.0) {
            return Err(self.fault(format!("test {name}: points must be 0 or more")));
        }
        let mut group = Group { points, tests: Vec::new() };
        if case.batched.is_empty() {
            group.tests.push(self.test(name.to_owned(), case, checker)?);
        }
        for (at, inner) in case.batched.iter().enumerate() {
            only_known(&inner.others).map_err(|problem| self.fault(problem))?;
            if !inner.batched.is_empty() {
                return Err(self.fault("a batch in a batch"));
            }
            let checker = inner.checker.as_ref().or(checker);
            group.tests.push(self.test(format!("{name}.{}", at + 1), inner, checker)?);
        }
        Ok(group)
    }

    fn test(
        &mut self,
        name: String,
        case: &Case,
        checker: Option<&Checker>,
    ) -> Result<Test, Error> {
        let judge = if self.interactive { 0 } else { self.judge(checker)? };
        let input = self.optional(case.input.as_deref())?;
        if case.output.is_none() && matches!(self.judges[judge], Judge::Compare(_)) {
            return Err(self.fault(format!("test {name} has no `out`")));
        }
        let answer = self.optional(case.output.as_deref())?;
        Ok(Test { name, input, answer, judge, args: Vec::new() })
    }

    fn optional(&self, path: Option<&str>) -> Result<Data, Error> {
        path.map_or(Ok(Data::Inline(Vec::new())), |path| self.data(path))
    }

    fn data(&self, path: &str) -> Result<Data, Error> {
        if self.package.has(path) {
            return Ok(Data::Object(self.package.name(path)));
        }
        let found = self.archive.as_ref().map_or(Ok(None), |archive| archive.read(path));
        let found = found.map_err(|problem| self.fault(problem))?;
        let bytes = found.ok_or_else(|| self.fault(format!("there is no file {path}")))?;
        Ok(Data::Inline(if self.binary_data { bytes } else { with_plain_line_ends(bytes) }))
    }

    fn judge(&mut self, checker: Option<&Checker>) -> Result<usize, Error> {
        let nothing = Map::new();
        let (name, args) = match checker {
            None => ("standard", &nothing),
            Some(Checker::Name(name)) => (name.as_str(), &nothing),
            Some(Checker::WithArgs { name, args }) => (name.as_str(), args),
        };
        let judge = if name.contains('.') {
            Judge::Checker(self.python(name, args)?)
        } else if name == "bridged" {
            let bridge = Bridge::deserialize(Value::Object(args.clone()))
                .map_err(|error| self.fault(format!("checker bridged: {error}")))?;
            Judge::Checker(self.bridge(&bridge, Protocol::DmojChecker)?)
        } else {
            Judge::Compare(built_in(name, args).map_err(|problem| self.fault(problem))?)
        };
        let have = self.judges.iter().position(|have| *have == judge);
        Ok(have.unwrap_or_else(|| {
            self.judges.push(judge);
            self.judges.len() - 1
        }))
    }

    fn python(&self, name: &str, args: &Map<String, Value>) -> Result<JudgeProgram, Error> {
        if !name.ends_with(".py") {
            return Err(self.fault(format!("checker {name}: only Python files, or `bridged`")));
        }
        Ok(JudgeProgram {
            toolchain: "python".into(),
            main: Some("dmoj_checker.py".into()),
            source: Data::Inline(CHECKER_HARNESS.into()),
            files: vec![("checker.py".into(), self.data(name)?)],
            protocol: Protocol::Harness,
            options: Vec::new(),
            args: vec!["checker.py".into(), Value::Object(args.clone()).to_string()],
        })
    }

    fn bridge(&self, bridge: &Bridge, default: Protocol) -> Result<JudgeProgram, Error> {
        let protocol = match bridge.kind.as_deref() {
            None | Some("default") => default,
            Some("testlib") => Protocol::Testlib,
            Some(kind) => {
                return Err(self.fault(format!("programs of type `{kind}` are not supported")));
            }
        };
        let ignored = |key: &String| BRIDGE_IGNORED.contains(&key.as_str());
        if let Some(key) = bridge.others.keys().find(|key| !ignored(key)) {
            return Err(self.fault(format!("init.yml: `{key}` of a program is not supported")));
        }
        let paths: Vec<&str> = match &bridge.files {
            OneOrMany::One(path) => vec![path],
            OneOrMany::Many(paths) => paths.iter().map(String::as_str).collect(),
        };
        if let Some(path) = paths.iter().find(|path| !self.package.has(path)) {
            return Err(self.fault(format!("there is no file {path}")));
        }
        let program = program_of(self.package, &paths, protocol);
        let program = program.map_err(|problem| self.fault(problem))?;
        Ok(JudgeProgram { options: bridge.flags.clone(), ..program })
    }
}

fn built_in(name: &str, args: &Map<String, Value>) -> Result<Comparison, String> {
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    let epsilon = || -> Result<f64, String> {
        let precision = args.get("precision").map_or(Some(6), Value::as_i64);
        let precision = precision.filter(|digits| (0..=300).contains(digits));
        let digits = precision.ok_or(format!("checker {name}: precision must be 0 to 300"))?;
        Ok(10_f64.powi(-(digits as i32)))
    };
    Ok(match (name, text("error_mode"), text("split_on")) {
        ("standard", ..) => Comparison::Standard,
        ("identical", ..) => Comparison::Host(Compare::Exact),
        ("rstripped", ..) => Comparison::Host(Compare::TrimLines),
        ("floats", None | Some("default"), _) => {
            Comparison::Floats { epsilon: epsilon()?, mode: FloatMode::Default }
        }
        ("floats", Some("absolute"), _) | ("floatsabs", ..) => {
            Comparison::Floats { epsilon: epsilon()?, mode: FloatMode::Absolute }
        }
        ("floats", Some("relative"), _) | ("floatsrel", ..) => {
            Comparison::Floats { epsilon: epsilon()?, mode: FloatMode::Relative }
        }
        ("sorted", _, None | Some("lines")) => Comparison::Sorted(Split::Lines),
        ("sorted", _, Some("whitespace")) => Comparison::Sorted(Split::Words),
        ("easy", ..) => Comparison::Easy,
        ("linecount", ..) => Comparison::Lines,
        _ => {
            let args = Value::Object(args.clone());
            return Err(format!("the checker `{name}` with {args} is not supported"));
        }
    })
}

/// Packages are made on every kind of system.
fn with_plain_line_ends(bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.contains(&b'\r') {
        return bytes;
    }
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b'\r' => plain.push(b'\n'),
            other => plain.push(*other),
        }
    }
    plain
}
