//! Reading a model's response: what it thought is cut off, its fenced blocks are read.
//!
//! ```
//! use assay_plugin::response;
//!
//! let text = "<think>in C++?</think>Here:\n```python\nprint(1)\n```\n";
//! let answer = response::answer(text).expect("more than thoughts");
//! let blocks = response::blocks(answer, |name| name == "python");
//! assert_eq!((blocks[0].name.as_str(), blocks[0].content.as_str()), ("python", "print(1)\n"));
//! ```

mod fence;
mod thought;

pub use fence::{Block, blocks};
pub use thought::answer;
