//! A first word with a server, to tell a person at login what would fail later.

use std::time::Duration;

use secrets::{Secret, ServerUrl};
use serde_json::Value;
use ureq::tls::{RootCerts, TlsConfig};

/// How long the server may take in all.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is read of its answer: 4 MiB.
const ANSWER: u64 = 4 * 1024 * 1024;

/// Asks the server for its models. Returns how many it has, or a sentence: what is wrong.
///
/// The key goes to this server only: a redirect is told of and not followed.
pub(crate) fn models(server: &ServerUrl, key: &Secret) -> Result<usize, String> {
    let base = server.as_str().strip_suffix("/v1").unwrap_or(server.as_str());
    let address = format!("{base}/v1/models");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("workflow-code/", env!("CARGO_PKG_VERSION")))
        // The system's own roots: people have servers behind authorities of their own.
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .build()
        .into();
    let mut answer = agent
        .get(&address)
        .header("authorization", format!("Bearer {}", key.expose()))
        .call()
        .map_err(|error| format!("`{address}` does not answer: {error}"))?;
    match answer.status().as_u16() {
        200..=299 => {}
        300..=399 => {
            return Err(format!("`{address}` sends elsewhere, where the key does not go; log in to that address"));
        }
        401 | 403 => return Err(format!("`{address}` refuses the key")),
        404 => return Err(format!("there is no `{address}`; is the address the server's base?")),
        status => return Err(format!("`{address}` answers with status {status}")),
    }
    let text = answer
        .body_mut()
        .with_config()
        .limit(ANSWER)
        .read_to_vec()
        .map_err(|error| format!("the answer of `{address}` cannot be read: {error}"))?;
    let value: Value = if model::within_depth(&text, model::Limits::JSON_DEPTH) {
        serde_json::from_slice(&text).unwrap_or_default()
    } else {
        Value::Null
    };
    match value.get("data").and_then(Value::as_array) {
        Some(models) => Ok(models.len()),
        None => Err(format!("`{address}` answers, but not with a list of models")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Answers one request, and returns what was asked.
    fn answering(answer: &str) -> (ServerUrl, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = ServerUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let answer = answer.to_owned();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            let mut piece = [0; 1024];
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                let read = stream.read(&mut piece).unwrap();
                assert!(read > 0);
                asked.extend_from_slice(&piece[..read]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(asked).unwrap()
        });
        (url, thread)
    }

    fn body(status: &str, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }

    #[test]
    fn a_good_server_gets_the_key_and_is_counted() {
        let (url, thread) = answering(&body("200 OK", r#"{"data": [{"id": "one"}, {"id": "two"}]}"#));
        let url = ServerUrl::parse(&format!("{url}/v1")).unwrap();
        assert_eq!(models(&url, &Secret::from("key-1")), Ok(2));
        let asked = thread.join().unwrap().to_lowercase();
        assert!(asked.starts_with("get /v1/models http/1.1\r\n"), "{asked}");
        assert!(asked.contains("authorization: bearer key-1\r\n"), "{asked}");
    }

    #[test]
    fn every_other_answer_is_told_without_the_key() {
        let deep = "[".repeat(2_000);
        for (answer, said) in [
            (body("401 Unauthorized", "hunter2"), "refuses the key"),
            (body("404 Not Found", ""), "is the address the server's base"),
            (body("500 Oh", ""), "status 500"),
            (body("200 OK", "<html>"), "not with a list"),
            (body("200 OK", &deep), "not with a list"),
            ("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n".into(), "elsewhere"),
            ("nonsense\r\n\r\n".into(), "does not answer"),
        ] {
            let (url, thread) = answering(&answer);
            let why = models(&url, &Secret::from("hunter2")).unwrap_err();
            assert!(why.contains(said) && !why.contains("hunter2"), "{why}");
            thread.join().unwrap();
        }
    }
}
