//! A page of a list: where it begins, and how many items it has at most.

use assay_core::id::{BatchId, KeyId};
use assay_core::limits;
use assay_store::ListedRows;
use assay_store::views::runs::RunCursor;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::query::Query;
use crate::problem::ApiError;

/// The page that a caller asks for, with at most `MAX` items, and `DEFAULT` ones when the caller names
/// no limit.
pub(crate) struct Page<
    C,
    const DEFAULT: u32 = { limits::LIST_ITEMS_DEFAULT },
    const MAX: u32 = { limits::LIST_ITEMS_MAX },
> {
    /// End of the previous page; `None` is the first page.
    pub after: Option<C>,
    /// Maximum number of items: 1 to `MAX`.
    pub limit: u32,
}

/// A page of a list of tenants, people, members, keys or plugins.
pub(crate) type AdminPage<C> = Page<C, { limits::ADMIN_ITEMS_MAX }, { limits::ADMIN_ITEMS_MAX }>;

/// A place in a list.
pub(crate) trait Cursor: Sized {
    const TYPE: Type = Type::String;

    fn parse(text: &str) -> Option<Self>;
}

impl Cursor for BatchId {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Cursor for RunCursor {
    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

/// The name of the last item, in a list that is ordered by name.
impl Cursor for String {
    fn parse(text: &str) -> Option<Self> {
        (text.len() <= limits::CURSOR_BYTES_MAX && !text.contains('\0')).then(|| text.into())
    }
}

impl Cursor for KeyId {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Cursor for u32 {
    const TYPE: Type = Type::Integer;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

#[derive(Deserialize)]
struct PageQuery {
    after: Option<String>,
    limit: Option<u32>,
}

impl<C, const DEFAULT: u32, const MAX: u32> Page<C, DEFAULT, MAX> {
    /// The cursor of the next page: that of the last item, if this page is full.
    pub(crate) fn next<T, N>(&self, items: &[T], cursor: impl FnOnce(&T) -> N) -> Option<N> {
        items.last().filter(|_| items.len() == self.limit as usize).map(cursor)
    }

    /// The rows to be read: those after the cursor that have the text in a name.
    pub(crate) fn rows(&self, text: Option<String>) -> ListedRows<C>
    where
        C: Clone,
    {
        ListedRows { text, after: self.after.clone(), limit: self.limit }
    }
}

impl<C: Cursor, S: Sync, const DEFAULT: u32, const MAX: u32> FromRequestParts<S>
    for Page<C, DEFAULT, MAX>
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Query(PageQuery { after, limit }) = Query::from_request_parts(parts, state).await?;
        let after = after.map(|after| {
            C::parse(&after)
                .ok_or_else(|| ApiError::bad_request("after must be the `next` of a previous page"))
        });
        let after = after.transpose()?;
        Ok(Self { after, limit: limit.unwrap_or(DEFAULT).clamp(1, MAX) })
    }
}

impl<C: Cursor, const DEFAULT: u32, const MAX: u32> utoipa::IntoParams for Page<C, DEFAULT, MAX> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let limit = format!(
            "Maximum number of items: {} when absent, {} at most.",
            shown(DEFAULT),
            shown(MAX)
        );
        vec![
            parameter("after", "Cursor: the `next` of the previous page.", C::TYPE),
            parameter("limit", &limit, Type::Integer),
        ]
    }
}

fn parameter(name: &str, description: &str, kind: Type) -> Parameter {
    let format = (kind == Type::Integer).then_some(SchemaFormat::KnownFormat(KnownFormat::UInt32));
    let minimum = (kind == Type::Integer).then_some(0);
    let schema = ObjectBuilder::new().schema_type(kind).format(format).minimum(minimum);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(description))
        .required(Required::False)
        .schema(Some(schema))
        .build()
}

/// A number with commas between thousands.
fn shown(number: u32) -> String {
    match (number / 1_000, number % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", shown(thousands)),
    }
}
