//! Server-sent events of a batch or of the live feed over one connection; a new connection
//! continues after the last id received.

use std::time::Duration;

use assay_core::id::BatchId;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::ACCEPT;
use reqwest::{Method, RequestBuilder};

use crate::call::{Client, Repeat};
use crate::error::{Error, root_cause};
use crate::lines::Lines;

/// A limit above the length of any batch: the server ends the stream.
const EVENTS_CALL: Duration = Duration::from_secs(7 * 24 * 3_600);

/// One event, such as `group.done`; `data` is its JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEvent {
    pub id: Option<String>,
    pub name: String,
    pub data: String,
}

/// See [`Client::events`].
pub struct ServerEvents {
    client: Client,
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    lines: Lines,
    /// The fields of the event that is not complete yet.
    fields: Fields,
}

impl Client {
    /// Follows a batch's events, after `last_event_id` if given.
    pub async fn events(
        &self,
        batch: BatchId,
        last_event_id: Option<&str>,
    ) -> Result<ServerEvents, Error> {
        let request = self.request(Method::GET, &["batches", &batch.to_string(), "events"]);
        self.follow(request, last_event_id).await
    }

    pub(crate) async fn follow(
        &self,
        request: RequestBuilder,
        last_event_id: Option<&str>,
    ) -> Result<ServerEvents, Error> {
        let mut request = request.header(ACCEPT, "text/event-stream").timeout(EVENTS_CALL);
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let body = self.send(request, Repeat::Safe).await?.bytes_stream().boxed();
        Ok(ServerEvents {
            client: self.clone(),
            body,
            lines: Lines::default(),
            fields: Fields::default(),
        })
    }
}

impl ServerEvents {
    /// The next event; nothing when the server ended the stream.
    pub async fn next(&mut self) -> Result<Option<ServerEvent>, Error> {
        loop {
            let line = self
                .lines
                .next()
                .map_err(|_| Error::unexpected(self.client.url(), "a line is too long"))?;
            if let Some(line) = line {
                if let Some(event) = self.fields.take_line(&String::from_utf8_lossy(&line)) {
                    return Ok(Some(event));
                }
                continue;
            }
            match self.body.next().await {
                Some(Ok(chunk)) => self.lines.push(&chunk),
                Some(Err(error)) => return Err(self.client.unreachable(root_cause(&error))),
                None => return Ok(None),
            }
        }
    }
}

#[derive(Default)]
struct Fields {
    id: Option<String>,
    name: String,
    data: Vec<String>,
}

impl Fields {
    /// Takes one line; an empty one completes the event, unless it was only a comment.
    fn take_line(&mut self, line: &str) -> Option<ServerEvent> {
        if line.is_empty() {
            let Self { id, name, data } = std::mem::take(self);
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return (!data.is_empty()).then(|| ServerEvent { id, name, data: data.join("\n") });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.name),
            "data" => self.data.push(value.to_owned()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_by_the_standard() {
        let text = ": hello\n\nid: 4\nevent: group.done\ndata: {\"a\":\ndata:1}\n\ndata: x\n\n";
        let mut fields = Fields::default();
        let events: Vec<_> = text.lines().filter_map(|line| fields.take_line(line)).collect();
        let event = |id: Option<&str>, name: &str, data: &str| ServerEvent {
            id: id.map(str::to_owned),
            name: name.into(),
            data: data.into(),
        };
        assert_eq!(
            events,
            [event(Some("4"), "group.done", "{\"a\":\n1}"), event(None, "message", "x")]
        );
    }
}
