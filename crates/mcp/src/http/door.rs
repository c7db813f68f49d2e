//! Who may come in: a client on this machine that knows the token, and no page that a browser shows.
//!
//! The loopback interface is no wall. A page from anywhere can have a browser send requests to it, and with a name that
//! resolves to 127.0.0.1 also read the answers; other users of the machine can reach it as well. So `Host` must be ours,
//! `Origin`, which browsers send, must be ours where it is there, and every request shows the token.

use std::fmt;

use http::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, StatusCode};

use super::{Answer, plain};

/// The least and the most characters of a token.
const TOKEN: std::ops::RangeInclusive<usize> = 16..=512;

/// What clients show with each request. It is never printed.
#[derive(Clone)]
pub struct Token(String);

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has {} to {} visible ASCII characters", TOKEN.start(), TOKEN.end())]
pub struct BadToken;

impl Token {
    /// Takes a text as token.
    ///
    /// # Errors
    ///
    /// When it is short enough to be guessed, or could not stand in a header.
    pub fn new(text: &str) -> Result<Self, BadToken> {
        let usable = TOKEN.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if usable { Ok(Self(text.to_owned())) } else { Err(BadToken) }
    }

    /// Compares in a time that says nothing of where the texts differ.
    fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differences = own.iter().zip(given).fold(0, |all, (one, other)| all | (one ^ other));
        own.len() == given.len() && std::hint::black_box(differences) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// Looks at each request before anything else does.
#[derive(Debug)]
pub(super) struct Door {
    token: Token,
    /// `HOST:PORT` by which we can be called.
    addresses: [String; 3],
}

impl Door {
    pub(super) fn new(port: u16, token: Token) -> Self {
        Self { token, addresses: ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")) }
    }

    /// Looks at whom the request is for, and which page it is from, if it is from one.
    pub(super) fn check_address<B>(&self, request: &Request<B>) -> Result<(), Answer> {
        let refuse = |text: &str| Err(plain(StatusCode::FORBIDDEN, text));
        let headers = request.headers();
        // A target in full form takes precedence over `Host` (RFC 9112, section 3.2.2); clients of ours do not send it.
        let host = match request.uri().authority() {
            Some(authority) => Some(authority.as_str()),
            None => only(headers, &HOST),
        };
        if !host.is_some_and(|host| self.is_ours(host)) {
            return refuse("`Host` is not an address of this server");
        }
        if headers.contains_key(ORIGIN) {
            let ours = only(headers, &ORIGIN)
                .and_then(|origin| origin.strip_prefix("http://"))
                .is_some_and(|origin| self.is_ours(origin));
            if !ours {
                return refuse("pages of other origins are not served");
            }
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        self.addresses.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Looks at the token.
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), Answer> {
        let shown = only(headers, &AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        if shown.is_some_and(|token| self.token.is(token.as_bytes())) {
            return Ok(());
        }
        let mut answer =
            plain(StatusCode::UNAUTHORIZED, "the header `Authorization: Bearer TOKEN` is missing or wrong");
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Err(answer)
    }
}

/// The text of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn door() -> Door {
        Door::new(8000, Token::new(SECRET).expect("a token"))
    }

    fn status(outcome: Result<(), Answer>) -> u16 {
        outcome.map_or_else(|answer| answer.status().as_u16(), |()| 200)
    }

    fn asked(headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request")
    }

    #[test]
    fn only_our_own_addresses_are_served() {
        let check = |headers: &[(&str, &str)]| status(door().check_address(&asked(headers)));
        for host in ["127.0.0.1:8000", "localhost:8000", "LocalHost:8000", "[::1]:8000"] {
            assert_eq!(check(&[("host", host)]), 200, "{host}");
            assert_eq!(check(&[("host", host), ("origin", &format!("http://{host}"))]), 200, "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:8001",
            "localhost.evil.example:8000",
            "evil.example:8000",
            "0.0.0.0:8000",
            "127.1:8000",
        ] {
            assert_eq!(check(&[("host", host)]), 403, "{host}");
        }
        assert_eq!(check(&[]), 403);
        assert_eq!(check(&[("host", "localhost:8000"), ("host", "evil.example")]), 403);
        for origin in [
            "null",
            "http://evil.example",
            "https://localhost:8000",
            "http://localhost",
            "http://localhost:8000.evil.example",
        ] {
            assert_eq!(check(&[("host", "localhost:8000"), ("origin", origin)]), 403, "{origin}");
        }
        let full =
            Request::builder().uri("http://evil.example/mcp").header("host", "localhost:8000").body(()).expect("one");
        assert_eq!(status(door().check_address(&full)), 403);
    }

    #[test]
    fn the_token_is_asked_for_in_one_way() {
        let check = |headers: &[(&str, &str)]| status(door().check_token(asked(headers).headers()));
        let good = format!("Bearer {SECRET}");
        assert_eq!(check(&[("authorization", &good)]), 200);
        assert_eq!(check(&[("authorization", &good.to_lowercase())]), 200);
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Basic 0123456789abcdef",
            SECRET,
            "Bearer 0123456789abcdeg",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
        ] {
            assert_eq!(check(&[("authorization", wrong)]), 401, "{wrong}");
        }
        assert_eq!(check(&[]), 401);
        assert_eq!(check(&[("authorization", &good), ("authorization", &good)]), 401);
        let refused = door().check_token(&HeaderMap::new()).expect_err("refused");
        assert!(refused.headers().contains_key(WWW_AUTHENTICATE));
    }

    #[test]
    fn a_token_can_stand_in_a_header_and_is_not_printed() {
        for text in
            ["", "short", "with blank 0123456789", "line\nbreak-0123456789", "ünïcode-0123456789", &"x".repeat(513)]
        {
            assert!(Token::new(text).is_err(), "{text:?}");
        }
        assert!(!format!("{:?}", door()).contains(SECRET));
    }
}
