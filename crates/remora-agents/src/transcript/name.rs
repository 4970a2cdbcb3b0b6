//! Ids and times of the events in a transcript: the same line has the same
//! name however often it is read, and a copy in another file does, too.

const DAY_MS: i64 = 86_400_000;

/// A name that is always the same for the same parts, in the form of a UUID of
/// one's own making (version 8), which stores keep in few bytes.
pub(crate) fn stable_uuid(parts: &[&str]) -> String {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for part in parts {
        // Lengths keep `ab` + `c` apart from `a` + `bc`.
        let length = (part.len() as u64).to_le_bytes();
        for byte in length.iter().chain(part.as_bytes()) {
            hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
    hash = hash & !(0xf << 76) | 0x8 << 76;
    hash = hash & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{hash:032x}");
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

/// Milliseconds since 1970 of `2026-11-16T10:09:09.849Z`.
pub(crate) fn parse_timestamp(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    let (clock, part) = time.split_once('.').unwrap_or((time, ""));
    let mut hands = clock.split(':').map(str::parse::<i64>);
    let (hour, minute, second) = (
        hands.next()?.ok()?,
        hands.next()?.ok()?,
        hands.next()?.ok()?,
    );
    let sane = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second)
        && part.bytes().all(|b| b.is_ascii_digit());
    if !sane {
        return None;
    }
    let millis = part
        .bytes()
        .chain(*b"000")
        .take(3)
        .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let seconds = hour * 3600 + minute * 60 + second;
    Some(days_since_epoch(year, month, day) * DAY_MS + seconds * 1000 + millis)
}

/// Days since 1970. Years are counted from March, so that the leap day is the
/// last one of a year.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let group = year.div_euclid(400);
    let of_group = year.rem_euclid(400);
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    group * 146_097 + of_group * 365 + of_group / 4 - of_group / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use remora_core::time::format_rfc3339;

    use super::*;

    #[test]
    fn moments_are_read_as_they_are_written() {
        for millis in [0, 951_782_400_000, 1_794_731_400_250, 4_107_542_399_999] {
            assert_eq!(parse_timestamp(&format_rfc3339(millis)), Some(millis));
        }
        assert_eq!(
            parse_timestamp("2026-11-15T08:30:00Z"),
            Some(1_794_731_400_000)
        );
        assert_eq!(
            parse_timestamp("2026-11-15T08:30:00.25Z"),
            Some(1_794_731_400_250)
        );
        for bad in [
            "",
            "soon",
            "2026-11-15",
            "2026-13-15T08:30:00Z",
            "2026-11-15T08:30:00.é0Z",
        ] {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_depend_on_every_part() {
        assert_eq!(stable_uuid(&["a", "bc"]), stable_uuid(&["a", "bc"]));
        assert_ne!(stable_uuid(&["a", "bc"]), stable_uuid(&["ab", "c"]));
        assert_eq!(&stable_uuid(&["a"])[14..15], "8");
    }
}
