//! `flow.http`: requests to the hosts that a project names, and to the saved connection's own origin.
//!
//! The connection's key goes to its origin and nowhere else. A redirect is followed only to an address that would have
//! been allowed by itself, and carries along neither the key nor, to another origin, what the script set: its headers
//! were meant for the first.

use std::time::Duration;

use model::Limits;
use script::HostError;
use serde_json::{Map, Value, json};
use ureq::http::{HeaderMap, Method, Request, Uri};
use ureq::tls::{RootCerts, TlsConfig};

use crate::host_calls::HostContext;

/// How long one request may take in all, redirects included: five minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a request may carry and an answer bring: 16 MiB each.
const BODY_BYTES: usize = 16 * 1024 * 1024;

/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// Headers of a script that go with a redirect to another origin: they say what is sent and wanted, not who asks.
const HARMLESS: [&str; 2] = ["accept", "content-type"];

/// Headers that are ours to set.
const OURS: [&str; 4] = ["host", "content-length", "connection", "transfer-encoding"];

fn error(code: &str, message: impl Into<String>) -> HostError {
    HostError { code: code.into(), message: message.into(), data: None, fatal: false }
}

/// Tells whether a request only asks: such a one may be made again after a crash.
pub(crate) fn only_asks(args: &Value) -> bool {
    matches!(method(args).as_deref(), Ok("GET" | "HEAD"))
}

fn method(args: &Value) -> Result<String, HostError> {
    match args.get("method") {
        None | Some(Value::Null) => Ok("GET".into()),
        Some(Value::String(method)) => Ok(method.to_ascii_uppercase()),
        Some(_) => Err(error("invalid_argument", "`method` must be a text")),
    }
}

/// Makes a request.
pub(crate) fn perform(context: &HostContext, args: &Value) -> Result<Value, HostError> {
    let url = args.get("url").and_then(Value::as_str).unwrap_or_default();
    let mut target = Target::parse(url)?;
    let mut method = method(args)?;
    let mut body = args.get("body").and_then(Value::as_str).unwrap_or_default().to_owned();
    if body.len() > BODY_BYTES {
        return Err(error("invalid_argument", format!("`body` may have {BODY_BYTES} bytes at most")));
    }
    let mut headers = headers(args)?;
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("workflow-code/", env!("CARGO_PKG_VERSION")))
        // The system's own roots: people have servers behind authorities of their own.
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .build()
        .into();
    for _ in 0..=REDIRECTS {
        let key = allow(context, &target)?;
        let verb: Method =
            method.parse().map_err(|_| error("invalid_argument", format!("`{method}` is no request method")))?;
        let mut request = Request::builder().method(verb).uri(target.uri.clone());
        for (name, value) in &headers {
            request = request.header(name.as_str(), value.as_str());
        }
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let request = request
            .body(body.clone())
            .map_err(|problem| error("invalid_argument", format!("the request cannot be made: {problem}")))?;
        let mut answer =
            agent.run(request).map_err(|problem| error("http", format!("`{}`: {problem}", target.origin())))?;
        let status = answer.status().as_u16();
        let next = answer.headers().get("location").and_then(|location| location.to_str().ok()).map(str::to_owned);
        if let (300..=399, Some(next)) = (status, next) {
            let joined = target.join(&next)?;
            if joined.origin() != target.origin() {
                headers.retain(|(name, _)| HARMLESS.contains(&name.to_ascii_lowercase().as_str()));
            }
            target = joined;
            if status != 307 && status != 308 && method != "HEAD" {
                // RFC 9110, 15.4: others turn into a plain question.
                method = "GET".into();
                body.clear();
            }
            continue;
        }
        let shown = shown_headers(answer.headers());
        let bytes = answer.body_mut().with_config().limit(BODY_BYTES as u64).read_to_vec().map_err(|problem| {
            error("http", format!("the answer of `{}` cannot be read: {problem}", target.origin()))
        })?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut value = json!({ "status": status, "headers": shown, "text": text });
        if model::within_depth(text.as_bytes(), Limits::JSON_DEPTH)
            && let Ok(parsed) = serde_json::from_str::<Value>(&text)
        {
            value["json"] = parsed;
        }
        return Ok(value);
    }
    Err(error("http", format!("`{url}` redirects over {REDIRECTS} times")))
}

/// An answer's headers by name. Those that came several times are one text, joined as RFC 9110, 5.3 has it; cookies, whose
/// values hold commas themselves, by line breaks, which no header holds.
fn shown_headers(headers: &HeaderMap) -> Map<String, Value> {
    let mut shown = Map::new();
    for name in headers.keys() {
        let values: Vec<_> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        let between = if name == "set-cookie" { "\n" } else { ", " };
        shown.insert(name.as_str().to_owned(), values.join(between).into());
    }
    shown
}

