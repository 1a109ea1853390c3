//! Reading the body of a call, within limits of size and time.

use std::time::Duration;

use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::fair_semaphore::{FairPermit, FairSemaphore};
use axum::body::{Body, BodyDataStream};
use axum::http::StatusCode;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::time::Instant;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

use crate::extract::name::check_text;
use crate::extract::object;
use crate::extract::thread_use;
use crate::problem::ApiError;

/// The silence after which a body is given up, and how far it may lag behind the least pace.
const PATIENCE: Duration = Duration::from_secs(limits::READ_SECONDS_MAX);
const WHOLE_PATIENCE: Duration = Duration::from_secs(limits::WHOLE_BODY_SECONDS_MAX);

/// The bytes of a body as they come, at no less than the least pace.
pub(crate) struct Pieces {
    stream: BodyDataStream,
    pace: Pace,
}

impl Pieces {
    /// A body that is held in memory until it is whole.
    pub(crate) fn of_whole(body: Body) -> Self {
        Self { stream: body.into_data_stream(), pace: Pace::of_whole() }
    }

    /// A body of lines, which may take as long as its lines are whole; see [`Self::rest`].
    pub(crate) fn of_lines(body: Body) -> Self {
        Self { stream: body.into_data_stream(), pace: Pace::of_lines() }
    }

    /// Nothing of the body is held, so that nobody waits for what comes next: the pace begins anew.
    pub(crate) fn rest(&mut self) {
        self.pace.rest();
    }

    /// A long line is held, which must be whole within the time for a whole body.
    pub(crate) fn hold(&mut self) {
        self.pace.hold();
    }

    /// The next bytes of the body, `None` at its end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let since = Instant::now();
        let next = tokio::time::timeout(self.pace.patience(), self.stream.next()).await;
        let next = next.map_err(|_| {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", self.pace.too_slow())
        })?;
        match next.transpose() {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => {
                self.pace.got(bytes.len(), since.elapsed());
                Ok(Some(bytes))
            }
            Err(error) => Err(ApiError::bad_request(format!("the body ended early: {error}"))),
        }
    }
}

/// How slowly a body came so far. Only the time in which the server waits for it counts.
struct Pace {
    /// The time by which the body lags behind the least pace.
    lag: Duration,
    /// The time that the server may still wait for the whole body.
    left: Duration,
}

impl Pace {
    const fn of_whole() -> Self {
        Self { lag: Duration::ZERO, left: WHOLE_PATIENCE }
    }

    const fn of_lines() -> Self {
        Self { lag: Duration::ZERO, left: Duration::MAX }
    }

    const fn rest(&mut self) {
        self.lag = Duration::ZERO;
        self.left = Duration::MAX;
    }

    fn hold(&mut self) {
        self.left = self.left.min(WHOLE_PATIENCE);
    }

    /// The longest wait for the next bytes.
    fn patience(&self) -> Duration {
        self.left.min(PATIENCE.saturating_sub(self.lag))
    }

    fn got(&mut self, bytes: usize, waited: Duration) {
        let paid = Duration::from_secs(bytes as u64) / limits::BODY_BYTES_PER_SECOND_MIN;
        self.lag = (self.lag + waited).saturating_sub(paid);
        self.left = self.left.saturating_sub(waited);
    }

    /// Why nobody waits any longer.
    fn too_slow(&self) -> String {
        if self.left < PATIENCE.saturating_sub(self.lag) {
            let seconds = WHOLE_PATIENCE.as_secs();
            format!("the body did not arrive within {seconds} s: send it in smaller parts")
        } else if self.lag.is_zero() {
            format!("no byte of the body arrived for {} s", PATIENCE.as_secs())
        } else {
            format!(
                "the body came more slowly than {} bytes a second: prepare it before the call, and send it at once",
                limits::BODY_BYTES_PER_SECOND_MIN
            )
        }
    }
}

