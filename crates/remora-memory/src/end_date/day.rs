//! The day that words name: a date in some spelling, a weekday, a week, the end
//! of a month. Without a year it is the next one, and a period is its last day.

use remora_core::time::civil_from_days;

use super::SentenceWord;

/// Months by their names in English, German, Spanish and French; the first three
/// letters of English ones count too.
const MONTH_NAMES: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "enero", "janvier"],
    &["february", "feb", "februar", "febrero", "février"],
    &["march", "mar", "märz", "marzo", "mars"],
    &["april", "apr", "abril", "avril"],
    &["may", "mai", "mayo"],
    &["june", "jun", "juni", "junio", "juin"],
    &["july", "jul", "juli", "julio", "juillet"],
    &["august", "aug", "agosto", "août"],
    &["september", "sep", "sept", "septiembre", "septembre"],
    &["october", "oct", "oktober", "okt", "octubre", "octobre"],
    &["november", "nov", "noviembre", "novembre"],
    &[
        "december",
        "dec",
        "dezember",
        "dez",
        "diciembre",
        "décembre",
    ],
];
/// Monday first.
const WEEKDAY_NAMES: [&[&str]; 7] = [
    &["monday", "mon", "montag", "lunes", "lundi"],
    &["tuesday", "tue", "dienstag", "martes", "mardi"],
    &["wednesday", "wed", "mittwoch", "miércoles", "mercredi"],
    &["thursday", "thu", "donnerstag", "jueves", "jeudi"],
    &["friday", "fri", "freitag", "viernes", "vendredi"],
    &[
        "saturday",
        "sat",
        "samstag",
        "sonnabend",
        "sábado",
        "samedi",
    ],
    &["sunday", "sun", "sonntag", "domingo", "dimanche"],
];
/// Words that are names or verbs as well, unless they are written as names.
const AMBIGUOUS_WORDS: &[&str] = &["may", "mar", "march", "mars", "sun", "sat", "jan", "mai"];
const FILLER_WORDS: &[&str] = &[
    "the",
    "this",
    "of",
    "on",
    "coming",
    "including",
    "beginning",
    "start",
    "middle",
    "mid",
    "der",
    "den",
    "dem",
    "des",
    "zum",
    "am",
    "diesen",
    "dieser",
    "dieses",
    "anfang",
    "mitte",
    "el",
    "la",
    "los",
    "este",
    "esta",
    "de",
    "del",
    "al",
    "principios",
    "mediados",
    "le",
    "du",
    "au",
    "ce",
    "cette",
    "début",
];
const END_WORDS: &[&str] = &["end", "close", "ende", "fin", "final", "finales"];
const NEXT_WORDS: &[&str] = &[
    "next",
    "nächste",
    "nächsten",
    "nächster",
    "nächstes",
    "kommende",
    "kommenden",
    "próximo",
    "próxima",
    "prochain",
    "prochaine",
];
/// Days, weeks and the like by how they are counted from the day of saying.
const PERIOD_WORDS: &[(&str, Period)] = &[
    ("today", Period::Day(0)),
    ("tonight", Period::Day(0)),
    ("heute", Period::Day(0)),
    ("hoy", Period::Day(0)),
    ("aujourd'hui", Period::Day(0)),
    ("tomorrow", Period::Day(1)),
    ("morgen", Period::Day(1)),
    ("mañana", Period::Day(1)),
    ("demain", Period::Day(1)),
    ("week", Period::Week),
    ("woche", Period::Week),
    ("semana", Period::Week),
    ("semaine", Period::Week),
    ("month", Period::Month),
    ("monats", Period::Month),
    ("monat", Period::Month),
    ("mes", Period::Month),
    ("mois", Period::Month),
    ("quarter", Period::Quarter),
    ("quartals", Period::Quarter),
    ("quartal", Period::Quarter),
    ("trimestre", Period::Quarter),
    ("year", Period::Year),
    ("jahres", Period::Year),
    ("jahr", Period::Year),
    ("año", Period::Year),
    ("année", Period::Year),
];

/// A stretch of time around the day of saying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    /// So many days later.
    Day(i64),
    Week,
    Month,
    Quarter,
    Year,
}

/// A day, and how it was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    /// In days since 1970.
    pub(super) number: i64,
    pub(super) is_weekday: bool,
    /// By the name of a month alone.
    pub(super) is_month: bool,
    /// Counted from the day of saying.
    pub(super) is_relative: bool,
}

