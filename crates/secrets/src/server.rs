//! The address of a server, and its origin.

use std::fmt;

/// An address that is no server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no server address: {reason}")]
pub struct ServerUrlError {
    /// What is wrong. The address itself is left out, since people put keys into addresses.
    pub reason: &'static str,
}

/// The base address of a server: `http` or `https`, a host, perhaps a port and a path; no user, query or fragment.
///
/// Deliberately narrower than the URL standard: whatever two parsers could read in two ways is refused, since the key goes
/// where this says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerUrl {
    text: String,
    origin: String,
    host: String,
}

impl ServerUrl {
    /// Reads an address. Spaces around it and slashes at its end are dropped; scheme and host are lower-cased.
    ///
    /// # Errors
    /// [`ServerUrlError`] for anything else than the form above.
    pub fn parse(text: &str) -> Result<Self, ServerUrlError> {
        let refuse = |reason| Err(ServerUrlError { reason });
        let text = text.trim();
        if text.len() > 2_048 {
            return refuse("it is longer than 2,048 bytes");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains('\\') {
            return refuse("it has spaces, control characters, backslashes or letters beyond ASCII");
        }
        let Some((scheme, rest)) = text.split_once("://") else { return refuse("it does not begin with `https://`") };
        let scheme = scheme.to_ascii_lowercase();
        let standard_port = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return refuse("its scheme is neither `https` nor `http`"),
        };
        if rest.contains(['?', '#']) {
            return refuse("it has a query or fragment");
        }
        let (authority, path) = rest.find('/').map_or((rest, ""), |index| rest.split_at(index));
        if authority.contains('@') {
            return refuse("it names a user; keys belong into the keyring");
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(inner) => match inner.split_once(']') {
                Some((address, tail)) if address.parse::<std::net::Ipv6Addr>().is_ok() => {
                    (format!("[{address}]"), tail)
                }
                _ => return refuse("its host is no IPv6 address"),
            },
            None => {
                let (host, port) = authority.find(':').map_or((authority, ""), |index| authority.split_at(index));
                let plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
                if host.is_empty() || !plain || host.starts_with(['.', '-']) {
                    return refuse("its host is no name or address");
                }
                (host.to_owned(), port)
            }
        };
        let host = host.to_ascii_lowercase();
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => match digits.parse::<u16>() {
                Ok(port) if port > 0 => Some(port),
                _ => return refuse("its port is no number from 1 to 65535"),
            },
            _ => return refuse("its port is no number from 1 to 65535"),
        };
        if path.split('/').any(|part| matches!(part, "." | "..")) {
            return refuse("its path has `.` or `..`");
        }
        let origin = match port.filter(|port| *port != standard_port) {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        Ok(Self { text: format!("{origin}{}", path.trim_end_matches('/')), origin, host })
    }

    /// Returns the address without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the origin: scheme, host and, if it is not the scheme's own, the port.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns whether a key would cross the network unencrypted: `http` to another machine.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        let local = self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self
                .host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        self.origin.starts_with("http://") && !local
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_become_one_form() {
        for (text, expected, origin) in [
            (" HTTPS://Api.Example.com:443/ ", "https://api.example.com", "https://api.example.com"),
            ("http://localhost:8080/base/", "http://localhost:8080/base", "http://localhost:8080"),
            ("http://[::1]:80/v1", "http://[::1]/v1", "http://[::1]"),
            ("https://h/A%20b", "https://h/A%20b", "https://h"),
        ] {
            let url = ServerUrl::parse(text).unwrap();
            assert_eq!((url.as_str(), url.origin()), (expected, origin));
        }
    }

    #[test]
    fn ambiguous_addresses_are_refused() {
        for text in [
            "",
            "example.com",
            "ftp://x",
            "file:///etc/passwd",
            "https://",
            "https:///x",
            "https://user:key@host",
            "https://good.com@evil.com",
            "https://good.com\\@evil.com",
            "https://a b",
            "https://h?key=1",
            "https://h#x",
            "https://h:0",
            "https://h:99999",
            "https://h:8x",
            "https://h:",
            "https://ä.example",
            "https://h/../x",
            "https://[::1",
            "https://[x]",
            "https://[::1]evil.com",
            "https://h\n",
            "javascript://x",
            "https://-h",
            "https://h\u{0}",
        ] {
            if text == "https://h\n" {
                // Blanks around are dropped.
                assert!(ServerUrl::parse(text).is_ok());
                continue;
            }
            assert!(ServerUrl::parse(text).is_err(), "{text}");
        }
        assert!(ServerUrl::parse(&format!("https://h/{}", "x".repeat(3_000))).is_err());
        // The message never repeats what may be a key.
        let error = ServerUrl::parse("https://user:hunter2@host").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }

    #[test]
    fn a_key_in_the_open_is_noticed() {
        let exposed = |text: &str| ServerUrl::parse(text).unwrap().is_exposed();
        assert!(exposed("http://example.com") && exposed("http://10.0.0.7:1") && exposed("http://localhost.evil.com"));
        assert!(!exposed("https://example.com") && !exposed("http://localhost:1") && !exposed("http://127.0.0.9"));
        assert!(!exposed("http://[::1]"));
    }

    proptest! {
        #[test]
        fn parsing_is_stable(text in any::<String>(), host in "[a-zA-Z0-9.:\\[\\]@/-]{0,30}") {
            for text in [text, format!("https://{host}")] {
                if let Ok(url) = ServerUrl::parse(&text) {
                    prop_assert_eq!(ServerUrl::parse(url.as_str()).unwrap(), url.clone());
                    prop_assert!(url.as_str().starts_with(url.origin()));
                }
            }
        }
    }
}
