//! The protocols of trainers in the OpenAPI document: a tag for each, the calls that ask for rewards, and the ways
//! in which these clients give a key.

use utoipa::OpenApi;
use utoipa::openapi::SecurityRequirement;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

use super::{llama_factory, nemo_gym, open_instruct, openrlhf, roll, sandbox_fusion, slime};
use crate::extract::guard::{BatchesWrite, Guard as _, ScopeSet as _, Scoped};

const BASIC: &str = "basic";
const XRL: &str = "xrl";

/// Where a call goes; the key may also stand before the protocol, as `/compat/KEY/<protocol>/...`.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "parameters of the document; `Address` reads the path")]
pub(super) struct PlaceParams {
    /// The plugin: `name@channel` or `name@version`; `tenant/name@...` names the caller's own tenant alone.
    plugin: String,
    /// The run, followed by the call's options: `my-run;timeout=300`.
    run: String,
}

#[derive(OpenApi)]
#[openapi(
    paths(
        llama_factory::answer,
        nemo_gym::verify,
        open_instruct::test_program,
        open_instruct::test_program_stdio,
        openrlhf::answer,
        roll::submit,
        roll::result,
        sandbox_fusion::answer,
        slime::answer,
    ),
    modifiers(&Credentials)
)]
struct Document;

/// The calls, with the security that [`super::answer`] asks for.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    for item in document.paths.paths.values_mut() {
        if let Some(operation) = &mut item.post {
            let scopes = || BatchesWrite::ANY_OF.iter().map(|scope| scope.as_str());
            let of = |scheme| SecurityRequirement::new(scheme, scopes());
            let mut security = Scoped::<BatchesWrite>::security();
            security.extend([BASIC, XRL].map(of));
            operation.security = Some(security);
        }
    }
    document
}

struct Credentials;

impl utoipa::Modify for Credentials {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let basic = HttpBuilder::new()
            .scheme(HttpAuthScheme::Basic)
            .description(Some("The key as the password, as a URL with `any:KEY@` sends it."))
            .build();
        let xrl = ApiKey::Header(ApiKeyValue::with_description(
            "XRL-Authorization",
            "`Bearer KEY`, as ROLL sends it.",
        ));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(BASIC, SecurityScheme::Http(basic));
        components.add_security_scheme(XRL, SecurityScheme::ApiKey(xrl));
    }
}
