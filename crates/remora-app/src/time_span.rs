//! Times as users write them: dates, days by name, spans such as `3d`. In the
//! user's own time zone; the current time is passed in.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Timestamp, ToSpan, Zoned};

use crate::error::{AppError, ErrorKind, RequestField, Result};

/// Which time a request means, as a user says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeSpanRequest {
    /// From this time on.
    pub since: Option<String>,
    /// Up to this time; a day or week counts to its end.
    pub until: Option<String>,
}

/// From and up to, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeSpan {
    /// Not before.
    pub since: Option<i64>,
    /// Before.
    pub until: Option<i64>,
}

impl TimeSpanRequest {
    /// The time that is meant now.
    pub fn resolve(&self, now: &Zoned) -> Result<TimeSpan> {
        let read = |field, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => parse_time_span(text, now)
                .map(Some)
                .ok_or_else(|| invalid_time_error(field, text)),
        };
        let span = TimeSpan {
            since: read(RequestField::Since, &self.since)?.map(|(from, _)| from),
            until: read(RequestField::Until, &self.until)?.map(|(_, to)| to),
        };
        if span.is_empty() {
            return Err(AppError::new(
                ErrorKind::EmptyTimeSpan,
                EMPTY_TIME_SPAN_MESSAGE,
            ));
        }
        Ok(span)
    }
}

/// Said of a time that ends before it begins.
pub(crate) const EMPTY_TIME_SPAN_MESSAGE: &str =
    "since is later than until: nothing lies between them";

impl TimeSpan {
    /// Whether it ends before it begins.
    pub(crate) fn is_empty(self) -> bool {
        matches!((self.since, self.until), (Some(since), Some(until)) if since >= until)
    }
}

fn invalid_time_error(field: RequestField, text: &str) -> AppError {
    AppError::bad_field(
        field,
        format!(
            "`{text}` is not a time; try 2026-11-15, \"2026-11-15 14:30\", \
             yesterday, monday, \"last week\", 3d or 2h"
        ),
    )
}

/// The stretch of time that a text names: its first instant, and the first one
/// after it. For an instant both are the same.
pub(crate) fn parse_time_span(text: &str, now: &Zoned) -> Option<(i64, i64)> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(instant_to_span(timestamp.as_millisecond()));
    }
    let words = text.to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let today = now.date();
    match words.as_slice() {
        ["now"] => return Some(instant_to_span(now.timestamp().as_millisecond())),
        ["last" | "this", unit @ ("week" | "month" | "year")] => {
            return period_to_span(words[0], unit, now);
        }
        ["last" | "on", day] => {
            return parse_weekday(day, today).and_then(|day| days_to_span(day, day, now));
        }
        [day] => {
            let named = match *day {
                "today" => Some(today),
                "yesterday" => today.yesterday().ok(),
                other => parse_weekday(other, today),
            };
            if let Some(day) = named {
                return days_to_span(day, day, now);
            }
        }
        _ => {}
    }
    if let Ok(date) = text.parse::<Date>()
        // Longer texts that parse as a date also name a time of day.
        && text.len() <= 10
    {
        return days_to_span(date, date, now);
    }
    if let Ok(civil) = text.parse::<DateTime>() {
        return civil_to_span(civil, now);
    }
    if let Ok(time) = text.parse::<Time>()
        && text.contains(':')
    {
        return civil_to_span(today.to_datetime(time), now);
    }
    parse_relative_time(&words, now)
}

fn instant_to_span(millis: i64) -> (i64, i64) {
    (millis, millis)
}

fn civil_to_span(civil: DateTime, now: &Zoned) -> Option<(i64, i64)> {
    let zoned = civil.to_zoned(now.time_zone().clone()).ok()?;
    Some(instant_to_span(zoned.timestamp().as_millisecond()))
}

/// From the start of one day to the end of another.
fn days_to_span(first: Date, last: Date, now: &Zoned) -> Option<(i64, i64)> {
    let start = |day: Date| {
        let day = day.to_zoned(now.time_zone().clone()).ok()?;
        Some(day.start_of_day().ok()?.timestamp().as_millisecond())
    };
    Some((start(first)?, start(last.tomorrow().ok()?)?))
}

fn period_to_span(which: &str, unit: &str, now: &Zoned) -> Option<(i64, i64)> {
    let today = now.date();
    let step = match unit {
        "week" => 1.week(),
        "month" => 1.month(),
        _ => 1.year(),
    };
    let first = match unit {
        "week" => {
            let since_monday = i64::from(today.weekday().to_monday_zero_offset());
            today.checked_sub(since_monday.days()).ok()?
        }
        "month" => today.first_of_month(),
        _ => today.first_of_year(),
    };
    let first = match which {
        "last" => first.checked_sub(step).ok()?,
        _ => first,
    };
    let last = first.checked_add(step).ok()?.yesterday().ok()?;
    days_to_span(first, last, now)
}

/// The last such day before today, by its name.
fn parse_weekday(text: &str, today: Date) -> Option<Date> {
    const WEEKDAY_NAMES: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let (_, day) = WEEKDAY_NAMES.iter().find(|(name, _)| *name == text)?;
    // Always before today: memory is about the past.
    today.nth_weekday(-1, *day).ok()
}

/// `3d`, `3 days`, `3 days ago`.
fn parse_relative_time(words: &[&str], now: &Zoned) -> Option<(i64, i64)> {
    let words = match words {
        [rest @ .., "ago"] => rest,
        all => all,
    };
    let (count, unit) = match words {
        [one] => one.split_at(one.find(|c: char| !c.is_ascii_digit())?),
        ["a" | "an" | "one", unit] => ("1", *unit),
        [count, unit] => (*count, *unit),
        _ => return None,
    };
    let count: i64 = count.parse().ok().filter(|n| *n <= 100_000)?;
    let back = match unit {
        "m" | "min" | "mins" | "minute" | "minutes" => count.minutes(),
        "h" | "hour" | "hours" => count.hours(),
        "d" | "day" | "days" => count.days(),
        "w" | "week" | "weeks" => count.weeks(),
        "mo" | "month" | "months" => i32::try_from(count).ok()?.months(),
        "y" | "year" | "years" => i16::try_from(count).ok().filter(|n| *n < 8000)?.years(),
        _ => return None,
    };
    let then = now.checked_sub(back).ok()?;
    Some(instant_to_span(then.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests;
