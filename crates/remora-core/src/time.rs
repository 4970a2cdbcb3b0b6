//! Points in time as text, without a clock or a time zone: everything stored and
//! logged is in UTC.

const DAY_MS: i64 = 86_400_000;

/// `2026-11-15T08:30:00.250Z` for milliseconds since 1970.
pub fn format_rfc3339(millis: i64) -> String {
    let (year, month, day) = civil_from_days(millis.div_euclid(DAY_MS));
    let rest = millis.rem_euclid(DAY_MS);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, milli) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// `2026-11-15` for milliseconds since 1970.
pub fn format_date(millis: i64) -> String {
    let (year, month, day) = civil_from_days(millis.div_euclid(DAY_MS));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Days since 1970 as year, month and day. Years are counted from March, so
/// that the leap day is the last one of a year, and in groups of 400.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let group = shifted.div_euclid(146_097);
    let day = shifted.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let january_first = if month < 10 { month + 3 } else { month - 9 };
    let year = year + group * 400 + i64::from(january_first <= 2);
    (year, january_first, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(format_rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(format_rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(
            format_rfc3339(1_794_731_400_250),
            "2026-11-15T08:30:00.250Z"
        );
        assert_eq!(format_rfc3339(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(format_date(4_107_542_399_999), "2100-02-28");
    }
}