impl Day {
    pub(super) fn from_day_number(day: i64) -> Self {
        Self {
            number: day,
            is_weekday: false,
            is_month: false,
            is_relative: false,
        }
    }
}

pub(super) fn is_weekday(word: &str) -> bool {
    WEEKDAY_NAMES.iter().any(|names| names.contains(&word))
}

pub(super) fn is_month(word: &str) -> bool {
    month_of(word).is_some()
}

fn month_of(word: &str) -> Option<i64> {
    let at = MONTH_NAMES.iter().position(|names| names.contains(&word))?;
    i64::try_from(at + 1).ok()
}

/// The day that the words begin with, and how many of them name it.
pub(super) fn read_day(words: &[SentenceWord<'_>], said: i64) -> Option<(Day, usize)> {
    let mut at = 0;
    let (mut is_end, mut is_next) = (false, false);
    while let Some(word) = words.get(at) {
        let lower = word.lower.as_str();
        if END_WORDS.contains(&lower) {
            is_end = true;
        } else if NEXT_WORDS.contains(&lower) {
            is_next = true;
        } else if !FILLER_WORDS.contains(&lower) {
            break;
        }
        // A filler that ends its clause names nothing.
        if word.closes {
            return None;
        }
        at += 1;
    }
    let word = words.get(at)?;
    if let Some(day) = read_numbers(&word.lower) {
        return Some((Day::from_day_number(day), at + 1));
    }
    if let Some((day, used)) = read_spelt(&words[at..], said) {
        return Some((day, at + used));
    }
    let is_said_so = is_end || is_next || words[..at].iter().any(|word| word.lower == "this");
    let behind = words.get(at + 1).filter(|_| !word.closes);
    let is_next = is_next || behind.is_some_and(|word| NEXT_WORDS.contains(&word.lower.as_str()));
    let weekday = WEEKDAY_NAMES
        .iter()
        .position(|names| names.contains(&word.lower.as_str()));
    if let Some(weekday) = weekday.filter(|_| !is_doubtful(word)) {
        let day = next_weekday(said, i64::try_from(weekday).ok()?, is_next);
        let day = Day {
            is_weekday: true,
            is_relative: true,
            ..Day::from_day_number(day)
        };
        return Some((day, at + 1));
    }
    let (_, period) = PERIOD_WORDS.iter().find(|(name, _)| *name == word.lower)?;
    if !is_said_so && !is_next && !matches!(period, Period::Day(_)) {
        return None;
    }
    let named_behind = behind.is_some_and(|word| NEXT_WORDS.contains(&word.lower.as_str()));
    let day = Day {
        is_relative: true,
        ..Day::from_day_number(period_end(said, *period, is_next))
    };
    Some((day, at + 1 + usize::from(named_behind)))
}

/// The day of this name after the day of saying; that of the week after with
/// `is_next`, which some people mean.
pub(super) fn next_weekday(said: i64, weekday: i64, is_next: bool) -> i64 {
    let today = weekday_of(said);
    let ahead = (weekday - today - 1).rem_euclid(7) + 1;
    said + ahead + if is_next { 7 } else { 0 }
}

/// Monday is 0.
fn weekday_of(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The last day of the period around the day of saying, or of the one after.
pub(super) fn period_end(said: i64, period: Period, is_next: bool) -> i64 {
    let (year, month, _) = civil_from_days(said);
    let more = i64::from(is_next);
    match period {
        Period::Day(ahead) => said + ahead,
        Period::Week => said + 6 - weekday_of(said) + 7 * more,
        Period::Month => month_end(year, month + more),
        Period::Quarter => month_end(year, (month + 2) / 3 * 3 + 3 * more),
        Period::Year => month_end(year + more, 12),
    }
}

/// The last day of a month; months beyond December are of the next year.
pub(super) fn month_end(year: i64, month: i64) -> i64 {
    day_number(year, month + 1, 1) - 1
}

/// The last day of this month, the next one to come unless the year is known.
pub(super) fn named_month_end(year: Option<i64>, month: i64, said: i64) -> i64 {
    let (this_year, this_month, _) = civil_from_days(said);
    let year = year.unwrap_or(this_year + i64::from(month < this_month));
    month_end(year, month)
}

/// This day of this month, the next one to come unless the year is known; `None`
/// for a day that the month does not have.
pub(super) fn named_day(year: Option<i64>, month: i64, day: i64, said: i64) -> Option<i64> {
    let (this_year, _, _) = civil_from_days(said);
    let found = checked_day(year.unwrap_or(this_year), month, day)?;
    if year.is_none() && found < said {
        return checked_day(this_year + 1, month, day);
    }
    Some(found)
}

fn checked_day(year: i64, month: i64, day: i64) -> Option<i64> {
    let found = day_number(year, month, day);
    (civil_from_days(found) == (year, month, day)).then_some(found)
}

/// Days since 1970, the reverse of [`civil_from_days`]; months may overflow a year.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let from_march = if month > 2 { year } else { year - 1 };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * from_march + from_march.div_euclid(4) - from_march.div_euclid(100)
        + from_march.div_euclid(400)
        + of_year
        - 719_468
}

fn parse_ranged_number(text: &str, from: i64, to: i64) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let value: i64 = text.parse().ok().filter(|_| is_number)?;
    (from..=to).contains(&value).then_some(value)
}

