//! Sends one request of a guest and receives the answer.
//!
//! The request is built here from checked parts: method, path, headers, and the whole body with its length. No bytes of
//! a guest are sent unchecked, so that it cannot smuggle a second request.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use assay_core::outbound::{Host, Scheme, Target, check_addresses};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use futures_util::future::FusedFuture as _;
use http::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::ServerName;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use super::answer::AnswerBody;
use super::{Answered, HttpGrant};
use crate::latest_end::{LatestEnd, MovingEnd};

/// The header by which a plugin names a secret; it is never sent.
const SECRET: HeaderName = HeaderName::from_static("assay-secret");

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The call's time for requests is over.
pub(super) fn over() -> Error {
    Error::InternalError(Some("the call's time for requests is over".into()))
}

/// So many names are looked up that this one is not: at once, as no wait for other calls is the guest's own.
fn resolver_is_slow() -> Error {
    Error::InternalError(Some("too many names are being looked up; the resolver is slow".into()))
}

/// The error of a broken connection, without its text, which comes from the server.
pub(super) fn broken(problem: &hyper::Error) -> Error {
    if problem.is_parse_too_large() {
        return Error::HttpResponseHeaderSectionSize(None);
    }
    if problem.is_incomplete_message() || problem.is_canceled() || problem.is_closed() {
        return Error::ConnectionTerminated;
    }
    let of_connection = problem.source().is_some_and(|cause| cause.is::<std::io::Error>());
    if of_connection && !problem.is_parse() {
        return Error::ConnectionTerminated;
    }
    Error::HttpProtocolError
}

/// Waits for a future until `by`, then fails with `late`; fails with [`over`] when the call's time for requests is over.
async fn within<R>(
    end: &LatestEnd,
    by: Option<&MovingEnd>,
    late: Error,
    waited: impl Future<Output = R>,
) -> Result<R, Error> {
    tokio::select! {
        biased;
        came = waited => Ok(came),
        error = ended(end, by, late) => Err(error),
    }
}

/// Waits for the earlier of both ends; returns its error.
pub(super) async fn ended(end: &LatestEnd, by: Option<&MovingEnd>, late: Error) -> Error {
    let Some(by) = by else {
        end.reached().await;
        return over();
    };
    tokio::select! {
        biased;
        () = end.reached() => over(),
        () = by.reached() => late,
    }
}

