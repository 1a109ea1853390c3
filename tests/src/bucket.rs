//! A bucket on a port of its own that speaks as much of S3 as Assay needs: put, get with a condition or a range, list
//! in pages, delete, and S3's errors. It holds callers to a key id, and notes what it was asked.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;

/// So few that every listing has pages.
const PAGE_NAMES: usize = 2;
const DATE: &str = "Fri, 20 Nov 2026 12:00:00 GMT";
const LIST_DATE: &str = "2026-11-20T12:00:00.000Z";

/// Closed when dropped: nobody listens on its port then.
pub struct Bucket {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
}

struct Shared {
    name: String,
    key_id: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    statuses: Vec<u16>,
    closing: bool,
}

struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Bucket {
    /// # Panics
    /// When no port is free.
    #[must_use]
    pub fn open(name: &str, key_id: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let state = Mutex::default();
        let shared = Arc::new(Shared { name: name.into(), key_id: key_id.into(), state });
        let serving = Arc::clone(&shared);
        let server = std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                if serving.state.lock().closing {
                    return;
                }
                // One call a connection, one after the other; a caller that hangs up is no concern.
                let _ = serving.answer(connection);
            }
        });
        Self { address, shared, server: Some(server) }
    }

    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn put(&self, key: &str, bytes: impl Into<Vec<u8>>) {
        self.shared.state.lock().objects.insert(key.into(), bytes.into());
    }

    /// The names of its objects, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.shared.state.lock().objects.keys().cloned().collect()
    }

    /// The status codes of the answers since the last call of this function.
    #[must_use]
    pub fn statuses(&self) -> Vec<u16> {
        std::mem::take(&mut self.shared.state.lock().statuses)
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.shared.state.lock().closing = true;
        // The thread waits for a connection.
        let woken = TcpStream::connect(self.address);
        if let Some(server) = self.server.take().filter(|_| woken.is_ok()) {
            server.join().expect("the bucket's thread does not panic");
        }
    }
}

impl Shared {
    fn answer(&self, connection: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(&connection);
        let mut first = String::new();
        reader.read_line(&mut first)?;
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let reply = self.reply(method, target, &headers, body);
        self.state.lock().statuses.push(reply.status);
        let mut out = &connection;
        write!(
            out,
            "HTTP/1.1 {} .\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n",
            reply.status,
            reply.body.len(),
            reply.headers
        )?;
        if method == "HEAD" { Ok(()) } else { out.write_all(&reply.body) }
    }

    fn reply(
        &self,
        method: &str,
        target: &str,
        headers: &BTreeMap<String, String>,
        body: Vec<u8>,
    ) -> Reply {
        let credential = format!("Credential={}/", self.key_id);
        if !headers.get("authorization").is_some_and(|given| given.contains(&credential)) {
            return problem(403, "InvalidAccessKeyId");
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = decoded(path.trim_start_matches('/'));
        let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
        if bucket != self.name {
            return problem(404, "NoSuchBucket");
        }
        match method {
            "PUT" => {
                let headers = format!("ETag: {}\r\n", tag(&body));
                self.state.lock().objects.insert(key.into(), body);
                return Reply { status: 200, headers, body: Vec::new() };
            }
            "POST" => return self.delete(&String::from_utf8_lossy(&body)),
            _ if key.is_empty() => return self.list(query),
            _ => {}
        }
        let state = self.state.lock();
        let Some(bytes) = state.objects.get(key) else { return problem(404, "NoSuchKey") };
        let tag = tag(bytes);
        let described = format!("ETag: {tag}\r\nLast-Modified: {DATE}\r\n");
        if headers.get("if-none-match") == Some(&tag) {
            return Reply { status: 304, headers: described, body: Vec::new() };
        }
        let Some((first, last)) = headers.get("range").and_then(|range| span(range, bytes.len()))
        else {
            return Reply { status: 200, headers: described, body: bytes.clone() };
        };
        let headers = format!("{described}Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
        Reply { status: 206, headers, body: bytes[first..=last].to_vec() }
    }

    /// Several objects at once, as S3 deletes them.
    fn delete(&self, body: &str) -> Reply {
        let mut deleted = String::new();
        for part in body.split("<Key>").skip(1) {
            let key = part.split("</Key>").next().unwrap_or_default();
            self.state.lock().objects.remove(key);
            deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
        }
        let body = format!("<DeleteResult>{deleted}</DeleteResult>");
        Reply {
            status: 200,
            headers: "Content-Type: application/xml\r\n".into(),
            body: body.into(),
        }
    }

    fn list(&self, query: &str) -> Reply {
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| decoded(value)).next()
        };
        let (prefix, after) = (value("prefix").unwrap_or_default(), value("continuation-token"));
        let state = self.state.lock();
        let mut objects = state
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(&prefix))
            .filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after))
            .peekable();
        let (mut page, mut last) = (String::new(), None);
        for (key, bytes) in objects.by_ref().take(PAGE_NAMES) {
            page.push_str(&format!(
                "<Contents><Key>{key}</Key><LastModified>{LIST_DATE}</LastModified>\
                 <ETag>{}</ETag><Size>{}</Size></Contents>",
                tag(bytes),
                bytes.len()
            ));
            last = Some(key);
        }
        let more = objects.peek().and(last).map_or_else(String::new, |last| {
            format!("<NextContinuationToken>{last}</NextContinuationToken>")
        });
        let truncated = !more.is_empty();
        let body = format!(
            "<ListBucketResult><IsTruncated>{truncated}</IsTruncated>{more}{page}</ListBucketResult>"
        );
        let headers = "Content-Type: application/xml\r\n".to_owned();
        Reply { status: 200, headers, body: body.into() }
    }
}

/// The first and the last byte of `bytes=3-` or `bytes=3-7`.
fn span(range: &str, size: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let end = size.checked_sub(1)?;
    Some((first.parse().ok()?, last.parse().unwrap_or(end).min(end)))
}

fn problem(status: u16, code: &str) -> Reply {
    let body = format!("<Error><Code>{code}</Code><Message>{code}</Message></Error>");
    Reply { status, headers: "Content-Type: application/xml\r\n".into(), body: body.into() }
}

fn tag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// `%2F` and the like as what they stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
