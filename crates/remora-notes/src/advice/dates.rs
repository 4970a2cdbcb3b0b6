//! Words for days that mean another day tomorrow, and the day they mean now.

use remora_core::time;

const DAY_MS: i64 = 86_400_000;

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

const NUMBER_WORDS: [&str; 10] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// A relative date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RelativeDate {
    /// As written in the text.
    pub(super) words: String,
    /// The day it means, where that is plain.
    pub(super) absolute: Option<String>,
}

/// The relative dates of a text in small letters, each once.
pub(super) fn find_relative_dates(lower: &str, now: &str) -> Vec<RelativeDate> {
    let today = days_of(now);
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    let mut found: Vec<RelativeDate> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((length, shift)) = parse_relative_date(&words[at..], today) else {
            at += 1;
            continue;
        };
        let date = RelativeDate {
            words: words[at..at + length].join(" "),
            absolute: shift
                .zip(today)
                .map(|(shift, today)| time::format_date((today + shift).saturating_mul(DAY_MS))),
        };
        if !found.contains(&date) {
            found.push(date);
        }
        at += length;
    }
    found
}

/// How many words, and how many days from now if that can be said.
fn parse_relative_date(words: &[&str], today: Option<i64>) -> Option<(usize, Option<i64>)> {
    let next = |at: usize| words.get(at).copied().unwrap_or_default();
    match words[0] {
        "today" | "tonight" => Some((1, Some(0))),
        "yesterday" => Some((1, Some(-1))),
        "tomorrow" => Some((1, Some(1))),
        "recently" | "soon" => Some((1, None)),
        "last" | "next" | "this" if is_period(next(1)) => Some((2, None)),
        "last" => parse_weekday(next(1))
            .map(|day| (2, days_until_weekday(day, today).map(|days| days % 7 - 7))),
        "next" | "by" | "until" | "this" => {
            parse_weekday(next(1)).map(|day| (2, days_until_weekday(day, today)))
        }
        "in" => {
            let (count, unit) = (parse_number(next(1))?, days_in(next(2))?);
            // "in 5 days of work" is a span, but "in two weeks" is a day far more often.
            Some((3, count.checked_mul(unit)))
        }
        _ if next(2) == "ago" => {
            let (count, unit) = (parse_number(words[0])?, days_in(next(1))?);
            Some((3, count.checked_mul(-unit)))
        }
        _ => None,
    }
}

fn is_period(word: &str) -> bool {
    matches!(
        word,
        "week" | "month" | "quarter" | "year" | "sprint" | "weekend" | "morning" | "afternoon"
    )
}

fn parse_weekday(word: &str) -> Option<i64> {
    let at = WEEKDAYS.iter().position(|day| *day == word)?;
    i64::try_from(at).ok()
}

/// Days until a weekday comes, one to seven.
fn days_until_weekday(weekday: i64, today: Option<i64>) -> Option<i64> {
    // The first of January 1970 was a Thursday.
    let now = (today? + 3).rem_euclid(7);
    let days = (weekday - now).rem_euclid(7);
    Some(if days == 0 { 7 } else { days })
}

fn parse_number(word: &str) -> Option<i64> {
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let spoken = NUMBER_WORDS.iter().position(|number| *number == word);
    let digits = || word.parse::<u16>().ok().map(i64::from);
    spoken
        .and_then(|at| i64::try_from(at + 1).ok())
        .or_else(digits)
}

fn days_in(word: &str) -> Option<i64> {
    match word {
        "day" | "days" => Some(1),
        "week" | "weeks" => Some(7),
        // Rough on purpose: a date counted in months is not meant to the day.
        "month" | "months" => Some(30),
        "year" | "years" => Some(365),
        _ => None,
    }
}

/// The days since 1970 of a timestamp such as `2026-11-15T08:30:00Z`.
pub(crate) fn days_of(timestamp: &str) -> Option<i64> {
    let part = |from: usize, to: usize| timestamp.get(from..to)?.parse::<u16>().ok().map(i64::from);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let shaped = timestamp.get(4..5) == Some("-") && timestamp.get(7..8) == Some("-");
    if !shaped || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March, so that the leap day is the last day of a year and the
    // lengths of the months follow one formula.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
            - 719_468,
    )
}
