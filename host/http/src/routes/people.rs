//! `/v1/people`: everybody who can sign in, for the platform's administrators.

pub(crate) mod change;
pub(crate) mod invite;
pub(crate) mod list;

use assay_api::people::Invitation;
use assay_dispatch::now;
use assay_store::people::NewInvitation;

use crate::auth::Token;

pub(crate) fn new_invitation() -> (Token, NewInvitation) {
    let token = Token::generate();
    let token_hash = token.hash();
    (token, NewInvitation { token_hash, at: now() })
}

pub(crate) fn shown(token: &Token, invitation: NewInvitation) -> Invitation {
    Invitation { token: token.as_str().to_owned(), expires_at: invitation.expires_at() }
}
