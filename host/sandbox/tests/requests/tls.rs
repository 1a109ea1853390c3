//! By https: only to who proves its name, to an authority that is trusted.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use assay_core::outcome::ErrorCode;
use assay_sandbox::capability::http::Network;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned, crypto};

use super::{Granted, failed, get, names, told};
use crate::server::ok;

/// A server for one name, and the authority that says so, in PEM.
struct Secured {
    port: u16,
    authority: String,
}

impl Secured {
    fn named(name: &str) -> Self {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = || KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(authority, key()).expect("an authority");
        let of_server = key();
        let certificate = CertificateParams::new([name.to_owned()]).expect("a name");
        let certificate = certificate.signed_by(&of_server, &authority).expect("a certificate");
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(of_server.serialize_der()));
        let config =
            ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("the provider has suites for every version")
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], secret)
                .expect("the key is the certificate's");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(Arc::clone(&config)).expect("valid");
                answer(StreamOwned::new(connection, stream));
            }
        });
        Self { port, authority: authority.pem() }
    }

    fn url(&self, name: &str) -> String {
        format!("https://{name}:{}/", self.port)
    }

    /// A grant that reaches the server by this name and trusts `authorities` beside the public ones.
    fn granted(&self, name: &str, authorities: &str) -> Granted {
        let (network, _): (Network, _) = names(&[&["127.0.0.1"]]);
        let network = match authorities {
            "" => network,
            pem => network.trust(pem.as_bytes()).expect("certificates"),
        };
        let hosts = [format!("private:https://{name}:{}", self.port)];
        Granted { network, ..Granted::hosts(&hosts) }
    }
}

/// Answers one request; a client that breaks off gets no answer.
fn answer(mut stream: StreamOwned<ServerConnection, TcpStream>) {
    let mut request = Vec::new();
    let mut part = [0; 1_024];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(count) => request.extend_from_slice(&part[..count]),
        }
    }
    let _ = stream.write_all(&ok("secured"));
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

#[test]
fn an_authority_of_the_operators_own_is_trusted() {
    let server = Secured::named("judge.example");
    let granted = server.granted("judge.example", &server.authority);
    let told = told(&granted.run(&get(server.url("judge.example"))));
    assert_eq!((&told["status"], &told["body"]), (&json!(200), &json!("secured")));
}

#[test]
fn who_does_not_prove_its_name_gets_no_request() {
    let server = Secured::named("judge.example");
    let other = Secured::named("judge.example");
    for (name, trusted, says) in [
        ("judge.example", "", "UnknownIssuer"),
        // Another of the same name.
        ("judge.example", other.authority.as_str(), "BadSignature"),
        ("other.example", server.authority.as_str(), "NotValidForName"),
    ] {
        let run = server.granted(name, trusted).run(&get(server.url(name)));
        let said = failed(&run, ErrorCode::Unavailable);
        assert!(said.contains("certificate") && said.contains(says), "{name}: {said}");
    }
    assert!(Network::new().trust(b"-----BEGIN CERTIFICATE-----\n!\n").is_err());
    for none in
        ["", "judge.example\n", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
    {
        assert!(Network::new().trust(none.as_bytes()).is_err(), "{none}");
    }
}