fn headers(args: &Value) -> Result<Vec<(String, String)>, HostError> {
    let Some(given) = args.get("headers").filter(|headers| !headers.is_null()) else { return Ok(Vec::new()) };
    let given = given.as_object().ok_or_else(|| error("invalid_argument", "`headers` must be an object"))?;
    let mut headers = Vec::with_capacity(given.len());
    for (name, value) in given {
        let value =
            value.as_str().ok_or_else(|| error("invalid_argument", format!("header `{name}` must be a text")))?;
        if OURS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(error("invalid_argument", format!("header `{name}` is not a script's to set")));
        }
        headers.push((name.clone(), value.to_owned()));
    }
    Ok(headers)
}

/// Says whether a request may go there; returns the key that goes with it.
fn allow(context: &HostContext, target: &Target) -> Result<Option<String>, HostError> {
    let named = context.http_hosts.iter().any(|host| *host == target.host || *host == target.host_and_port());
    // The keyring is asked only for a request that takes the key along.
    if context.is_connection(&target.origin()) {
        return match context.connection() {
            Ok(connection) => Ok(connection.and_then(|connection| connection.key.clone())),
            // A connection that cannot be had does not keep a project from the hosts it names.
            Err(_) if named => Ok(None),
            Err(why) => Err(error("connection", why)),
        };
    }
    if named {
        return Ok(None);
    }
    Err(error(
        "http_host",
        format!("`{}` is not a host of this project: name it in `workflow.httpHosts` of package.json", target.host),
    ))
}

/// An address as it is requested.
#[derive(Debug, Clone)]
struct Target {
    uri: Uri,
    scheme: String,
    host: String,
    port: u16,
}

impl Target {
    fn parse(text: &str) -> Result<Self, HostError> {
        let bad = |why: &str| error("invalid_argument", format!("`url` {why}"));
        let uri: Uri = text.parse().map_err(|_| bad("is no URL"))?;
        let scheme = uri.scheme_str().unwrap_or_default().to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return Err(bad("must begin with `https://` or `http://`")),
        };
        let authority = uri.authority().ok_or_else(|| bad("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("must not hold a name or password"));
        }
        let host = authority.host().to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(usual);
        Ok(Self { uri, scheme, host, port })
    }

    fn host_and_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Scheme, host and port, the usual port left out (RFC 6454, 6.2).
    fn origin(&self) -> String {
        match (self.scheme.as_str(), self.port) {
            ("https", 443) | ("http", 80) => format!("{}://{}", self.scheme, self.host),
            _ => format!("{}://{}:{}", self.scheme, self.host, self.port),
        }
    }

    /// The address that a redirect names.
    fn join(&self, location: &str) -> Result<Self, HostError> {
        if location.starts_with("//") {
            return Self::parse(&format!("{}:{location}", self.scheme));
        }
        if location.starts_with('/') {
            return Self::parse(&format!("{}://{}{location}", self.scheme, self.host_and_port()));
        }
        if location.contains("://") {
            return Self::parse(location);
        }
        let folder = self.uri.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        Self::parse(&format!("{}://{}{folder}/{location}", self.scheme, self.host_and_port()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_as_they_are_requested() {
        let target = Target::parse("HTTPS://Example.org/a/b?c=d").expect("an address");
        assert_eq!(
            (target.host.as_str(), target.port, target.origin().as_str()),
            ("example.org", 443, "https://example.org")
        );
        assert_eq!(Target::parse("http://h:8080/").expect("an address").origin(), "http://h:8080");
        for odd in ["", "ftp://h/", "file:///etc/passwd", "//h/", "http://user:word@h/", "https://"] {
            assert!(Target::parse(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn headers_that_came_several_times_are_all_there() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("x-a", "1"), ("set-cookie", "a=1; Expires=Tue, 1"), ("x-a", "2"), ("set-cookie", "b=2")]
        {
            headers.append(name, value.parse().expect("a value"));
        }
        let shown = shown_headers(&headers);
        assert_eq!((&shown["x-a"], &shown["set-cookie"]), (&json!("1, 2"), &json!("a=1; Expires=Tue, 1\nb=2")));
    }

    #[test]
    fn redirects_are_joined_before_they_are_judged() {
        let target = Target::parse("https://h/a/b").expect("an address");
        let joined = |location: &str| target.join(location).map(|next| next.uri.to_string()).unwrap_or_default();
        assert_eq!(joined("c"), "https://h:443/a/c");
        assert_eq!(joined("/c"), "https://h:443/c");
        assert_eq!(joined("//other/c"), "https://other/c");
        assert_eq!(joined("http://other/c"), "http://other/c");
        assert_eq!(joined("file:///etc/passwd"), "");
    }
}
