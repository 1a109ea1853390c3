//! The judge's kernels by the fake driver.

use super::fake::{on_fake, open};
use crate::cases;

macro_rules! cases {
    ($($name:ident)*) => {
        $(on_fake! {
            fn $name() {
                cases::$name(&mut open());
            }
        })*
    };
}

cases! {
    fills_are_those_that_are_defined
    permutations_of_every_size_are_those_that_are_defined
    a_fill_has_more_elements_than_threads
    what_does_not_fit_is_refused
    comparisons_are_those_that_are_defined
    extremes_of_doubles
    one_byte_makes_a_difference
}
