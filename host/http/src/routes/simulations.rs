//! `/v1/simulations`: recorded batches, replayed.

pub(crate) mod simulate;
