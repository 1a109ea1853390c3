//! Sign-ins that are under way at the provider: a bounded number, each for a while, each ended once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_model::id::Digest;
use assay_model::limits;

use super::provider::Known;
use crate::http::auth::Token;

const KEPT: Duration = Duration::from_secs(limits::OIDC_PENDING_SECONDS_MAX);

/// What is known of one until the browser comes back.
pub(super) struct Flow {
    pub known: Known,
    /// Comes back in the ID token.
    pub nonce: Token,
    /// Of PKCE: redeems the code, and never leaves this machine before.
    pub verifier: Token,
    /// The hash of the browser's cookie.
    pub browser: Digest,
    since: Instant,
}

impl Flow {
    /// With its state, which the browser takes along, and the browser's cookie.
    pub(super) fn new(known: Known) -> (Token, Self, Token) {
        let browser = Token::generate();
        let flow = Self {
            known,
            nonce: Token::generate(),
            verifier: Token::generate(),
            browser: browser.hash(),
            since: Instant::now(),
        };
        (Token::generate(), flow, browser)
    }
}

#[derive(Default)]
pub(super) struct Pending {
    by_state: Mutex<HashMap<String, Flow>>,
}

impl Pending {
    pub(super) fn insert(&self, state: &str, flow: Flow) {
        let mut held = self.by_state.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|_, flow| flow.since.elapsed() < KEPT);
        if held.len() >= limits::OIDC_PENDING_MAX {
            let oldest = held.iter().min_by_key(|(_, flow)| flow.since);
            if let Some(oldest) = oldest.map(|(state, _)| state.clone()) {
                held.remove(&oldest);
            }
        }
        held.insert(state.to_owned(), flow);
    }

    pub(super) fn take(&self, state: &str) -> Option<Flow> {
        let mut held = self.by_state.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(state).filter(|flow| flow.since.elapsed() < KEPT)
    }
}
