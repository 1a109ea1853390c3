//! The host's side of a request: `wasi:http/outgoing-handler`, waited for.

use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme,
};
use wasip2::io::streams::StreamError;

use super::{Answer, Error, Request};

/// The most bytes of one write.
const WRITE_BYTES_MAX: usize = 4_096;
const READ_BYTES: u64 = 64 << 10;

pub(super) fn sleep_ms(span_ms: u32) {
    monotonic_clock::subscribe_duration(u64::from(span_ms) * 1_000_000).block();
}

pub(super) fn send(request: &Request) -> Result<Answer, Error> {
    let options = options(request)?;
    let outgoing = outgoing(request)?;
    let body = outgoing.body().map_err(|()| invalid("it has no body"))?;
    let future = outgoing_handler::handle(outgoing, Some(options)).map_err(failed)?;
    // Where writing fails, the answer says why.
    let _ = write(body, &request.body);
    future.subscribe().block();
    let answer = future.get().ok_or_else(|| Error::Unavailable("there is no answer".into()))?;
    let answer = answer.map_err(|()| invalid("it was answered before"))?.map_err(failed)?;
    read(&answer, request.answer_bytes_max)
}

fn invalid(problem: &str) -> Error {
    Error::Invalid(format!("the request cannot be sent: {problem}"))
}

fn options(request: &Request) -> Result<RequestOptions, Error> {
    let options = RequestOptions::new();
    if let Some(timeout_ms) = request.timeout_ms {
        let span = Some(u64::from(timeout_ms) * 1_000_000);
        let set = options.set_first_byte_timeout(span);
        set.and_then(|()| options.set_between_bytes_timeout(span))
            .and_then(|()| options.set_connect_timeout(span))
            .map_err(|()| invalid("its timeout is not taken"))?;
    }
    Ok(options)
}

fn outgoing(request: &Request) -> Result<OutgoingRequest, Error> {
    let (scheme, rest) = match request.url.split_once("://") {
        Some(("https", rest)) => (Scheme::Https, rest),
        Some(("http", rest)) => (Scheme::Http, rest),
        _ => return Err(invalid("its URL begins with neither https:// nor http://")),
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) if rest[at..].starts_with('/') => (&rest[..at], rest[at..].to_owned()),
        Some(at) => (&rest[..at], format!("/{}", &rest[at..])),
        None => (rest, "/".to_owned()),
    };
    let headers = Fields::from_list(&request.headers);
    let headers =
        headers.map_err(|problem| invalid(&format!("a header is refused: {problem:?}")))?;
    let outgoing = OutgoingRequest::new(headers);
    let method = match request.method {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "HEAD" => Method::Head,
        "PATCH" => Method::Patch,
        other => Method::Other(other.into()),
    };
    let built = outgoing
        .set_method(&method)
        .and_then(|()| outgoing.set_scheme(Some(&scheme)))
        .and_then(|()| outgoing.set_authority(Some(authority)))
        .and_then(|()| outgoing.set_path_with_query(Some(&path)));
    built.map_err(|()| invalid("its URL or method is not taken"))?;
    Ok(outgoing)
}

fn write(body: OutgoingBody, bytes: &[u8]) -> Result<(), ()> {
    let stream = body.write()?;
    for chunk in bytes.chunks(WRITE_BYTES_MAX) {
        stream.blocking_write_and_flush(chunk).map_err(drop)?;
    }
    drop(stream);
    OutgoingBody::finish(body, None).map_err(drop)
}

fn read(answer: &IncomingResponse, bytes_max: usize) -> Result<Answer, Error> {
    let status = answer.status();
    let headers = answer.headers().entries();
    let incoming = answer.consume().map_err(|()| invalid("its answer was read before"))?;
    let body = read_body(&incoming, bytes_max)?;
    Ok(Answer { status, headers, body })
}

fn read_body(incoming: &IncomingBody, bytes_max: usize) -> Result<Vec<u8>, Error> {
    let stream = incoming.stream().map_err(|()| invalid("its answer was read before"))?;
    let mut body = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(bytes) => body.extend_from_slice(&bytes),
            Err(StreamError::Closed) => return Ok(body),
            Err(StreamError::LastOperationFailed(problem)) => {
                return Err(broken_off(&problem.to_debug_string()));
            }
        }
        if body.len() > bytes_max {
            return Err(Error::TooLarge(format!("the answer has more than {bytes_max} bytes")));
        }
    }
}

/// The interface has a code for it, which Assay's host does not give for bodies: its text is looked at.
fn broken_off(said: &str) -> Error {
    let said: String = said.chars().take(200).collect();
    match said.contains("response body size") {
        true => Error::TooLarge(format!("too much for one call ({said})")),
        false => Error::Unavailable(format!("the answer broke off ({said})")),
    }
}

fn failed(code: ErrorCode) -> Error {
    let text = |what: &str| format!("{what} ({code})");
    match &code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
            Error::Denied(text("the tenant may not send this request; the log says why"))
        }
        ErrorCode::HttpRequestUriInvalid
        | ErrorCode::HttpRequestUriTooLong
        | ErrorCode::HttpRequestMethodInvalid => invalid(&text("the host refuses it")),
        ErrorCode::HttpRequestBodySize(_)
        | ErrorCode::HttpResponseBodySize(_)
        | ErrorCode::ConnectionLimitReached => Error::TooLarge(text("too much for one call")),
        ErrorCode::InternalError(Some(problem)) => Error::Unavailable(problem.clone()),
        _ => Error::Unavailable(text("there is no answer")),
    }
}