fn year_of(text: &str) -> Option<i64> {
    parse_ranged_number(text, 2000, 2099)
}

/// `2026-10-01`, `2026-10`, `2026`, `01.10.2026`, `10/01/2026`, `q3`.
pub(super) fn read_numbers(word: &str) -> Option<i64> {
    if let Some(year) = year_of(word) {
        return Some(month_end(year, 12));
    }
    let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
    let marks: Vec<char> = word.chars().filter(|c| !c.is_ascii_digit()).collect();
    if marks.windows(2).any(|pair| pair[0] != pair[1]) {
        return None;
    }
    match *parts.as_slice() {
        [year, month] if marks[0] == '-' && month.len() == 2 => Some(month_end(
            year_of(year)?,
            parse_ranged_number(month, 1, 12)?,
        )),
        [year, month, day] if year.len() == 4 => checked_day(
            year_of(year)?,
            parse_ranged_number(month, 1, 12)?,
            parse_ranged_number(day, 1, 31)?,
        ),
        [first, second, year] => {
            let (year, first, second) = (
                year_of(year)?,
                parse_ranged_number(first, 1, 31)?,
                parse_ranged_number(second, 1, 31)?,
            );
            let by_day = checked_day(year, second, first).filter(|_| second <= 12);
            let by_month =
                checked_day(year, first, second).filter(|_| first <= 12 && marks[0] == '/');
            by_day.max(by_month)
        }
        _ => None,
    }
}

fn is_doubtful(word: &SentenceWord<'_>) -> bool {
    AMBIGUOUS_WORDS.contains(&word.lower.as_str()) && !word.raw.starts_with(char::is_uppercase)
}

/// `1st of October 2026`, `October 1`, `1. Oktober`, `October`.
fn read_spelt(words: &[SentenceWord<'_>], said: i64) -> Option<(Day, usize)> {
    let ordinal = |word: &SentenceWord<'_>| {
        let bare = ["st", "nd", "rd", "th", "er"]
            .iter()
            .find_map(|end| word.lower.strip_suffix(end));
        parse_ranged_number(bare.unwrap_or(&word.lower), 1, 31)
    };
    let link = |at: usize| {
        usize::from(
            words
                .get(at)
                .is_some_and(|word| matches!(&*word.lower, "of" | "de" | "del")),
        )
    };
    let year_at = |at: usize| {
        let at = at + link(at);
        let open = at
            .checked_sub(1)
            .is_none_or(|last| !words[last].closes || !words[last].introduces);
        words
            .get(at)
            .filter(|_| open)
            .and_then(|word| Some((year_of(&word.lower)?, at + 1)))
    };
    let first = words.first()?;
    if let Some(day) = ordinal(first).filter(|_| !first.closes) {
        let at = 1 + link(1);
        let month = month_of(&words.get(at)?.lower)?;
        let year = year_at(at + 1);
        let found = named_day(year.map(|(year, _)| year), month, day, said)?;
        return Some((
            Day::from_day_number(found),
            year.map_or(at + 1, |(_, next)| next),
        ));
    }
    let month = month_of(&first.lower)?;
    let day = words.get(1).filter(|_| !first.closes).and_then(ordinal);
    let next = 1 + usize::from(day.is_some());
    let year = year_at(next);
    let used = year.map_or(next, |(_, next)| next);
    let named_year = year.map(|(year, _)| year);
    if let Some(day) = day {
        return Some((
            Day::from_day_number(named_day(named_year, month, day, said)?),
            used,
        ));
    }
    let bare = named_year.is_none();
    if bare && is_doubtful(first) {
        return None;
    }
    let found = named_month_end(named_year, month, said);
    Some((
        Day {
            is_month: bare,
            ..Day::from_day_number(found)
        },
        used,
    ))
}
