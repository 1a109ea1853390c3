use super::*;

#[test]
fn those_built_in_are_found_with_their_versions() {
    let mut fixture = Fixture::new();
    let report = fixture.exec.report();
    assert!(report.support.is_ok(), "{:?}", report.support);
    for (id, found) in &report.toolchains {
        assert!(found.is_ok(), "{id}: {found:?}");
    }
    let toolchains = fixture.exec.toolchains(|_| true).unwrap();
    let ids: Vec<_> = toolchains.iter().map(|toolchain| toolchain.id.as_str()).collect();
    assert_eq!(ids, ["c11-gcc", "cpp17-gcc", "cpp20-gcc", "cpython-3"]);
    assert!(toolchains[3].version.starts_with("Python 3."), "{}", toolchains[3].version);
    assert!(toolchains[1].compiled && !toolchains[3].compiled);
}

#[test]
fn one_that_is_not_here_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let write = |id: &str, more: &str| {
        let text = format!(
            "id = \"{id}\"\nlanguages = [\"x\"]\nmain = \"x\"\n{more}\n[run]\ncommand = [\"/bin/x\"]"
        );
        std::fs::write(folder.path().join(format!("{id}.toml")), text).unwrap();
    };
    write("gone", "version = [\"/usr/bin/no-such-tool\"]");
    write("fails", "version = [\"/bin/false\"]");
    write("pathless", "version = [\"/bin/true\"]\npaths = [\"/no/such/path\"]");
    write("nonsense", "");
    let toolchains = Some(folder.path().to_owned());
    let mut fixture = Fixture::over(ExecOptions { toolchains, ..options(&shared_cache()) });
    let report = fixture.exec.report();
    let reason = |id: &str| {
        let found = report.toolchains.iter().find(|(name, _)| name.contains(id));
        found.unwrap().1.clone().unwrap_err()
    };
    assert!(reason("gone").contains("/usr/bin/no-such-tool"), "{}", reason("gone"));
    assert!(reason("fails").contains("Exited(1)"), "{}", reason("fails"));
    assert!(reason("pathless").contains("/no/such/path"));
    assert!(reason("nonsense.toml").contains("version"));
    let error = fixture.compile("gone", "").unwrap_err();
    assert!(matches!(&error, ExecError::UnknownToolchain(why) if why.contains("no-such-tool")));
    assert_eq!(fixture.exec.toolchains(|_| true).unwrap().len(), 4);
    // A toolchain that could not be looked for does not just leave the list.
    write("killed", "version = [\"/bin/sh\", \"-c\", \"kill -9 $$\"]");
    let toolchains = Some(folder.path().to_owned());
    let mut fixture = Fixture::over(ExecOptions { toolchains, ..options(&shared_cache()) });
    let error = fixture.exec.toolchains(|_| true).unwrap_err();
    assert!(matches!(&error, ExecError::Unavailable(why) if why.contains("`killed`")), "{error}");
    assert!(fixture.exec.known_toolchains().all(|(id, lacks)| id != "killed" || !lacks));
}

#[test]
fn without_a_helper_nothing_is_said_about_programs() {
    let folder = tempfile::tempdir().unwrap();
    let helper_program = folder.path().join("no-such-helper");
    let mut fixture = Fixture::over(ExecOptions { helper_program, ..options(folder.path()) });
    let error = fixture.compile("cpython-3", "print(1)").unwrap_err();
    assert!(
        matches!(&error, ExecError::Unavailable(why) if why.contains("no-such-helper")),
        "{error}"
    );
    let error = fixture.exec.toolchains(|_| true).unwrap_err();
    assert!(matches!(&error, ExecError::Unavailable(why) if why.contains("no-such-helper")));
    let report = fixture.exec.report();
    assert!(report.support.unwrap_err().contains("no-such-helper"));
    assert!(report.toolchains.iter().all(|(_, found)| found.is_err()));
}

/// Three files: one compiler of the shell, which leaves files that an interpreter runs and keeps what
/// it prepared.
const SHELL: &str = r#"
id = "shell"
languages = ["shell"]
main = "main.sh"
version = ["/bin/sh", "-c", "echo shell 1"]
[compile]
command = [
    "/bin/sh", "-c",
    'cat "$3" "$4" > "$1"; echo more > second; [ -z "$5" ] || cat "$5/a/b" >&2; echo "$2" >&2',
    "sh", "{out}", "{stem}", "{options}", "{main}", "{prepared}",
]
files = ["joined", "second"]
[run]
command = ["/bin/sh", "{out}", "second"]
env = { FROM = "the file" }
[limits.run]
cpu_ms = 123
[[prepare]]
command = ["/bin/sh", "-c", 'cp source "$1"', "sh", "{out}"]
files = { "source" = "prepared text" }
out = "a/b"
"#;