/// The turn of a call whose whole body is held in memory, among the calls of all tenants. It is taken when more bytes
/// have arrived than a call may hold without one, so that a body which does not come holds no turn.
pub(crate) struct Turn {
    turns: FairSemaphore,
    tenant: TenantId,
    permit: Option<FairPermit>,
}

impl Turn {
    pub(crate) fn new(turns: &FairSemaphore, tenant: TenantId) -> Self {
        Self { turns: turns.clone(), tenant, permit: None }
    }

    /// So many bytes of the body are in memory.
    pub(crate) async fn hold(&mut self, bytes: usize) {
        if bytes > limits::BODY_BYTES_WITHOUT_TURN_MAX && self.permit.is_none() {
            self.permit = Some(self.turns.acquire(self.tenant, 1).await);
        }
    }

    /// None of the body's bytes are in memory any longer.
    pub(crate) fn release(&mut self) {
        self.permit = None;
    }

    pub(crate) const fn is_held(&self) -> bool {
        self.permit.is_some()
    }
}

/// A whole body of few bytes.
pub(crate) async fn whole(body: Body, what: &str, bytes_max: usize) -> Result<Bytes, ApiError> {
    read(body, what, bytes_max, None).await
}

/// A whole body of many bytes, which takes a turn.
pub(crate) async fn whole_in_turn(
    body: Body,
    what: &str,
    bytes_max: usize,
    turn: &mut Turn,
) -> Result<Bytes, ApiError> {
    read(body, what, bytes_max, Some(turn)).await
}

