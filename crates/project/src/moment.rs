//! Days, moments and times of day as texts: RFC 3339, section 5.6, with two differences that the product states: a
//! moment's offset may be left out, and a time of day's seconds too. Leap seconds are not taken: no script can hold one.

/// Tells whether a text is a day that exists, `YYYY-MM-DD`.
#[must_use]
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (digits(&bytes[..4]), digits(&bytes[5..7]), digits(&bytes[8..])) else {
        return false;
    };
    let (Ok(year), Ok(month), Ok(day)) = (i16::try_from(year), i8::try_from(month), i8::try_from(day)) else {
        return false;
    };
    jiff::civil::Date::new(year, month, day).is_ok()
}

/// Tells whether a text is a time of day, `HH:MM` or `HH:MM:SS`.
#[must_use]
pub fn is_time(text: &str) -> bool {
    match text.as_bytes() {
        [hours @ .., b':', a, b] if hours.len() == 2 => hour_minute(hours, &[*a, *b]),
        [hours_minutes @ .., b':', a, b] if hours_minutes.len() == 5 && hours_minutes[2] == b':' => {
            hour_minute(&hours_minutes[..2], &hours_minutes[3..]) && digits(&[*a, *b]).is_some_and(|second| second < 60)
        }
        _ => false,
    }
}

/// Tells whether a text is a moment, `YYYY-MM-DDTHH:MM:SS[.fraction][Z or +HH:MM]`.
#[must_use]
pub fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    let Some(rest) = rest.strip_prefix(['T', 't']) else { return false };
    let Some((time, rest)) = rest.split_at_checked(8) else { return false };
    if !is_date(date) || !is_time(time) {
        return false;
    }
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            if !(1..=9).contains(&digits) {
                return false;
            }
            &fraction[digits..]
        }
        None => rest,
    };
    match offset.as_bytes() {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', hours @ .., b':', a, b] if hours.len() == 2 => hour_minute(hours, &[*a, *b]),
        _ => false,
    }
}

fn hour_minute(hours: &[u8], minutes: &[u8]) -> bool {
    digits(hours).is_some_and(|hour| hour < 24) && digits(minutes).is_some_and(|minute| minute < 60)
}

fn digits(bytes: &[u8]) -> Option<u16> {
    bytes.iter().try_fold(0_u16, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u16::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("2026-02-28", true)]
    #[case("2024-02-29", true)]
    #[case("2026-02-30", false)]
    #[case("2026-02-29", false)]
    #[case("2026-13-01", false)]
    #[case("2026-1-01", false)]
    #[case("20260101", false)]
    #[case("2026-01-01T00:00:00", false)]
    #[case("２０２６-01-01", false)]
    #[case(" 2026-01-01", false)]
    #[case("+026-01-01", false)]
    fn dates(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(is_date(text), fits, "{text}");
    }

    #[rstest]
    #[case("09:30", true)]
    #[case("23:59:59", true)]
    #[case("24:00", false)]
    #[case("9:30", false)]
    #[case("09:60", false)]
    #[case("09:30:60", false)]
    #[case("09:30Z", false)]
    #[case("09-30", false)]
    #[case("09:30:1", false)]
    fn times(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(is_time(text), fits, "{text}");
    }

    #[rstest]
    #[case("2026-01-01T10:00:00", true)]
    #[case("2026-01-01T10:00:00Z", true)]
    #[case("2026-01-01t10:00:00.123456z", true)]
    #[case("2026-01-01T10:00:00+05:30", true)]
    #[case("2026-01-01T10:00:00-23:59", true)]
    #[case("2026-01-01T10:00:00+24:00", false)]
    #[case("2026-01-01T10:00:00.", false)]
    #[case("2026-01-01T10:00", false)]
    #[case("2026-01-01 10:00:00", false)]
    #[case("2026-02-30T10:00:00", false)]
    #[case("2026-01-01T25:00:00", false)]
    #[case("2026-01-01", false)]
    #[case("2026-01-01T10:00:00 Z", false)]
    fn date_times(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(is_date_time(text), fits, "{text}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = (is_date(&text), is_time(&text), is_date_time(&text));
        }

        #[test]
        fn what_the_calendar_prints_is_a_date(days in 0_i32..3_000_000) {
            let start = jiff::civil::date(0, 1, 1);
            let date = start.checked_add(jiff::Span::new().days(days)).unwrap();
            prop_assert!(is_date(&date.to_string()));
        }
    }
}
