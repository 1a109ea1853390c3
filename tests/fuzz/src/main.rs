//! Runs a fuzz target on files, without the engine that makes inputs up: `assay-fuzz-seeds TARGET FOLDER`. So all targets are
//! compiled with everything else, and hold for the inputs that their runs begin with.

#![allow(
    unused_attributes,
    clippy::duplicate_mod,
    clippy::module_inception,
    reason = "the targets are crates of their own"
)]

// The targets use the engine's macro by its name.
extern crate self as libfuzzer_sys;

use std::path::Path;

use anyhow::Context as _;

mod targets;

const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("extract", targets::extract::run),
    ("format", targets::format::run),
    ("hosts", targets::hosts::run),
    ("http", targets::http::run),
    ("judge", targets::judge::run),
    ("math", targets::math::run),
    ("oidc", targets::oidc::run),
    ("package", targets::package::run),
    ("pickle", targets::pickle::run),
    ("ptx", targets::ptx::run),
    ("python", targets::python::run),
    ("schema", targets::schema::run),
    ("slurm", targets::slurm::run),
    ("submit", targets::submit::run),
    ("trace", targets::trace::run),
    ("trainers", targets::trainers::run),
    ("wire", targets::wire::run),
];

/// What a target takes: the bytes of an input, or the text with which they begin.
pub(crate) trait Input<'a> {
    fn of(bytes: &'a [u8]) -> Self;
}

impl<'a> Input<'a> for &'a [u8] {
    fn of(bytes: &'a [u8]) -> Self {
        bytes
    }
}

impl<'a> Input<'a> for &'a str {
    fn of(bytes: &'a [u8]) -> Self {
        bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }
}

/// Makes a target's closure the function `run`.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: $kind:ty| $body:block) => {
        pub(crate) fn run(bytes: &[u8]) {
            let $input = <$kind as $crate::Input>::of(bytes);
            $body
        }
    };
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(folder)) = (arguments.next(), arguments.next()) else {
        TARGETS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let known = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, run) = known.with_context(|| format!("there is no target {name}"))?;
    let mut count = 0;
    for entry in Path::new(&folder).read_dir()? {
        let input = entry?.path();
        println!("{}", input.display());
        run(&std::fs::read(&input)?);
        count += 1;
    }
    anyhow::ensure!(count > 0, "there are no inputs in {folder}");
    println!("{count} inputs hold");
    Ok(())
}
