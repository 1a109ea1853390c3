//! The check of an ID token (OpenID Connect Core 3.1.3.7). A claim counts only if the provider signed it, for this
//! client and for this sign-in.

use assay_api::people::normal_email;
use assay_core::limits;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde::de::IgnoredAny;
use subtle::ConstantTimeEq as _;

/// The accepted signature algorithms: asymmetric ones only.
const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];
/// The largest difference between the clocks, in seconds.
const LEEWAY_SECONDS: u64 = 30;
/// By OpenID Connect Core, section 2.
const SUBJECT_BYTES_MAX: usize = 255;

/// The issuer, the client and the sign-in that a token must be for.
pub(super) struct TokenRules<'a> {
    pub issuer: &'a str,
    pub client: &'a str,
    pub nonce: &'a str,
}

/// The person who signed in, by the provider's ID token.
pub(crate) struct Answer {
    pub subject: String,
    /// Verified by the provider; in lower case.
    pub email: String,
    pub name: String,
}

/// Why nobody is signed in.
#[derive(Debug)]
pub(super) enum Doubt {
    /// The token is not for us, not for now, or not the provider's.
    Untrusted(String),
    /// The provider does not allow the sign-in, or says too little.
    Refused(String),
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    aud: Audience,
    azp: Option<String>,
    nonce: Option<String>,
    email: Option<String>,
    email_verified: Option<Truth>,
    name: Option<String>,
}

/// Ours is among them: that was checked with the signature.
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    Many(Vec<IgnoredAny>),
    One(IgnoredAny),
}

/// Some providers send it as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Truth {
    Plain(bool),
    Text(String),
}

/// The person whom a token names.
///
/// # Errors
/// It cannot be trusted, or the provider says too little about the person.
pub(super) fn check(token: &str, keys: &JwkSet, rules: &TokenRules<'_>) -> Result<Answer, Doubt> {
    let doubtful = |error: jsonwebtoken::errors::Error| untrusted(&error.to_string());
    let header = jsonwebtoken::decode_header(token).map_err(doubtful)?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(untrusted("it is signed in a way that is not taken"));
    }
    let key = find_key(keys, header.kid.as_deref())
        .ok_or_else(|| untrusted("it is signed with a key that the provider does not list"))?;
    let key = DecodingKey::from_jwk(key).map_err(doubtful)?;
    let mut validation = Validation::new(header.alg);
    validation.set_audience(&[&rules.client]);
    validation.set_issuer(&[&rules.issuer]);
    validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    validation.leeway = LEEWAY_SECONDS;
    validation.validate_nbf = true;
    let claims: Claims = jsonwebtoken::decode(token, &key, &validation).map_err(doubtful)?.claims;
    check_claims(claims, rules)
}

fn check_claims(claims: Claims, rules: &TokenRules<'_>) -> Result<Answer, Doubt> {
    let many = matches!(&claims.aud, Audience::Many(all) if all.len() > 1);
    let ours = claims.azp.as_deref().map(|party| party == rules.client);
    if ours == Some(false) || (many && ours.is_none()) {
        return Err(untrusted("it was made for another client"));
    }
    let given = claims.nonce.unwrap_or_default();
    if !bool::from(given.as_bytes().ct_eq(rules.nonce.as_bytes())) {
        return Err(untrusted("its nonce is not this sign-in's"));
    }
    let plain = |character: char| character.is_ascii() && !character.is_ascii_control();
    if claims.sub.is_empty()
        || claims.sub.len() > SUBJECT_BYTES_MAX
        || !claims.sub.chars().all(plain)
    {
        return Err(untrusted("its subject is not 1 to 255 ASCII characters"));
    }
    let verified = match claims.email_verified {
        Some(Truth::Plain(verified)) => verified,
        Some(Truth::Text(text)) => text == "true",
        None => false,
    };
    let email = claims.email.ok_or_else(|| refused("the provider sent no e-mail address"))?;
    if !verified {
        return Err(refused("the provider has not verified the address"));
    }
    let email = normal_email(&email).map_err(Doubt::Refused)?;
    let name = claims.name.unwrap_or_default();
    let plain = name.chars().filter(|c| !c.is_control());
    let name = plain.take(limits::PERSON_NAME_BYTES_MAX / 4).collect();
    Ok(Answer { subject: claims.sub, email, name })
}

/// The key that is named, or the only one there is.
fn find_key<'a>(keys: &'a JwkSet, id: Option<&str>) -> Option<&'a Jwk> {
    let signs = |key: &&Jwk| {
        key.common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature)
    };
    let mut keys = keys.keys.iter().filter(signs);
    match id {
        Some(id) => keys.find(|key| key.common.key_id.as_deref() == Some(id)),
        None => keys.next().filter(|_| keys.next().is_none()),
    }
}

fn untrusted(why: &str) -> Doubt {
    Doubt::Untrusted(why.to_owned())
}

fn refused(why: &str) -> Doubt {
    Doubt::Refused(why.to_owned())
}
