//! Which block is taken, over made-up toolchains.

use std::collections::BTreeMap;

use super::*;

fn toolchain(id: &str, names: &[&str]) -> exec::Toolchain {
    let limits = exec::Limits {
        cpu_ms: 1,
        wall_ms: 1,
        memory_bytes: 1,
        stdout_bytes: 1,
        stderr_bytes: 1,
        disk_bytes: 1,
        processes: 1,
        open_files: 1,
    };
    exec::Toolchain {
        id: id.into(),
        version: String::new(),
        languages: names.iter().map(|name| (*name).to_owned()).collect(),
        main: "main".into(),
        compiled: true,
        compile_defaults: limits,
        run_defaults: limits,
        ceiling: limits,
    }
}

fn toolchains() -> Vec<exec::Toolchain> {
    vec![
        toolchain("cpp17-gcc", &["cpp", "c++"]),
        toolchain("cpp20-gcc", &["cpp", "c++"]),
        toolchain("cpython-3", &["python", "py"]),
    ]
}

fn check(wanted: Option<&str>, text: &str, expected: Result<(&str, &str), &str>) {
    let (toolchains, preferred) = (toolchains(), BTreeMap::new());
    let languages = Languages::new(&toolchains, &preferred).expect("no preference");
    let wanted = languages.wanted(wanted, None).expect("known");
    let found = find(text, wanted, &languages, &Settings::default(), false);
    let found = found.map(|found| (found.toolchain.id.clone(), found.code));
    let expected = expected.map(|(id, code)| (id.to_owned(), code.to_owned()));
    assert_eq!(found, expected.map_err(str::to_owned), "{text}");
}

#[test]
fn the_last_block_of_the_language_is_taken() {
    let python = Some("python");
    check(python, "```python\na\n```\n```py\nb\n```", Ok(("cpython-3", "b\n")));
    check(python, "```python\na\n```\n```cpp\nb\n```", Ok(("cpython-3", "a\n")));
    check(python, "```python\na\n```\n```\n1 2 3\n```", Ok(("cpython-3", "a\n")));
    check(python, "```\na\n```\n```text\n1 2 3\n```", Ok(("cpython-3", "a\n")));
    check(python, "```cpp\na\n```", Err("no block of code is python; the last is cpp"));
    check(python, "print(1)", Err("the response has no block of code"));
    check(python, "  \n", Err("the response is empty"));
}

#[test]
fn without_a_language_the_fence_decides() {
    check(None, "```c++\na\n```", Ok(("cpp17-gcc", "a\n")));
    check(None, "```cpp20-gcc\na\n```", Ok(("cpp20-gcc", "a\n")));
    check(None, "```cpp\na\n```\n```py\nb\n```\n```sh\nc\n```", Ok(("cpython-3", "b\n")));
    let reason = "no block of code names a language that can be run here";
    check(None, "```\na\n```", Err(reason));
    check(None, "```brainfuck\na\n```", Err(reason));
}

#[test]
fn a_preference_decides_between_toolchains() {
    let toolchains = toolchains();
    let preferred = BTreeMap::from([("cpp".to_owned(), "cpp20-gcc".to_owned())]);
    let languages = Languages::new(&toolchains, &preferred).expect("known");
    assert_eq!(languages.toolchain("CPP").expect("known").id, "cpp20-gcc");
    assert_eq!(languages.toolchain("cpp17-gcc").expect("known").id, "cpp17-gcc");
    let wrong = BTreeMap::from([("cpp".to_owned(), "cpp98".to_owned())]);
    assert!(matches!(Languages::new(&toolchains, &wrong), Err(Error::BadSettings(_))));
    assert!(matches!(languages.wanted(Some("ada"), None), Err(Error::BadRequest(_))));
    assert!(matches!(languages.wanted(None, Some("ada")), Err(Error::BadSettings(_))));
}

#[test]
fn what_is_accepted_can_be_set() {
    let (toolchains, preferred) = (toolchains(), BTreeMap::new());
    let languages = Languages::new(&toolchains, &preferred).expect("no preference");
    let python = languages.toolchain("python");
    let whole = Settings { unfenced: Accept::Accept, ..Settings::default() };
    let found = find("print(1)", python, &languages, &whole, false).expect("accepted");
    assert_eq!((found.code.as_str(), found.origin.as_str()), ("print(1)", "the whole response"));
    let strict = Settings { unclosed: Accept::Refuse, ..Settings::default() };
    assert!(find("```python\na", python, &languages, &strict, false).is_err());
    let found = find("```python\na", python, &languages, &Settings::default(), false);
    assert!(found.expect("accepted").origin.contains("not closed"));
}