#[test]
fn an_operators_toolchain_prepares_compiles_to_files_and_interprets() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    std::fs::write(folder.path().join("shell.toml"), SHELL).unwrap();
    let toolchains = Some(folder.path().to_owned());
    let mut fixture =
        Fixture::over(ExecOptions { toolchains: toolchains.clone(), ..options(&cache) });
    let source = ProgramSource {
        toolchain: "shell".into(),
        files: vec![file("main.sh", "cat $1\n"), file("head", "echo $FROM $2\n")],
        main: "main.sh".into(),
        options: vec!["head".into()],
    };
    let result = fixture.exec.compile(&fixture.caller, &source, None).unwrap();
    assert_eq!(text(&result.log), "prepared textmain\n");
    let program = accepted(result);
    let case = TestCase { args: vec!["x".into()], ..case("") };
    let outcome = fixture.run_once(&program, case);
    assert_eq!(
        text(&outcome.ended.stdout),
        "the file x\nmore\n",
        "{}",
        text(&outcome.ended.stderr)
    );

    let prepared = || -> Vec<_> {
        let entries = std::fs::read_dir(cache.join("toolchains")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let [first] = prepared().try_into().expect("one folder, and no draft");
    assert_eq!(std::fs::read_to_string(first.join("a/b")).unwrap(), "prepared text");

    // Another worker finds it; a changed file is prepared anew.
    std::fs::write(first.join("a/b"), "found").unwrap();
    for (changed, expected, folders) in [(false, "foundmain\n", 1), (true, "newmain\n", 2)] {
        if changed {
            let text = SHELL.replace("prepared text", "new");
            std::fs::write(folder.path().join("shell.toml"), text).unwrap();
        }
        let options = ExecOptions { toolchains: toolchains.clone(), ..options(&cache) };
        let mut other = Fixture::over(options);
        let result = other.exec.compile(&other.caller, &source, None).unwrap();
        assert_eq!(text(&result.log), expected);
        assert_eq!(prepared().len(), folders);
    }
}

#[test]
fn one_prepares_while_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("shell.toml"), SHELL).unwrap();
    let cache = folder.path().join("cache");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let toolchains = Some(folder.path().to_owned());
                let mut fixture = Fixture::over(ExecOptions { toolchains, ..options(&cache) });
                fixture.exec.prepare();
                let source = ProgramSource {
                    toolchain: "shell".into(),
                    main: "main.sh".into(),
                    files: vec![file("main.sh", "")],
                    options: vec!["main.sh".into()],
                };
                accepted(fixture.exec.compile(&fixture.caller, &source, None).unwrap());
            });
        }
    });
    let names: Vec<_> = std::fs::read_dir(cache.join("toolchains"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("shell-")).count(), 1, "{names:?}");
}

#[test]
fn a_prepared_header_is_used() {
    // A cache of its own: where another test prepares at that time, nothing is waited for.
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::over(options(folder.path()));
    fixture.exec.prepare();
    for (toolchain, option) in [("cpp17-gcc", "-Winvalid-pch"), ("cpp20-gcc", "-H")] {
        let mut source = source(toolchain, "#include <bits/stdc++.h>\nint main() {}");
        source.options = vec![option.into()];
        let result = fixture.exec.compile(&fixture.caller, &source, None).unwrap();
        let log = text(&result.log);
        accepted(result);
        match option {
            "-H" => assert!(log.starts_with("! /toolchains/cpp20-gcc-"), "{log}"),
            _ => assert_eq!(log, "", "gcc finds nothing wrong with it"),
        }
    }
}

/// The examples that this machine has the tools for.
#[test]
fn examples_work_where_their_tools_are() {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("toolchains/examples");
    let copy = |name: &str, change: &dyn Fn(String) -> String| {
        let text = change(std::fs::read_to_string(examples.join(name)).unwrap());
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    let sysroot = std::process::Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|output| String::from_utf8(output.stdout).unwrap());
    let sysroot = sysroot.unwrap_or_else(|_| "/opt/rust".to_owned());
    copy("rust.toml", &|text| text.replace("/opt/rust", sysroot.trim()));
    copy("java.toml", &|text| text);
    copy("go.toml", &|text| text);
    let toolchains = Some(folder.path().to_owned());
    let mut fixture = Fixture::over(ExecOptions { toolchains, ..options(&shared_cache()) });
    let sources = [
        (
            "rust-2024",
            "main.rs",
            "fn main() { let mut line = String::new(); std::io::stdin().read_line(&mut line).unwrap(); println!(\"{}\", line.trim().parse::<u64>().unwrap() * 2); }",
        ),
        (
            "java-17",
            "Main.java",
            "public class Main { static class Twice { static long of(long n) { return n * 2; } } public static void main(String[] a) { System.out.println(Twice.of(new java.util.Scanner(System.in).nextLong())); } }",
        ),
        (
            "go-1",
            "main.go",
            "package main\nimport \"fmt\"\nfunc main() { var n int; fmt.Scan(&n); fmt.Println(n * 2) }",
        ),
    ];
    let report = fixture.exec.report();
    for (id, main, text_of) in sources {
        let found = &report.toolchains.iter().find(|(name, _)| name == id).unwrap().1;
        if let Err(reason) = found {
            eprintln!("skipped: {id} is not here: {reason}");
            continue;
        }
        let source = ProgramSource {
            toolchain: id.into(),
            files: vec![file(main, text_of)],
            main: main.into(),
            options: vec![],
        };
        let program = accepted(fixture.exec.compile(&fixture.caller, &source, None).unwrap());
        let outcome = fixture.run_once(&program, case("21\n"));
        assert_eq!(
            text(&outcome.ended.stdout),
            "42\n",
            "{id}: {:?} {}",
            outcome.ended.ending,
            text(&outcome.ended.stderr)
        );
    }
}
