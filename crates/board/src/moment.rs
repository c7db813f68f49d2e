//! Days and moments as records write them. All UTC.

use jiff::civil::Date;
use model::{TimestampMs, format_timestamp};

/// `YYYY-MM-DD`.
pub(crate) fn day(at: TimestampMs) -> String {
    format_timestamp(at).chars().take(10).collect()
}

/// `YYYY-MM-DD HH:MMZ`, as trail lines begin.
pub(crate) fn stamp(at: TimestampMs) -> String {
    let text = format_timestamp(at);
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time}Z"),
        _ => text,
    }
}

/// Tells whether a text is a real day in the form `YYYY-MM-DD`.
pub(crate) fn is_day(text: &str) -> bool {
    text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-' && text.parse::<Date>().is_ok()
}

/// Reads a moment: RFC 3339, or a day, which is its beginning.
pub(crate) fn parse(text: &str) -> Option<TimestampMs> {
    if is_day(text) {
        return parse(&format!("{text}T00:00:00Z"));
    }
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// Reads a filter's day: a day, or an RFC 3339 moment read as its day.
pub(crate) fn filter_day(text: &str) -> Option<String> {
    let day = text.get(..10)?;
    (is_day(day) && (text.len() == 10 || parse(text).is_some())).then(|| day.to_owned())
}

/// Days from one day to another; negative when `to` is earlier.
pub(crate) fn days_between(from: &str, to: &str) -> Option<i64> {
    Some((parse(to)? - parse(from)?) / 86_400_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_and_read() {
        let at = parse("2026-11-30T00:53:20.007Z").expect("RFC 3339");
        assert_eq!((day(at).as_str(), stamp(at).as_str()), ("2026-11-30", "2026-11-30 00:53Z"));
        assert_eq!(parse("2026-01-02"), parse("2026-01-02T00:00:00Z"));
        for wrong in ["noon", "2026-13-40", "2026-1-8", "", "2026-02-30", "last week"] {
            assert_eq!(parse(wrong), None, "{wrong}");
            assert!(!is_day(wrong), "{wrong}");
        }
        assert_eq!(filter_day("2026-01-08T23:59:59Z").as_deref(), Some("2026-01-08"));
        assert_eq!(filter_day("2026-01-08x"), None);
        assert_eq!(days_between("2026-01-01", "2026-01-31"), Some(30));
    }
}