async fn read(
    body: Body,
    what: &str,
    bytes_max: usize,
    mut turn: Option<&mut Turn>,
) -> Result<Bytes, ApiError> {
    let mut pieces = Pieces::of_whole(body);
    let Some(first) = pieces.next().await? else { return Ok(Bytes::new()) };
    let mut all: Option<BytesMut> = None;
    let mut total = first.len();
    if let Some(turn) = &mut turn {
        turn.hold(total).await;
    }
    while let Some(bytes) = pieces.next().await? {
        total += bytes.len();
        if total > bytes_max {
            break;
        }
        if let Some(turn) = &mut turn {
            turn.hold(total).await;
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
    parse_or_default(&small(body).await?)
}

/// A JSON body of a call that needs neither a key nor a session: strangers hold little of the memory with it.
pub(crate) async fn open_json<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    parse(&whole(body, "the body", limits::OPEN_BODY_BYTES_MAX).await?)
}

/// A small JSON body.
pub(crate) async fn json<T: DeserializeOwned>(body: Body) -> Result<(T, Bytes), ApiError> {
    let bytes = small(body).await?;
    Ok((parse(&bytes)?, bytes))
}

/// The bytes of a small JSON body.
pub(crate) async fn small(body: Body) -> Result<Bytes, ApiError> {
    whole(body, "the body", limits::SMALL_BODY_BYTES_MAX).await
}

pub(crate) fn parse_or_default<T: DeserializeOwned + Default>(bytes: &[u8]) -> Result<T, ApiError> {
    if bytes.is_empty() { Ok(T::default()) } else { parse(bytes) }
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    object::read(bytes).map_err(|error| {
        let why = object::explain::<T>(bytes, &error);
        ApiError::bad_request(format!("the body is not valid for this call: {why}"))
            .hint("GET /openapi.json describes it")
    })
}

/// The same for a body that may be long.
pub(crate) async fn parse_long<T>(bytes: &Bytes) -> Result<T, ApiError>
where
    T: DeserializeOwned + Send + 'static,
{
    thread_use::read(bytes, |bytes| parse(bytes)).await
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
    use super::*;

    /// So many pieces with so many bytes each, which come after so many seconds.
    struct Drip(usize, usize, u64);

    /// Reads a body on a virtual clock; fails with the second at which it is given up, and the reason.
    fn read(mut pace: Pace, drips: &[Drip], whole_lines: bool) -> Result<(), (u64, String)> {
        let mut second = 0;
        for Drip(pieces, bytes, seconds) in drips {
            for _ in 0..*pieces {
                let pause = Duration::from_secs(*seconds);
                if pause > pace.patience() {
                    return Err((second + pace.patience().as_secs(), pace.too_slow()));
                }
                pace.got(*bytes, pause);
                second += seconds;
                if whole_lines {
                    pace.rest();
                }
            }
        }
        Ok(())
    }

    #[test]
    fn a_body_keeps_the_least_pace() {
        let whole = |drips: &[Drip]| read(Pace::of_whole(), drips, false);
        assert_eq!(whole(&[Drip(100, 1_024, 1)]), Ok(()));
        let check = |drips: &[Drip], second: u64, words: &str| {
            let (after, said) = whole(drips).expect_err("it is too slow");
            assert!(after == second && said.contains(words), "{after} s: {said}");
        };
        check(&[Drip(1, 1, 3_600)], 30, "no byte of the body arrived for 30 s");
        check(&[Drip(10_000, 1, 1)], 30, "more slowly than 1024 bytes a second");
        check(&[Drip(10_000, 2_048, 4)], 58, "more slowly than 1024 bytes a second");
        check(&[Drip(1_000, 1_025, 1)], 120, "within 120 s");
        // Bytes that come early are no excuse for a later silence.
        check(&[Drip(1, 1 << 19, 0), Drip(1_000, 1, 10)], 30, "more slowly than 1024 bytes");
    }

    #[test]
    fn whole_lines_may_come_slowly_and_their_parts_may_not() {
        assert_eq!(read(Pace::of_lines(), &[Drip(1_000, 1, 20)], true), Ok(()));
        let (after, said) =
            read(Pace::of_lines(), &[Drip(1_000, 1, 20)], false).expect_err("no line ends");
        assert!(after == 30 && said.contains("more slowly"), "{after} s: {said}");
    }

    #[test]
    fn a_long_line_has_the_time_of_a_whole_body() {
        let mut pace = Pace::of_lines();
        assert_eq!(read(Pace::of_lines(), &[Drip(1_000, 1_025, 1)], false), Ok(()));
        pace.hold();
        let (after, said) = read(pace, &[Drip(1_000, 1_025, 1)], false).expect_err("it is held");
        assert!(after == 120 && said.contains("within 120 s"), "{after} s: {said}");
        let mut pace = Pace::of_lines();
        pace.hold();
        pace.rest();
        assert_eq!(read(pace, &[Drip(1_000, 1_025, 1)], false), Ok(()));
    }

    #[tokio::test]
    async fn a_turn_is_taken_with_the_bytes() {
        let turns = FairSemaphore::new(1);
        let tenant = TenantId::generate();
        let mut turn = Turn::new(&turns, tenant);
        turn.hold(limits::BODY_BYTES_WITHOUT_TURN_MAX).await;
        assert_eq!(turns.free(), 1);
        turn.hold(limits::BODY_BYTES_WITHOUT_TURN_MAX + 1).await;
        turn.hold(limits::BODY_BYTES_WITHOUT_TURN_MAX + 2).await;
        assert_eq!(turns.free(), 0);
        assert!(turn.is_held());
        turn.release();
        assert_eq!(turns.free(), 1);
        turn.hold(limits::BODY_BYTES_WITHOUT_TURN_MAX + 1).await;
        assert_eq!(turns.free(), 0);
        drop(turn);
        assert_eq!(turns.free(), 1);
    }

    #[test]
    fn a_name_cannot_turn_the_text_around_it() {
        assert!(check_text("run", "مرحبا live", 64).is_ok());
        let refused = check_text("run", "live-\u{202e}live", 64).expect_err("it turns the text");
        assert_eq!(refused, "run has a character that changes the direction of text");
    }
}
