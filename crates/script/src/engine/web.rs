//! URLs, for the script's `URL` and `URLSearchParams`: parsing and changing by the URL standard.

use serde_json::json;
use url::{Url, form_urlencoded};

/// Parses a URL, against a base if there is one; gives its parts as JSON, or nothing for an invalid one.
pub(super) fn parse(text: &str, base: Option<&str>) -> Option<String> {
    let url = match base {
        None => Url::parse(text),
        Some(base) => Url::parse(base).and_then(|base| base.join(text)),
    };
    url.ok().map(|url| parts(&url))
}

/// Changes one part of a URL; nothing if the value does not fit, which leaves the URL as it was.
pub(super) fn set(href: &str, part: &str, value: &str) -> Option<String> {
    let mut url = Url::parse(href).ok()?;
    match part {
        "protocol" => url::quirks::set_protocol(&mut url, value).ok()?,
        "username" => url::quirks::set_username(&mut url, value).ok()?,
        "password" => url::quirks::set_password(&mut url, value).ok()?,
        "host" => url::quirks::set_host(&mut url, value).ok()?,
        "hostname" => url::quirks::set_hostname(&mut url, value).ok()?,
        "port" => url::quirks::set_port(&mut url, value).ok()?,
        "pathname" => url::quirks::set_pathname(&mut url, value),
        "search" => url::quirks::set_search(&mut url, value),
        "hash" => url::quirks::set_hash(&mut url, value),
        _ => return None,
    }
    Some(parts(&url))
}

fn parts(url: &Url) -> String {
    use url::quirks;
    json!({
        "href": quirks::href(url),
        "origin": quirks::origin(url),
        "protocol": quirks::protocol(url),
        "username": quirks::username(url),
        "password": quirks::password(url),
        "host": quirks::host(url),
        "hostname": quirks::hostname(url),
        "port": quirks::port(url),
        "pathname": quirks::pathname(url),
        "search": quirks::search(url),
        "hash": quirks::hash(url),
    })
    .to_string()
}

/// Parses a query (without `?`) into a JSON list of pairs.
pub(super) fn query_parse(text: &str) -> String {
    let pairs: Vec<(String, String)> = form_urlencoded::parse(text.as_bytes()).into_owned().collect();
    json!(pairs).to_string()
}

/// Writes a JSON list of pairs as a query.
pub(super) fn query_write(pairs: &str) -> String {
    let pairs: Vec<(String, String)> = serde_json::from_str(pairs).unwrap_or_default();
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_apart_and_change() {
        let parts = parse("/x?q=1#h", Some("https://Library.Example.org:8443/a/b")).expect("a URL");
        assert!(parts.contains("\"href\":\"https://library.example.org:8443/x?q=1#h\""), "{parts}");
        assert_eq!(parse("nope", None), None);
        assert!(set("https://a.example/", "port", "81").expect("a URL").contains("a.example:81"));
        assert_eq!(set("https://a.example/", "host", ""), None);
        assert_eq!(query_write(&query_parse("a=1&b=%C3%A9+x")), "a=1&b=%C3%A9+x");
        assert_eq!(query_write("not JSON"), "");
    }
}
