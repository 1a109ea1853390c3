//! Finds query parameters that a route does not have: a list whose filter is misspelt would have everything.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::{MatchedPath, Query, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

use crate::extract::guard::UnknownParameter;
use crate::problem::ApiError;

/// The names of the query parameters of each route, by what the document says.
#[derive(Clone)]
pub(crate) struct QueryNames(Arc<HashMap<(Method, String), BTreeSet<String>>>);

impl QueryNames {
    pub(crate) fn of(document: &OpenApi) -> Self {
        let routes = document.paths.paths.iter().flat_map(|(path, item)| {
            operations(item)
                .map(move |(method, operation)| ((method, path.clone()), names(operation)))
        });
        Self(Arc::new(routes.collect()))
    }

    fn check(&self, route: (Method, String), query: &[(String, String)]) -> Result<(), ApiError> {
        // Only the document itself is in no document.
        let Some(known) = self.0.get(&route) else { return Ok(()) };
        let Some((name, _)) = query.iter().find(|(name, _)| !known.contains(name)) else {
            return Ok(());
        };
        let name: String = name.chars().take(80).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let hint = match known.as_slice() {
            [] => "this route has no query parameters".into(),
            known => format!("this route has {}", known.join(", ")),
        };
        Err(ApiError::bad_request(format!("there is no query parameter `{name}` here")).hint(hint))
    }
}

fn operations(item: &PathItem) -> impl Iterator<Item = (Method, &Operation)> {
    let all = [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

fn names(operation: &Operation) -> BTreeSet<String> {
    let parameters = operation.parameters.iter().flatten();
    let in_query = parameters.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => Some(parameter),
        _ => None,
    });
    in_query.map(|parameter| parameter.name.clone()).collect()
}

/// The layer that leaves an [`UnknownParameter`] with the call.
pub(crate) async fn find_unknown(
    State(names): State<QueryNames>,
    path: MatchedPath,
    mut request: Request,
    next: Next,
) -> Response {
    // A query that cannot be read is the handler's to refuse. A monitor that scrapes `/metrics` may add parameters of its own.
    if request.uri().query().is_some()
        && path.as_str().starts_with("/v1/")
        && let Ok(Query(query)) = Query::<Vec<(String, String)>>::try_from_uri(request.uri())
    {
        let method = match request.method() {
            &Method::HEAD => Method::GET,
            method => method.clone(),
        };
        if let Err(error) = names.check((method, path.as_str().to_owned()), &query) {
            request.extensions_mut().insert(UnknownParameter(error));
        }
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_filter_is_refused_with_the_known_names() {
        let names = QueryNames::of(&crate::router::guarded().1);
        let check = |method: Method, path: &str, name: &str| {
            names.check((method, path.into()), &[(name.into(), "x".into())])
        };
        let error = check(Method::GET, "/v1/batches", "rn").expect_err("misspelt");
        assert!(error.detail.contains("`rn`"), "{}", error.detail);
        let hint = error.hint.expect("the known names");
        assert!(hint.contains("after, ") && hint.contains(" run, "), "{hint}");
        for name in ["run", "state", "after", "limit"] {
            assert!(check(Method::GET, "/v1/batches", name).is_ok(), "{name}");
        }
        assert!(check(Method::GET, "/v1/batches/{id}/results", "after").is_ok());
        let none = check(Method::POST, "/v1/batches/{id}/cancel", "run").expect_err("has none");
        assert!(none.hint.is_some_and(|hint| hint.contains("no query parameters")));
        assert!(check(Method::GET, "/openapi.json", "any").is_ok());
    }
}
