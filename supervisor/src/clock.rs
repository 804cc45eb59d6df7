//! Wall-clock time as nanoseconds since the epoch, and as RFC 3339 text in UTC.

use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// Nanoseconds since the epoch.
pub type Nanos = i64;

const SECOND: i64 = 1_000_000_000;

/// Now.
pub fn now() -> Nanos {
    // Before 1970 and after 2262 there is no time to tell.
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// When a UUIDv7 was made: the end of its millisecond.
pub fn made(id: Uuid) -> Nanos {
    id.get_timestamp().map_or_else(now, |time| {
        let (seconds, nanos) = time.to_unix();
        i64::try_from(seconds).unwrap_or(0).saturating_mul(SECOND).saturating_add(i64::from(nanos)).saturating_add(999_999)
    })
}

/// As `2026-01-31T12:00:00.123Z`.
pub fn rfc3339(time: Nanos) -> String {
    let seconds = time.div_euclid(SECOND);
    let milli = time.rem_euclid(SECOND) / 1_000_000;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to a civil date: eras of 400 years that begin on the first of March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400 * SECOND), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_735_689_599 * SECOND + 999_999_999), "2024-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(4_107_542_400 * SECOND), "2100-03-01T00:00:00.000Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
    }
}
