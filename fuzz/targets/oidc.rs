//! ID tokens of an OpenID provider. The input is a token's claims, which are signed here; or a set of keys, a NUL and a
//! whole token as it arrives.
//!
//! A person is signed in by claims for this client and this sign-in alone, with a short subject and a verified address. A
//! token without the provider's signature signs nobody in.

#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, value::RawValue};

use id_token::{Answer, TokenRules};

// The module of the server itself; the crate around it would take a hundred others.
#[rustfmt::skip]
#[path = "../../host/http/src/auth/oidc/id_token.rs"]
mod id_token;

/// The key pair of RFC 8037, appendix A.1; its private half behind the head of a PKCS #8 document.
const PUBLIC: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const PRIVATE: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const PKCS8: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

const RULES: TokenRules<'_> =
    TokenRules { issuer: "https://id.example", client: "assay", nonce: "n" };

fuzz_target!(|input: &str| {
    match input.split_once('\0') {
        Some((keys, token)) => {
            let Ok(keys) = serde_json::from_str::<JwkSet>(keys) else { return };
            if let Ok(answer) = id_token::check(token, &keys, &RULES) {
                check_answer(&answer);
            }
            assert!(id_token::check(token, &provider(), &RULES).is_err(), "nobody signed it");
        }
        None => {
            let Ok(claims) = serde_json::from_str::<&RawValue>(input) else { return };
            let Ok(answer) = id_token::check(&signed(claims), &provider(), &RULES) else { return };
            check_answer(&answer);
            // A claim that is not read may hold a number that no double does.
            let Ok(claims) = serde_json::from_str::<Value>(input) else { return };
            assert_eq!(claims["sub"], answer.subject);
            assert_eq!(claims["nonce"], RULES.nonce);
            assert!(matches!(&claims["email_verified"], Value::Bool(true) | Value::String(_)));
            let issuers = format!("{} ", claims["iss"]);
            let audiences = format!("{} ", claims["aud"]);
            assert!(issuers.contains(RULES.issuer) && audiences.contains(RULES.client), "{input}");
        }
    }
});

fn check_answer(answer: &Answer) {
    assert!((1..=255).contains(&answer.subject.len()), "{}", answer.subject);
    assert!(
        answer.email.contains('@') && !answer.email.contains(char::is_control),
        "{}",
        answer.email
    );
    assert!(
        answer.name.len() <= 1_000 && !answer.name.contains(char::is_control),
        "{}",
        answer.name
    );
}

fn provider() -> JwkSet {
    let keys =
        format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","use":"sig","x":"{PUBLIC}"}}]}}"#);
    serde_json::from_str(&keys).expect("a set of keys")
}

fn signed(claims: &RawValue) -> String {
    let private = URL_SAFE_NO_PAD.decode(PRIVATE).expect("a key");
    let key = EncodingKey::from_ed_der(&[PKCS8, &private].concat());
    jsonwebtoken::encode(&Header::new(Algorithm::EdDSA), &claims, &key).expect("it is signed")
}
