//! Ends in scripts without spaces: the day stands directly before まで or 为止, or
//! behind 直到.

use super::day::{
    Day, Period, month_end, named_day, named_month_end, next_weekday, period_end, read_numbers,
};

/// Characters that a day may take.
const MAX_DAY_CHARS: usize = 14;
/// What comes after the end is told with it.
const AFTER_WORDS: &[&str] = &["その後", "以降", "それ以後", "之后", "然后", "以后"];
/// What comes back every week has no end.
const REPEATING_WORDS: &[&str] = &["毎", "每"];

const PERIOD_WORDS: &[(&str, Period, bool)] = &[
    ("今日", Period::Day(0), false),
    ("今天", Period::Day(0), false),
    ("明日", Period::Day(1), false),
    ("明天", Period::Day(1), false),
    ("今週末", Period::Week, false),
    ("今週", Period::Week, false),
    ("本周末", Period::Week, false),
    ("本周", Period::Week, false),
    ("这周", Period::Week, false),
    ("来週", Period::Week, true),
    ("下周", Period::Week, true),
    ("今月末", Period::Month, false),
    ("月末", Period::Month, false),
    ("月底", Period::Month, false),
    ("本月底", Period::Month, false),
    ("来月末", Period::Month, true),
    ("下个月底", Period::Month, true),
    ("下月底", Period::Month, true),
    ("年末", Period::Year, false),
    ("年底", Period::Year, false),
    ("今年末", Period::Year, false),
];
/// Monday first; the last two are Sundays.
const JAPANESE_WEEKDAYS: &str = "月火水木金土日";
const CHINESE_WEEKDAYS: &str = "一二三四五六日天";

pub(super) fn may_name_end(text: &str) -> bool {
    ["まで", "为止", "直到"]
        .iter()
        .any(|cue| text.contains(cue))
}

pub(super) fn sentence_end(sentence: &str, said: i64) -> Option<i64> {
    if AFTER_WORDS.iter().any(|word| sentence.contains(word)) {
        return None;
    }
    let before = |cue: &str, unless: &str| {
        let mut places = sentence.match_indices(cue);
        places.find_map(|(at, _)| {
            // までに is "by": something is due, and nothing ends.
            let refused = !unless.is_empty() && sentence[at + cue.len()..].starts_with(unless);
            let (day, from) = day_before(&sentence[..at], said).filter(|_| !refused)?;
            let ranges = from.ends_with("から") || from.ends_with('到') && day.is_weekday;
            (!day.is_weekday || !ranges && !is_repeating(sentence)).then_some(day.number)
        })
    };
    let behind = || {
        let (_, rest) = sentence.split_once("直到")?;
        let (day, used) = read_day(rest.trim_start(), said)?;
        let rest = &rest.trim_start()[used..];
        let goes_on = rest.starts_with('才') || day.is_weekday && is_repeating(sentence);
        (!goes_on).then_some(day.number)
    };
    before("まで", "に")
        .or_else(|| before("为止", ""))
        .or_else(behind)
}

fn is_repeating(sentence: &str) -> bool {
    REPEATING_WORDS.iter().any(|word| sentence.contains(word))
}

/// The day that a text ends with, and what stands before it.
fn day_before(text: &str, said: i64) -> Option<(Day, &str)> {
    let text = text.trim_end();
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let first = starts.len().saturating_sub(MAX_DAY_CHARS);
    starts[first..].iter().find_map(|at| {
        let (day, used) = read_day(&text[*at..], said)?;
        (at + used == text.len()).then(|| (day, text[..*at].trim_end()))
    })
}

/// The day that a text begins with, and how many bytes name it.
fn read_day(text: &str, said: i64) -> Option<(Day, usize)> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '-' | '/');
    let numbers = text.len() - text.trim_start_matches(plain).len();
    if text[..numbers].contains(['-', '/']) {
        return Some((
            Day::from_day_number(read_numbers(&text[..numbers])?),
            numbers,
        ));
    }
    let (year, rest) = match take_number(text, '年') {
        Some((year, rest)) if (2000..2100).contains(&year) => (Some(year), rest),
        _ => (None, text),
    };
    let used = |rest: &str| text.len() - rest.len();
    if let Some((month, rest)) =
        take_number(rest, '月').filter(|(month, _)| (1..=12).contains(month))
    {
        let day = take_number(rest, '日').or_else(|| take_number(rest, '号'));
        if let Some((day, rest)) = day {
            return Some((
                Day::from_day_number(named_day(year, month, day, said)?),
                used(rest),
            ));
        }
        let rest = rest.strip_prefix(['末', '底']).unwrap_or(rest);
        return Some((
            Day::from_day_number(named_month_end(year, month, said)),
            used(rest),
        ));
    }
    if let Some(year) = year {
        let rest = rest.strip_prefix(['末', '底']).unwrap_or(rest);
        return Some((Day::from_day_number(month_end(year, 12)), used(rest)));
    }
    if let Some(found) = read_weekday(text, said) {
        return Some(found);
    }
    let named = PERIOD_WORDS
        .iter()
        .filter(|(name, ..)| text.starts_with(name));
    let (name, period, is_next) = named.max_by_key(|(name, ..)| name.len())?;
    let day = Day {
        is_relative: true,
        ..Day::from_day_number(period_end(said, *period, *is_next))
    };
    Some((day, name.len()))
}

/// 金曜日, 来週の金曜, 周五, 下星期五.
fn read_weekday(text: &str, said: i64) -> Option<(Day, usize)> {
    let nexts = ["来週の", "下个", "下"];
    let bare = nexts.iter().find_map(|next| text.strip_prefix(next));
    let rest = bare.unwrap_or(text);
    let weeks = ["周", "星期", "礼拜"];
    let week = weeks.iter().find_map(|week| rest.strip_prefix(week));
    let name = week.unwrap_or(rest).chars().next()?;
    let behind = &week.unwrap_or(rest)[name.len_utf8()..];
    let found = if week.is_some() {
        let at = CHINESE_WEEKDAYS.chars().position(|day| day == name)?;
        (at.min(6), behind)
    } else {
        let at = JAPANESE_WEEKDAYS.chars().position(|day| day == name)?;
        let behind = behind.strip_prefix('曜')?;
        (at, behind.strip_prefix('日').unwrap_or(behind))
    };
    let (weekday, rest) = (i64::try_from(found.0).ok()?, found.1);
    let day = Day {
        is_weekday: true,
        is_relative: true,
        ..Day::from_day_number(next_weekday(said, weekday, bare.is_some()))
    };
    Some((day, text.len() - rest.len()))
}

/// Digits before a sign.
fn take_number(text: &str, sign: char) -> Option<(i64, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    let value = digits.parse().ok().filter(|_| digits.len() <= 4)?;
    Some((value, rest.strip_prefix(sign)?))
}
