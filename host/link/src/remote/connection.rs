//! One connection of TLS, with the reason for which it ends early.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use crate::caller::Peer;

/// Resolves when a connection must end, with the reason.
pub(crate) type End = Pin<Box<dyn Future<Output = &'static str> + Send>>;

/// Given back when it is dropped.
pub(crate) type Place = Box<dyn Send + Sync>;

pub(crate) struct Connection {
    pub stream: TlsStream<TcpStream>,
    pub peer: Peer,
    pub end: End,
    pub ended: Option<&'static str>,
    /// Its place among the connections of its kind.
    pub _place: Place,
}

impl Connection {
    /// An error once the connection must end; wakes the task when it does.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.ended.is_none()
            && let Poll::Ready(reason) = self.end.as_mut().poll(context)
        {
            self.ended = Some(reason);
        }
        self.ended.map_or(Ok(()), |reason| Err(io::Error::new(io::ErrorKind::TimedOut, reason)))
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
