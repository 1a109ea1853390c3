//! Sign-ins that are under way at the provider: a bounded number, each for a while, each ended once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use assay_core::id::Digest;
use assay_core::limits;
use parking_lot::Mutex;

use super::asking_page::AskingPage;
use super::provider::ProviderEndpoints;
use crate::auth::Token;

const KEPT: Duration = Duration::from_secs(limits::OIDC_PENDING_SECONDS_MAX);

/// The server's data of one sign-in until the browser comes back from the provider.
pub(crate) struct Flow {
    pub known: ProviderEndpoints,
    /// The nonce; the provider must repeat it in the ID token.
    pub nonce: Token,
    /// The code verifier of PKCE (RFC 7636). The exchange of the code needs it, and it does not leave this
    /// machine before.
    pub verifier: Token,
    /// The hash of the browser's cookie.
    pub browser: Digest,
    /// The page to which the browser returns.
    pub asking: AskingPage,
    since: Instant,
}

impl Flow {
    /// A new sign-in, with its state, which the browser passes on to the provider, and the browser's
    /// cookie.
    pub(crate) fn new(known: ProviderEndpoints, asking: AskingPage) -> (Token, Self, Token) {
        let browser = Token::generate();
        let flow = Self {
            known,
            nonce: Token::generate(),
            verifier: Token::generate(),
            browser: browser.hash(),
            asking,
            since: Instant::now(),
        };
        (Token::generate(), flow, browser)
    }
}

#[derive(Default)]
pub(crate) struct Pending {
    by_state: Mutex<HashMap<String, Flow>>,
}

impl Pending {
    pub(crate) fn insert(&self, state: &str, flow: Flow) {
        let mut held = self.by_state.lock();
        held.retain(|_, flow| flow.since.elapsed() < KEPT);
        if held.len() >= limits::OIDC_PENDING_MAX {
            let oldest = held.iter().min_by_key(|(_, flow)| flow.since);
            if let Some(oldest) = oldest.map(|(state, _)| state.clone()) {
                held.remove(&oldest);
            }
        }
        held.insert(state.to_owned(), flow);
    }

    pub(crate) fn take(&self, state: &str) -> Option<Flow> {
        let mut held = self.by_state.lock();
        held.remove(state).filter(|flow| flow.since.elapsed() < KEPT)
    }
}
