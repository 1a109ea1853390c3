//! The OpenAPI document of everything that is served.

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use utoipa::OpenApi;
use utoipa::openapi::{Content, Ref, ResponseBuilder};

use crate::auth::Credentials;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Assay",
        description = "Rewards for reinforcement learning with verifiable rewards.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(
        assay_api::problem::Problem,
        assay_api::operations::LiveSnapshot,
        assay_api::operations::LiveDelta,
        assay_api::sample::SampleFormat,
        assay_api::view::BatchStateFilter,
        assay_api::view::RequestKindFilter,
    )),
    modifiers(&Credentials),
    security(("key" = []), ("session" = []))
)]
pub(crate) struct Document;

/// Gives each operation an id that no other has, for generated clients (`get_batches_id_timeline` for
/// `GET /v1/batches/{id}/timeline`), and the problems that any call may get.
pub(crate) fn complete_operations(document: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let words = path.split('/').map(|word| word.trim_matches(['{', '}']));
        let noun = words.filter(|word| !word.is_empty() && *word != "v1").collect::<Vec<_>>();
        let noun = noun.join("_").replace('-', "_");
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (verb, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{verb}_{noun}"));
                for status in ["4XX", "5XX"] {
                    operation.responses.responses.insert(status.into(), problem().into());
                }
            }
        }
    }
}

fn problem() -> utoipa::openapi::Response {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().content("application/problem+json", content).build()
}

/// The OpenAPI document, rendered once.
#[derive(Clone)]
pub(crate) struct Rendered {
    json: Bytes,
}

impl Rendered {
    pub(crate) fn new(document: &utoipa::openapi::OpenApi) -> Self {
        Self { json: serde_json::to_vec(document).expect("the document is plain data").into() }
    }

    pub(crate) async fn serve(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.json).into_response()
    }
}
