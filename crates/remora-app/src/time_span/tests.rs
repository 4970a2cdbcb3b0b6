//! Times as people write them, read on one afternoon in Berlin.

use super::*;

/// A Monday afternoon in Berlin, one hour ahead of UTC.
fn asked() -> Zoned {
    "2026-11-16T15:30:00+01:00[Europe/Berlin]".parse().unwrap()
}

/// Both ends as local text.
fn told(text: &str) -> String {
    let now = asked();
    match parse_time_span(text, &now) {
        None => "-".to_owned(),
        Some((from, to)) => {
            let local = |millis| {
                let moment = Timestamp::from_millisecond(millis).unwrap();
                let zoned = moment.to_zoned(now.time_zone().clone());
                zoned.strftime("%a %Y-%m-%d %H:%M").to_string()
            };
            if from == to {
                local(from)
            } else {
                format!("{} to {}", local(from), local(to))
            }
        }
    }
}

#[test]
fn what_people_write() {
    for (text, means) in [
        ("2026-11-15", "Sun 2026-11-15 00:00 to Mon 2026-11-16 00:00"),
        ("2026-11-15T08:30:00Z", "Sun 2026-11-15 09:30"),
        ("2026-11-15T08:30:00+01:00", "Sun 2026-11-15 08:30"),
        ("2026-11-15 08:30", "Sun 2026-11-15 08:30"),
        ("08:30", "Mon 2026-11-16 08:30"),
        ("now", "Mon 2026-11-16 15:30"),
        ("Today", "Mon 2026-11-16 00:00 to Tue 2026-11-17 00:00"),
        (
            " yesterday ",
            "Sun 2026-11-15 00:00 to Mon 2026-11-16 00:00",
        ),
        ("friday", "Fri 2026-11-13 00:00 to Sat 2026-11-14 00:00"),
        (
            "last monday",
            "Mon 2026-11-09 00:00 to Tue 2026-11-10 00:00",
        ),
        ("last week", "Mon 2026-11-09 00:00 to Mon 2026-11-16 00:00"),
        ("this week", "Mon 2026-11-16 00:00 to Mon 2026-11-23 00:00"),
        ("last month", "Thu 2026-10-01 00:00 to Sun 2026-11-01 00:00"),
        ("last year", "Wed 2025-01-01 00:00 to Thu 2026-01-01 00:00"),
        ("3d", "Fri 2026-11-13 15:30"),
        ("2h", "Mon 2026-11-16 13:30"),
        ("90m", "Mon 2026-11-16 14:00"),
        ("1w", "Mon 2026-11-09 15:30"),
        ("2 days ago", "Sat 2026-11-14 15:30"),
        ("an hour ago", "Mon 2026-11-16 14:30"),
        ("6mo", "Sat 2026-05-16 15:30"),
    ] {
        assert_eq!(told(text), means, "{text}");
    }
}

#[test]
fn a_day_back_is_a_day_whatever_the_clocks_did() {
    let after_the_change: Zoned = "2026-10-26T12:00:00+01:00[Europe/Berlin]".parse().unwrap();
    let (from, to) = parse_time_span("yesterday", &after_the_change).unwrap();
    assert_eq!((to - from) / 3_600_000, 25);
}

#[test]
fn everything_else_is_no_time() {
    for text in [
        "",
        "soon",
        "3",
        "d",
        "3x",
        "-3d",
        "2026-13-01",
        "2026-11-15 25:00",
        "99999999999999999999d",
        "100000y",
        "last",
        "last blue moon",
        "过去",
    ] {
        assert_eq!(told(text), "-", "{text}");
    }
}
