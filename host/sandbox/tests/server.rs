//! A server that does what a test says to each connection, and remembers what it was sent.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Each connection is answered by `answer`, once its request was read.
    pub(crate) fn start(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, hears) = (Arc::new(answer), Arc::clone(&heard));
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (answer, hears) = (Arc::clone(&answer), Arc::clone(&hears));
                std::thread::spawn(move || {
                    if let Some(request) = request(&mut stream) {
                        hears.lock().expect("whole").push(request);
                        answer(&mut stream);
                    }
                });
            }
        });
        Self { address, heard }
    }

    /// Answers each request with these bytes.
    pub(crate) fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |stream| drop(stream.write_all(&answer)))
    }

    /// The requests that came, each as a whole.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("whole").clone()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

pub(crate) fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into()
}

fn request(stream: &mut TcpStream) -> Option<String> {
    let mut all = Vec::new();
    let mut part = [0; 4_096];
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                let is = name.eq_ignore_ascii_case("content-length");
                is.then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(count) => all.extend_from_slice(&part[..count]),
        }
    }
}
