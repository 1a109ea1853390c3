//! The plugin from response to reward, natively: its own harnesses, real compilers and interpreters, our
//! own programs, but no boxes around them. The golden cases in `cases/` do the same with boxes.

mod world;

mod function;
mod human_eval;
mod judge;