/// Sends a request; every await in it ends by the call's time for requests.
pub(super) async fn send(
    granted: &HttpGrant,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<Answered, Error> {
    let end = &granted.end;
    let (mut parts, body) = request.into_parts();
    let (target, private) = allowed(granted, &parts.method, &parts.uri)?;
    put_secret(granted, &target, &mut parts.headers)?;
    put_trace(granted, &mut parts.headers);
    let under_way = granted.budget.start()?;
    let body = within(end, None, over(), collected(granted, body)).await??;
    let connected = connect(granted, &target, private, options.connect_timeout).await?;
    let request = on_the_wire(parts, &target, body)?;

    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(limits::HTTP_HEADER_BYTES_MAX)
        .max_headers(limits::HTTP_HEADERS_MAX)
        .handshake(TokioIo::new(connected))
        .await
        .map_err(|problem| broken(&problem))?;
    let mut connection = Box::pin(connection.fuse());
    let mut answer = pin!(sender.send_request(request));
    let answer = async {
        tokio::select! {
            answer = &mut answer => answer,
            // It ends first where the server closes at once; the answer says what became of it.
            _ = &mut connection => answer.await,
        }
    };
    let first_byte = options.first_byte_timeout.and_then(|span| end.after(span));
    let answer = within(end, first_byte.as_ref(), Error::HttpResponseTimeout, answer).await?;
    let answer = answer.map_err(|problem| broken(&problem))?;
    let budget = Arc::clone(&granted.budget);
    let between = options.between_bytes_timeout;
    let answer = answer.map(|body| {
        AnswerBody::new(body, budget, under_way, Arc::clone(end), between).boxed_unsync()
    });
    // Runs as long as somebody holds the body, which ends in time by itself and alone says how: a connection
    // that ended beside it would look as if the server had closed it.
    let conversation = async move {
        if !connection.is_terminated() {
            let _ = connection.await;
        }
        Ok(())
    };
    Ok((answer, Box::new(conversation)))
}

/// The target of a request, and whether it may have an address that is not public.
fn allowed(granted: &HttpGrant, method: &Method, uri: &Uri) -> Result<(Target, bool), Error> {
    let notes = &granted.notes;
    if matches!(*method, Method::CONNECT | Method::TRACE) {
        return Err(notes.refuse(Error::HttpRequestMethodInvalid, format!("{method} is not sent")));
    }
    let path_bytes = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if path_bytes > limits::HTTP_PATH_BYTES_MAX {
        return Err(Error::HttpRequestUriTooLong);
    }
    let target = target(uri).map_err(|why| notes.refuse(Error::HttpRequestUriInvalid, why))?;
    match granted.outbound.allows(&target) {
        Some(private) => Ok((target, private)),
        None => {
            let scheme = if target.scheme == Scheme::Http { "http" } else { "https" };
            let why = format!(
                "the tenant was not granted {scheme}://{}:{}: `assay tenant set NAME --hosts ...` \
                 names what it may reach",
                target.host, target.port
            );
            Err(notes.ungranted(Error::HttpRequestDenied, why))
        }
    }
}

fn target(uri: &Uri) -> Result<Target, String> {
    let scheme = match uri.scheme_str() {
        Some("https") => Scheme::Https,
        Some("http") => Scheme::Http,
        _ => return Err("a request is sent by https or http".into()),
    };
    let authority = uri.authority().ok_or("a request names a host")?;
    if authority.as_str().contains('@') {
        return Err("a host is named without a user or a password".into());
    }
    let host = Host::parse(authority.host())?;
    let after = &authority.as_str()[authority.host().len()..];
    let port = match after.strip_prefix(':') {
        None => scheme.port(),
        Some(port) => port.parse().map_err(|_| "a port is a number".to_owned())?,
    };
    Ok(Target { scheme, host, port })
}

/// Puts the secret that the request names in the place of its name.
fn put_secret(granted: &HttpGrant, target: &Target, headers: &mut HeaderMap) -> Result<(), Error> {
    let Some(name) = headers.remove(&SECRET) else { return Ok(()) };
    let known = granted.outbound.secrets.iter().find(|secret| name == secret.name.as_str());
    // A secret for another host is reported like one that does not exist.
    let Some(secret) = known.filter(|secret| secret.host.matches(target)) else {
        let name = String::from_utf8_lossy(name.as_bytes()).into_owned();
        let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        let why = format!("the tenant has no secret `{name}` for {}", target.host);
        return Err(granted.notes.ungranted(Error::HttpRequestDenied, why));
    };
    let bad = |_| Error::ConfigurationError;
    let header = HeaderName::from_bytes(secret.header.as_bytes()).map_err(|_| bad(()))?;
    let mut value = HeaderValue::from_str(&secret.value).map_err(|_| bad(()))?;
    value.set_sensitive(true);
    headers.insert(header, value);
    Ok(())
}

/// Continues the trace of the request, unless the plugin names one itself.
fn put_trace(granted: &HttpGrant, headers: &mut HeaderMap) {
    let header = granted.outbound.traceparent.as_deref();
    if let Some(value) = header.and_then(|text| HeaderValue::from_str(text).ok()) {
        headers.entry(TRACEPARENT).or_insert(value);
    }
}

async fn collected(granted: &HttpGrant, body: WasiBody) -> Result<Bytes, Error> {
    let mut body = pin!(body);
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // Trailers are left out.
        if let Ok(bytes) = frame?.into_data() {
            granted.budget.send(bytes.len())?;
            all.extend_from_slice(&bytes);
        }
    }
    Ok(all.freeze())
}

