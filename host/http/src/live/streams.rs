//! How many streams are open, of each caller and of all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_core::limits;
use axum::http::StatusCode;
use uuid::Uuid;

use crate::auth::Caller;
use crate::problem::ApiError;

/// The streams that are open.
#[derive(Default)]
pub(crate) struct Streams {
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    by_caller: HashMap<Uuid, usize>,
    all: usize,
}

/// The place of one open stream in the counts; it is given back when dropped.
pub(crate) struct Place {
    open: Arc<Mutex<Open>>,
    caller: Uuid,
}

impl Streams {
    pub(crate) fn enter(&self, caller: &Caller) -> Result<Place, ApiError> {
        let id = caller.id();
        let mut open = lock(&self.open);
        let own = open.by_caller.get(&id).copied().unwrap_or(0);
        let (own_max, all_max) = (limits::LIVE_STREAMS_PER_CALLER_MAX, limits::LIVE_STREAMS_MAX);
        if own >= own_max {
            let detail = format!("{own} streams are open for you, which is the limit");
            return Err(too_many(detail).hint("one stream a browser is enough: close others"));
        }
        if open.all >= all_max {
            return Err(too_many(format!("{all_max} streams are open, which is the limit")));
        }
        *open.by_caller.entry(id).or_default() += 1;
        open.all += 1;
        Ok(Place { open: Arc::clone(&self.open), caller: id })
    }
}

fn too_many(detail: String) -> ApiError {
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", detail)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.all -= 1;
        if let Some(own) = open.by_caller.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                open.by_caller.remove(&self.caller);
            }
        }
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
