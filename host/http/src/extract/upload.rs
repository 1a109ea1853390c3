//! Uploads of components: the bytes alone, or a form with the component and its golden cases. Both are read
//! within limits, whatever the form says about its parts.

use std::error::Error;
use std::fmt;

use assay_core::golden::{CaseFile, CasesRefused, check_cases};
use assay_core::limits;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use futures_util::stream;
use multer::{Constraints, Field, Multipart, SizeLimit};

use super::body::{self, Pieces, Turn};
use crate::problem::ApiError;

const COMPONENT: &str = "component";
const CASE: &str = "case";
/// The bytes of a form beside its files: boundaries and headers.
const FORM_BYTES_MAX: usize = (limits::GOLDEN_CASES_MAX + 2) * 2 * limits::GOLDEN_NAME_BYTES_MAX;

/// An upload: a component, and its golden cases if it has some.
pub(crate) struct Upload {
    pub component: Bytes,
    pub cases: Vec<CaseFile>,
}

/// The form of an upload.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "it is read part by part; the type is for the document")]
pub(crate) struct PluginUpload {
    /// The component, as WebAssembly.
    #[schema(value_type = String, format = Binary)]
    component: Bytes,
    /// A golden case, as YAML with its file name; any number of them.
    #[schema(value_type = Vec<String>, format = Binary, required = false)]
    case: Vec<Bytes>,
}

/// Reads a component, or a form if the call has one.
pub(crate) async fn read_upload(
    headers: &HeaderMap,
    body: Body,
    turn: &mut Turn,
) -> Result<Upload, ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_form = |kind: &&str| kind.trim_start().to_ascii_lowercase().starts_with("multipart/");
    match kind.filter(is_form) {
        Some(kind) => read_form(kind, body, turn).await,
        None => {
            let max = limits::PLUGIN_BYTES_MAX;
            let component = body::whole_in_turn(body, "a component", max, turn).await?;
            Ok(Upload { component, cases: Vec::new() })
        }
    }
}

async fn read_form(kind: &str, body: Body, turn: &mut Turn) -> Result<Upload, ApiError> {
    let boundary = multer::parse_boundary(kind).map_err(refused)?;
    let sizes = SizeLimit::new()
        .whole_stream(bytes(
            limits::PLUGIN_BYTES_MAX + limits::GOLDEN_CASES_BYTES_MAX + FORM_BYTES_MAX,
        ))
        .for_field(COMPONENT, bytes(limits::PLUGIN_BYTES_MAX))
        .per_field(bytes(limits::GOLDEN_CASE_BYTES_MAX));
    let read = (Pieces::of_whole(body), turn, 0);
    let pieces = stream::try_unfold(read, |(mut pieces, turn, mut held)| async move {
        let Some(piece) = pieces.next().await.map_err(BodyError)? else { return Ok(None) };
        held += piece.len();
        turn.hold(held).await;
        Ok::<_, BodyError>(Some((piece, (pieces, turn, held))))
    });
    let mut form =
        Multipart::with_constraints(pieces, boundary, Constraints::new().size_limit(sizes));
    let mut component = None;
    let mut cases: Vec<CaseFile> = Vec::new();
    while let Some(field) = form.next_field().await.map_err(refused)? {
        match field.name() {
            Some(COMPONENT) if component.is_none() => {
                component = Some(field.bytes().await.map_err(refused)?);
            }
            Some(CASE) => {
                cases.push(case(field).await?);
                // Refused before more of it is read.
                check_cases(&cases).map_err(refused_cases)?;
            }
            other => {
                let shown: String = other.unwrap_or_default().chars().take(80).collect();
                return Err(ApiError::bad_request(format!(
                    "the form has a part `{shown}`; it has one `{COMPONENT}` and any number of `{CASE}`"
                )));
            }
        }
    }
    let component = component.ok_or_else(|| {
        ApiError::bad_request(format!("the form has no part `{COMPONENT}` with the plugin"))
    })?;
    Ok(Upload { component, cases })
}

async fn case(field: Field<'_>) -> Result<CaseFile, ApiError> {
    let file = field.file_name().unwrap_or_default().to_owned();
    let text = field.bytes().await.map_err(refused)?;
    let text = String::from_utf8(text.into()).map_err(|_| {
        let shown: String = file.chars().filter(|c| !c.is_control()).take(80).collect();
        ApiError::bad_request(format!("the golden case `{shown}` is not UTF-8 text"))
    })?;
    Ok(CaseFile { file, text })
}

fn bytes(limit: usize) -> u64 {
    u64::try_from(limit).expect("a limit is no larger than an address")
}

fn refused_cases(why: CasesRefused) -> ApiError {
    match why {
        CasesRefused::TooLarge(detail) => too_large(detail),
        CasesRefused::BadName(detail) => ApiError::bad_request(detail),
    }
}

fn too_large(detail: String) -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
}

/// The error of a form; the body's own errors go through it.
fn refused(error: multer::Error) -> ApiError {
    match error {
        multer::Error::StreamReadFailed(inner) => match inner.downcast::<BodyError>() {
            Ok(error) => error.0,
            Err(other) => ApiError::bad_request(format!("the body ended early: {other}")),
        },
        multer::Error::FieldSizeExceeded { limit, field_name } => {
            let field = field_name.unwrap_or_default();
            let shown: String = field.chars().take(80).collect();
            too_large(format!("the part `{shown}` of the form has more than {limit} bytes"))
        }
        multer::Error::StreamSizeExceeded { limit } => {
            too_large(format!("the form has more than {limit} bytes"))
        }
        other => ApiError::bad_request(format!("the form cannot be read: {other}")),
    }
}

/// An error of the body on its way through the form's parser.
#[derive(Debug)]
struct BodyError(ApiError);

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

impl Error for BodyError {}
