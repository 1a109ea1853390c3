//! `/v1/invitations`: invitations of people.

pub(crate) mod accept;
