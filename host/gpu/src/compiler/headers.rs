//! The system's headers that NVRTC lacks and CUDA sources include all the time.
//!
//! They are handed to it by name and win over its folders. Parts for host code alone are there and
//! empty: a kernel that does not use it compiles, and one that does is told what it lacks.

/// Included before a source, with its definitions.
pub(super) const PRELUDE: &str = "assay/prelude.h";

const STDINT: &str = include_str!("../../toolchain/include/stdint.h");
const LIMITS: &str = include_str!("../../toolchain/include/limits.h");
const FLOAT: &str = include_str!("../../toolchain/include/float.h");
const MATH: &str = include_str!("../../toolchain/include/math.h");
const STRING: &str = include_str!("../../toolchain/include/string.h");
const ALGORITHM: &str = include_str!("../../toolchain/include/algorithm.h");

const OWN: [(&str, &str); 22] = [
    ("stdint.h", STDINT),
    ("cstdint", STDINT),
    ("inttypes.h", STDINT),
    ("cinttypes", STDINT),
    ("stddef.h", STDINT),
    ("cstddef", STDINT),
    ("sys/types.h", STDINT),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
    ("math.h", MATH),
    ("cmath", MATH),
    ("algorithm", ALGORITHM),
    ("string.h", STRING),
    ("cstring", STRING),
    ("stdio.h", STRING),
    ("cstdio", STRING),
    ("stdlib.h", STRING),
    ("cstdlib", STRING),
    ("assert.h", ""),
    ("cassert", ""),
];

const EMPTY: [&str; 19] = [
    "chrono",
    "ctime",
    "cuda.h",
    "exception",
    "fstream",
    "iomanip",
    "iostream",
    "map",
    "memory",
    "random",
    "set",
    "sstream",
    "stdexcept",
    "string",
    "thread",
    "time.h",
    "unistd.h",
    "unordered_map",
    "vector",
];

/// Headers of the toolkit's own library, under their names there.
const FROM_TOOLKIT: [&str; 11] = [
    "array",
    "bit",
    "complex",
    "functional",
    "initializer_list",
    "limits",
    "numeric",
    "optional",
    "tuple",
    "type_traits",
    "utility",
];

/// Names and texts, the prelude with these definitions among them.
pub(super) fn all(definitions: &str) -> Vec<(String, String)> {
    let own = OWN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let empty = EMPTY.iter().map(|name| ((*name).to_owned(), String::new()));
    let toolkit = FROM_TOOLKIT.iter().map(|name| {
        let text = format!(
            "#pragma once\n#include <cuda/std/{name}>\nnamespace std {{ using namespace cuda::std; }}\n"
        );
        ((*name).to_owned(), text)
    });
    let prelude = include_str!("../../toolchain/include/prelude.h");
    let prelude = (PRELUDE.to_owned(), format!("{prelude}\n{definitions}"));
    own.chain(empty).chain(toolkit).chain([prelude]).collect()
}
