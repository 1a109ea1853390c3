//! A model behind an OpenAI-compatible interface, as good or bad as a test says.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The server's reaction to a question.
pub enum Reply {
    /// These bytes, and then the connection ends.
    Bytes(Vec<u8>),
    /// Nothing, until the other side gives up.
    Silence,
    /// The beginning, and then only its own half of the connection ends.
    HalfClosed(Vec<u8>),
}

/// A question as it came.
#[derive(Debug, Clone)]
pub struct Question {
    pub head: String,
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

impl Question {
    /// The mark that the judge must repeat.
    pub fn mark(&self) -> String {
        let system = self.body["messages"][0]["content"].as_str().expect("a system message");
        let (_, after) = system.split_once("{\"mark\": \"").expect("a mark");
        after.split_once('"').expect("it ends").0.to_owned()
    }

    pub fn user(&self) -> &str {
        self.body["messages"][1]["content"].as_str().expect("a user's message")
    }

    /// The answer of a good judge with these scores.
    pub fn scored(&self, scores: &Value) -> Reply {
        let said = json!({"mark": self.mark(), "reason": "because", "scores": scores});
        saying(&said.to_string())
    }
}

/// A completion with this content.
pub fn saying(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    status(200, "", &body.to_string())
}

/// An answer with this status, further header lines and a body.
pub fn status(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\n\r\n{body}");
    Reply::Bytes(text.into_bytes())
}

pub struct Model {
    pub port: u16,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Model {
    /// `reply` is given each question and how many came before it.
    pub async fn start(reply: impl Fn(&Question, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked: Arc<Mutex<Vec<Question>>> = Arc::default();
        let (reply, asks) = (Arc::new(reply), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (reply, asks) = (Arc::clone(&reply), Arc::clone(&asks));
                tokio::spawn(async move {
                    let mut stream = stream;
                    let Some(question) = read(&mut stream).await else { return };
                    let before = {
                        let mut asked = asks.lock().expect("whole");
                        asked.push(question.clone());
                        asked.len() - 1
                    };
                    answer(stream, reply(&question, before)).await;
                });
            }
        });
        Self { port, asked }
    }

    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().expect("whole").clone()
    }
}

async fn answer(mut stream: TcpStream, reply: Reply) {
    let mut rest = Vec::new();
    match reply {
        Reply::Bytes(bytes) => drop(stream.write_all(&bytes).await),
        Reply::Silence => drop(stream.read_to_end(&mut rest).await),
        Reply::HalfClosed(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut rest).await;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Question> {
    let mut all = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&all);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length?.parse().ok()? {
                return Some(Question {
                    head: head.into(),
                    body: serde_json::from_str(body).ok()?,
                    text: body.into(),
                });
            }
        }
        if stream.read_buf(&mut all).await.ok()? == 0 {
            return None;
        }
    }
}
