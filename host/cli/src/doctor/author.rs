//! The tools of plugin authors. Only they need them, so a missing one is a warning.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::Finding;

const TIMEOUT: Duration = Duration::from_secs(20);
const TARGET: &str = "wasm32-wasip2";
/// The oldest version that builds plugins.
const PYTHON_MIN: (u32, u32) = (3, 10);

pub(super) async fn look() -> Vec<Finding> {
    let target = ["--print", "target-libdir", "--target", TARGET];
    let (rust, python, node) = tokio::join!(
        say("rustc", &target),
        say("python3", &["--version"]),
        say("node", &["--version"])
    );
    vec![self::rust(rust), self::python(python), self::node(node)]
}

/// The output of a program, or nothing if it is missing or fails.
async fn say(program: &str, arguments: &[&str]) -> Option<String> {
    let run =
        Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(TIMEOUT, run).await.ok()?.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn rust(libraries: Option<String>) -> Finding {
    const CHECK: &str = "plugins in Rust";
    match libraries {
        None => Finding::warn(CHECK, "rustc is not installed")
            .advise("to write plugins in Rust, install it from https://rustup.rs"),
        Some(folder) if std::path::Path::new(&folder).is_dir() => {
            Finding::ok(CHECK, format!("rustc has the target {TARGET}"))
        }
        Some(_) => Finding::warn(CHECK, format!("rustc has no target {TARGET}"))
            .advise(format!("to write plugins in Rust, run `rustup target add {TARGET}`")),
    }
}

fn python(version: Option<String>) -> Finding {
    const CHECK: &str = "plugins in Python";
    let (major, minor) = PYTHON_MIN;
    let advice = format!("to write plugins in Python, install Python {major}.{minor} or newer");
    match version {
        None => Finding::warn(CHECK, "python3 is not installed").advise(advice),
        Some(version) if numbers(&version) < Some(PYTHON_MIN) => {
            Finding::warn(CHECK, version).advise(advice)
        }
        Some(version) => Finding::ok(CHECK, version),
    }
}

/// The first two numbers of a version.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut parts = digits.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn node(version: Option<String>) -> Finding {
    const CHECK: &str = "plugins in JavaScript";
    match version {
        None => Finding::warn(CHECK, "node is not installed")
            .advise("to write plugins in JavaScript, install Node 20 or newer"),
        Some(version) => Finding::ok(CHECK, format!("Node {version}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn what_is_missing_is_no_failure() {
        assert_eq!(rust(None).state, State::Warn);
        assert_eq!(rust(Some("/nowhere/lib".into())).state, State::Warn);
        assert_eq!(rust(Some("/".into())).state, State::Ok);
        assert_eq!(node(None).state, State::Warn);
        for (version, state) in [
            (None, State::Warn),
            (Some("Python 3.9.1"), State::Warn),
            (Some("Python 3.11.2"), State::Ok),
            (Some("Python"), State::Warn),
        ] {
            assert_eq!(python(version.map(str::to_owned)).state, state, "{version:?}");
        }
    }
}
