//! A day, a month or a year that a question names: "on 3 November", "in May
//! 2026", "2026-11-15". Pure; knows no clock, so "yesterday" means nothing here.

use remora_core::time::civil_from_days;

const DAY_MS: i64 = 86_400_000;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Words behind which even `may` is a month, and four digits are a year.
const DATE_LEAD_WORDS: [&str; 10] = [
    "in", "of", "since", "during", "until", "by", "last", "this", "early", "late",
];

/// What a question says of a day; at least one part is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedDay {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
}

impl NamedDay {
    /// The first one that the text names.
    pub fn find(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .filter(|word| !word.is_empty())
            .collect();
        (0..words.len()).find_map(|at| {
            parse_iso_date(words[at])
                .or_else(|| parse_spelt_date(&words, at))
                .or_else(|| year_alone(&words, at))
        })
    }

    /// How well a moment fits: 1 within what is named, a half in the right
    /// month on another day, else 0.
    pub fn score_time(self, millis: i64) -> f64 {
        let (year, month, day) = civil_from_days(millis.div_euclid(DAY_MS));
        let is = |named: Option<i64>, value: i64| named.is_none_or(|named| named == value);
        if !is(self.year, year) || !is(self.month, month) {
            0.0
        } else if is(self.day, day) {
            1.0
        } else {
            0.5
        }
    }
}

fn parse_number(word: &str, from: i64, to: i64) -> Option<i64> {
    let digits = word.bytes().all(|b| b.is_ascii_digit());
    let value: i64 = word.parse().ok().filter(|_| digits)?;
    (from..=to).contains(&value).then_some(value)
}

fn parse_year(word: &str) -> Option<i64> {
    parse_number(word, 1900, 2099)
}

fn parse_day(word: &str) -> Option<i64> {
    let bare = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| word.strip_suffix(end));
    parse_number(bare.unwrap_or(word), 1, 31)
}

/// `2026-11` or `2026-11-15`.
fn parse_iso_date(word: &str) -> Option<NamedDay> {
    let mut parts = word.split('-');
    let (first, second) = (parts.next()?, parts.next()?);
    let day = parts.next();
    if first.len() != 4 || second.len() != 2 || parts.next().is_some() {
        return None;
    }
    Some(NamedDay {
        year: Some(parse_year(first)?),
        month: Some(parse_number(second, 1, 12)?),
        day: match day {
            Some(day) => Some(parse_number(day, 1, 31)?),
            None => None,
        },
    })
}

/// `3rd of November`, `Nov 3, 2026`, `May 2026`.
fn parse_spelt_date(words: &[&str], at: usize) -> Option<NamedDay> {
    let word = words[at];
    let month = MONTHS
        .iter()
        .position(|month| *month == word || (word.len() == 3 && month.starts_with(word)))?;
    let before = |back: usize| at.checked_sub(back).map(|at| words[at]);
    let day_before = match before(1) {
        Some("of") => before(2).and_then(parse_day),
        other => other.and_then(parse_day),
    };
    let day_after = words.get(at + 1).copied().and_then(parse_day);
    let named_day = day_before.or(day_after);
    let next = at + 1 + usize::from(day_after.is_some());
    let named_year = words.get(next).copied().and_then(parse_year);
    // Short ones are names and words of their own too.
    let doubtful = word.len() == 3 || word == "march";
    let alone = named_day.is_none() && named_year.is_none();
    let led = before(1).is_some_and(|lead| DATE_LEAD_WORDS.contains(&lead));
    if alone && doubtful && !led {
        return None;
    }
    Some(NamedDay {
        year: named_year,
        month: i64::try_from(month + 1).ok(),
        day: named_day,
    })
}

/// `in 2026`.
fn year_alone(words: &[&str], at: usize) -> Option<NamedDay> {
    let lead = at.checked_sub(1).map(|at| words[at])?;
    let year = parse_year(words[at])?;
    DATE_LEAD_WORDS.contains(&lead).then_some(NamedDay {
        year: Some(year),
        month: None,
        day: None,
    })
}

#[cfg(test)]
mod tests {
    use super::NamedDay;

    fn found(text: &str) -> Option<(Option<i64>, Option<i64>, Option<i64>)> {
        NamedDay::find(text).map(|named| (named.year, named.month, named.day))
    }

    #[test]
    fn days_months_and_years_are_found() {
        for (text, expected) in [
            ("what broke on 3 November?", (None, Some(11), Some(3))),
            ("the 2nd of may", (None, Some(5), Some(2))),
            ("Nov 3rd, 2026: what?", (Some(2026), Some(11), Some(3))),
            ("in May 2026", (Some(2026), Some(5), None)),
            ("what did we do in may", (None, Some(5), None)),
            ("since 2026-11-15", (Some(2026), Some(11), Some(15))),
            ("release 2026-11 notes", (Some(2026), Some(11), None)),
            ("why did it fail in 2025", (Some(2025), None, None)),
            ("10 Oct 2024", (Some(2024), Some(10), Some(10))),
            ("during august", (None, Some(8), None)),
        ] {
            assert_eq!(found(text), Some(expected), "{text:?}");
        }
        for text in [
            "",
            "may I merge this?",
            "a march through the code",
            "mar",
            "2024 rows were lost",
            "2026-13-01",
            "1234-56",
            "jan said so",
            "error 404 of 500",
            "version 3 of the 99 files",
        ] {
            assert_eq!(found(text), None, "{text:?}");
        }
    }

    #[test]
    fn moments_fit_what_is_named() {
        // 2026-11-15T08:30Z
        let moment = 1_794_731_400_000;
        let fit = |text: &str| NamedDay::find(text).unwrap().score_time(moment);
        assert!((fit("on 15 November") - 1.0).abs() < 1e-9);
        assert!((fit("in November 2026") - 1.0).abs() < 1e-9);
        assert!((fit("on 3 November 2026") - 0.5).abs() < 1e-9);
        assert!(fit("on 15 November 2025").abs() < 1e-9);
        assert!(fit("in 2025").abs() < 1e-9);
    }
}
