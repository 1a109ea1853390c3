//! Reading the body of a call, within limits of size and time.

use std::time::Duration;

use assay_core::limits;
use axum::body::{Body, BodyDataStream};
use axum::http::StatusCode;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

use crate::problem::ApiError;

const PATIENCE: Duration = Duration::from_secs(limits::READ_SECONDS_MAX);
const WHOLE_PATIENCE: Duration = Duration::from_secs(limits::WHOLE_BODY_SECONDS_MAX);

/// The next bytes of a body, `None` at its end.
pub(crate) async fn next(body: &mut BodyDataStream) -> Result<Option<Bytes>, ApiError> {
    match tokio::time::timeout(PATIENCE, body.next()).await {
        Ok(None) => Ok(None),
        Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
        Ok(Some(Err(error))) => {
            Err(ApiError::bad_request(format!("the body ended early: {error}")))
        }
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            format!("no byte of the body arrived for {} s", PATIENCE.as_secs()),
        )),
    }
}

/// A whole body.
pub(crate) async fn whole(body: Body, what: &str, bytes_max: usize) -> Result<Bytes, ApiError> {
    within_patience(read(body, what, bytes_max)).await
}

/// Reads within the longest time for a body that is held in memory.
pub(crate) async fn within_patience<T>(
    read: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    tokio::time::timeout(WHOLE_PATIENCE, read).await.map_err(|_| {
        let seconds = WHOLE_PATIENCE.as_secs();
        let detail =
            format!("the body did not arrive within {seconds} s: send it in smaller parts");
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
    })?
}

async fn read(body: Body, what: &str, bytes_max: usize) -> Result<Bytes, ApiError> {
    let mut stream = body.into_data_stream();
    let Some(first) = next(&mut stream).await? else { return Ok(Bytes::new()) };
    let mut all: Option<BytesMut> = None;
    let mut total = first.len();
    while let Some(bytes) = next(&mut stream).await? {
        total += bytes.len();
        if total > bytes_max {
            break;
        }
        all.get_or_insert_with(|| BytesMut::from(&first[..])).extend_from_slice(&bytes);
    }
    if total > bytes_max {
        return Err(ApiError::too_large(what, bytes_max));
    }
    Ok(all.map_or(first, BytesMut::freeze))
}

/// A small JSON body that may be left out.
pub(crate) async fn json_or_default<T: DeserializeOwned + Default>(
    body: Body,
) -> Result<T, ApiError> {
    let bytes = whole(body, "the body", limits::SMALL_BODY_BYTES_MAX).await?;
    if bytes.is_empty() { Ok(T::default()) } else { parse(&bytes) }
}

/// A small JSON body.
pub(crate) async fn json<T: DeserializeOwned>(body: Body) -> Result<(T, Bytes), ApiError> {
    let bytes = whole(body, "the body", limits::SMALL_BODY_BYTES_MAX).await?;
    Ok((parse(&bytes)?, bytes))
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    object(bytes).map_err(|error| {
        ApiError::bad_request(format!("the body is not valid for this call: {error}"))
            .hint("GET /openapi.json describes it")
    })
}

/// An object, and not its values in an array, which serde takes for one, too.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, serde_json::Error> {
    let first = json.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'[') {
        return Err(serde::de::Error::custom("it is an array instead of an object"));
    }
    serde_json::from_slice(json)
}

/// A file, in the OpenAPI document.
pub(crate) struct Binary;

impl utoipa::ToSchema for Binary {}

impl utoipa::PartialSchema for Binary {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

/// A name that people gave: not empty, not too long, nothing invisible.
pub(crate) fn check_text(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("{what} is empty"));
    }
    if text.len() > bytes_max {
        return Err(format!("{what} has {} bytes, the limit is {bytes_max}", text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("{what} has a control character"));
    }
    if text.chars().any(turns_text) {
        return Err(format!("{what} has a character that changes the direction of text"));
    }
    Ok(())
}

/// Whether the character changes the order in which those beside it are shown, so that a name could pass
/// for another.
fn turns_text(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// A part of a name that a list is searched for; nothing when it is empty.
pub(crate) fn search(text: Option<String>) -> Result<Option<String>, ApiError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    check_text("q", &text, limits::SEARCH_BYTES_MAX).map_err(ApiError::bad_request)?;
    Ok(Some(text))
}

/// The settings of a run as JSON text; an object.
pub(crate) fn settings(given: Option<&RawValue>) -> Result<String, ApiError> {
    let text = given.map_or("{}", RawValue::get);
    if text.len() > limits::SETTINGS_BYTES_MAX {
        return Err(ApiError::too_large("settings", limits::SETTINGS_BYTES_MAX));
    }
    if !text.starts_with('{') {
        return Err(ApiError::bad_request("settings must be a JSON object"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::check_text;

    #[test]
    fn a_name_cannot_turn_the_text_around_it() {
        assert!(check_text("run", "مرحبا live", 64).is_ok());
        let refused = check_text("run", "live-\u{202e}live", 64).expect_err("it turns the text");
        assert_eq!(refused, "run has a character that changes the direction of text");
    }
}