/// The request as it is sent: the path alone, the checked host, and the body's length.
fn on_the_wire(
    parts: http::request::Parts,
    target: &Target,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, Error> {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let host = match target.port == target.scheme.port() {
        true => target.host.to_string(),
        false => format!("{}:{}", target.host, target.port),
    };
    let mut request = Request::builder().method(parts.method).uri(path).body(Full::new(body));
    let headers =
        request.as_mut().map(Request::headers_mut).map_err(|_| Error::HttpRequestUriInvalid)?;
    *headers = parts.headers;
    headers.remove(CONTENT_LENGTH);
    headers.remove(TRANSFER_ENCODING);
    let host = HeaderValue::from_str(&host).map_err(|_| Error::HttpRequestUriInvalid)?;
    headers.insert(HOST, host);
    request.map_err(|_| Error::HttpRequestUriInvalid)
}

/// A stream of bytes, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Looks the name up, once, and connects to an address that was checked.
async fn connect(
    granted: &HttpGrant,
    target: &Target,
    private: bool,
    wanted: Option<Duration>,
) -> Result<Box<dyn Stream>, Error> {
    let most = Duration::from_millis(limits::HTTP_CONNECT_MS_MAX);
    let end = &granted.end;
    let by = end.after(wanted.map_or(most, |wanted| wanted.min(most)));
    let looked_up = addresses(granted, &target.host);
    let addresses = within(end, by.as_ref(), Error::DnsTimeout, looked_up).await??;
    check_addresses(&target.host, private, &addresses)
        .map_err(|why| granted.notes.refuse(Error::DestinationIpProhibited, why))?;
    let connecting = async {
        let mut failed = Error::DestinationUnavailable;
        for address in addresses {
            match TcpStream::connect(SocketAddr::new(address, target.port)).await {
                Ok(stream) => return encrypted(granted, target, stream).await,
                Err(problem) if problem.kind() == std::io::ErrorKind::ConnectionRefused => {
                    failed = Error::ConnectionRefused;
                }
                Err(_) => failed = Error::DestinationUnavailable,
            }
        }
        Err(failed)
    };
    within(end, by.as_ref(), Error::ConnectionTimeout, connecting).await?
}

async fn addresses(granted: &HttpGrant, host: &Host) -> Result<Vec<IpAddr>, Error> {
    let name = match host {
        Host::Address(address) => return Ok(vec![*address]),
        Host::Name(name) => name.clone(),
    };
    let unknown = |rcode: &str| Error::DnsError { rcode: Some(rcode.into()), info_code: None };
    let network = &granted.network;
    let place = network.lookups.place(granted.tenant).ok_or_else(resolver_is_slow)?;
    let resolve = Arc::clone(&network.resolve);
    let looking = move || {
        let _place = place;
        resolve(&name)
    };
    let found = tokio::task::spawn_blocking(looking).await;
    let mut found = found.map_err(|_| unknown("SERVFAIL"))?.map_err(|_| unknown("NXDOMAIN"))?;
    found.dedup();
    if found.is_empty() {
        return Err(unknown("NXDOMAIN"));
    }
    // A name with more addresses than this is not an honest one.
    found.truncate(limits::HTTP_ADDRESSES_MAX);
    Ok(found)
}

async fn encrypted(
    granted: &HttpGrant,
    target: &Target,
    stream: TcpStream,
) -> Result<Box<dyn Stream>, Error> {
    // Whole messages are written at once.
    let _ = stream.set_nodelay(true);
    if target.scheme == Scheme::Http {
        return Ok(Box::new(stream));
    }
    let name = match &target.host {
        Host::Address(address) => ServerName::IpAddress((*address).into()),
        Host::Name(name) => {
            ServerName::try_from(name.clone()).map_err(|_| Error::HttpRequestUriInvalid)?
        }
    };
    match granted.network.tls().connect(name, stream).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(problem) => {
            let cause = problem.get_ref().and_then(|cause| cause.downcast_ref());
            Err(match cause {
                Some(tokio_rustls::rustls::Error::InvalidCertificate(why)) => granted.notes.refuse(
                    Error::TlsCertificateError,
                    format!("the certificate of {} is refused: {why:?}", target.host),
                ),
                Some(_) => Error::TlsProtocolError,
                None => Error::ConnectionTerminated,
            })
        }
    }
}
