//! Programs in boxes, by the real helper.

mod boxes;
mod programs;
