//! Runs a fuzz target on files, without the engine that makes inputs up: `assay-fuzz-seeds TARGET FOLDER`. So all targets are
//! compiled with everything else, and hold for the inputs that their runs begin with.

#![allow(
    dead_code,
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

type NamedTarget = (&'static str, fn(&[u8]));

const TARGETS: &[NamedTarget] = &[
    ("extract", targets::extract::try_input),
    ("format", targets::format::try_input),
    ("hosts", targets::hosts::try_input),
    ("http", targets::http::try_input),
    ("judge", targets::judge::try_input),
    ("long", targets::long::try_input),
    ("math", targets::math::try_input),
    ("oidc", targets::oidc::try_input),
    ("package", targets::package::try_input),
    ("pickle", targets::pickle::try_input),
    ("ptx", targets::ptx::try_input),
    ("python", targets::python::try_input),
    ("schema", targets::schema::try_input),
    ("slurm", targets::slurm::try_input),
    ("submit", targets::submit::try_input),
    ("trace", targets::trace::try_input),
    ("trainers", targets::trainers::try_input),
    ("wire", targets::wire::try_input),
];

/// The input of a target: bytes, or the text with which they begin.
pub(crate) trait FuzzInput<'a> {
    fn of(bytes: &'a [u8]) -> Self;
}

impl<'a> FuzzInput<'a> for &'a [u8] {
    fn of(bytes: &'a [u8]) -> Self {
        bytes
    }
}

impl<'a> FuzzInput<'a> for &'a str {
    fn of(bytes: &'a [u8]) -> Self {
        bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }
}

/// Makes a target's closure the function `try_input`.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: $kind:ty| $body:block) => {
        pub(crate) fn try_input(bytes: &[u8]) {
            let $input = <$kind as $crate::FuzzInput>::of(bytes);
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
    let (_, try_input) = known.with_context(|| format!("there is no target {name}"))?;
    let mut count = 0;
    for entry in Path::new(&folder).read_dir()? {
        let input = entry?.path();
        println!("{}", input.display());
        try_input(&std::fs::read(&input)?);
        count += 1;
    }
    anyhow::ensure!(count > 0, "there are no inputs in {folder}");
    println!("{count} inputs hold");
    Ok(())
}
