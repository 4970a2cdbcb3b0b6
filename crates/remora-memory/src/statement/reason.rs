//! Separates a statement from its reason: "because ..", "so that ..", 因为….

use super::words::{StatementWord, is_in_list, split_words};

/// Words that a part of a sentence must have to count by itself.
const MIN_PART_WORDS: usize = 3;

/// The sentence without its reason, and the reason. Explicit words come before the
/// guesses by dash and comma.
pub(super) fn split_reason(sentence: &str) -> (&str, Option<&str>) {
    split_han_reason(sentence)
        .or_else(|| split_spaced_reason(sentence))
        .or_else(|| split_aside(sentence))
        .or_else(|| split_clause_reason(sentence))
        .map_or((sentence, None), |(body, why)| (body, Some(why)))
}

/// The reason, if the whole sentence is the reason of the one before.
pub(super) fn find_following_reason(next: &str) -> Option<&str> {
    const REASON_STARTS: &[&str] = &[
        "因为",
        "原因是",
        "理由是",
        "原因：",
        "理由：",
        "这样",
        "否则",
        "不然",
        "毕竟",
    ];
    let next = next.trim();
    if let Some(start) = REASON_STARTS.iter().find(|s| next.starts_with(**s)) {
        let keep = matches!(*start, "这样" | "否则" | "不然" | "毕竟");
        return Some(if keep { next } else { &next[start.len()..] });
    }
    let list = split_words(next);
    let first: Vec<&str> = list.iter().take(4).map(|w| w.text.as_str()).collect();
    let skip = match first.as_slice() {
        ["the", "reason", "is" | "being", "that"] => 4,
        ["the", "reason", "is" | "being", ..] | ["this" | "that" | "it", "is", "because", ..] => 3,
        ["that's" | "it's", "because", ..] => 2,
        ["because" | "reason" | "rationale" | "grund", ..] => 1,
        ["otherwise" | "weil" | "denn" | "porque", ..]
        | ["that", "way", ..]
        | ["last", "time" | "year" | "month" | "week" | "job", ..]
        | ["parce", "que", ..] => 0,
        _ => return None,
    };
    list.get(skip).map(|w| &next[w.start..])
}

/// What follows a dash, if it is a clause of its own and not an example.
fn split_aside(sentence: &str) -> Option<(&str, &str)> {
    const CLAUSE_STARTS: &str = "the a an it it's its they they're we we've i i've this that that's there last he she nobody         everybody somebody someone our my das die der wir es el la los lo nous le les il ça on";
    let (at, mark) = [" - ", " — ", " – "]
        .iter()
        .find_map(|mark| Some((sentence.find(mark)?, mark)))?;
    let (body, why) = (&sentence[..at], sentence[at + mark.len()..].trim());
    let first = why.split_whitespace().next()?.to_lowercase();
    let long = |text: &str| text.split_whitespace().count() >= MIN_PART_WORDS;
    (long(body) && long(why) && is_in_list(&first, CLAUSE_STARTS)).then_some((body, why))
}

/// The clause after an order, if it says what is the case: "keep the limit at 3, the
/// upstream bans us". Only after an order or a wish: after anything else such a
/// clause continues the sentence.
fn split_clause_reason(sentence: &str) -> Option<(&str, &str)> {
    const ORDER_WORDS: &str = "keep leave use stick stay pin cap hold limit set put take make write ship drop skip avoid \
        stop go run store call don't dont do never always only no let's lets let prefer please pls we'll \
        bleib bleibt behalte lass lasst nimm nutze kein keine nur wir deja dejamos usa usamos usemos mantén \
        nos no nada garde gardons utilise on";
    const WANT_VERBS: &str =
        "want need prefer stay stick keep use take drop leave go bleiben lassen nehmen";
    const SUBJECT_WORDS: &str =
        "the our my their his her a an this that these those half most some every";
    const PERSON_WORDS: &str = "it it's they they're we we've i i've i'm he she nobody everybody somebody someone people \
        users there's there that's that";
    const CLAUSE_VERBS: &str = "is are was were has have had isn't aren't wasn't can can't cannot won't will doesn't don't \
        didn't does did needs need breaks break broke bans crash crashes chokes fails fail read still only never \
        ist sind hat haben kann können sperrt es son está están tiene tienen no";
    const CONNECTING_WORDS: &str = "and or of in on for with to from by at but";
    let list = split_words(sentence);
    let first = &list.first()?.text;
    let wants =
        is_in_list(first, "we i") && list.get(1).is_some_and(|w| is_in_list(&w.text, WANT_VERBS));
    if !wants && !is_in_list(first, ORDER_WORDS) {
        return None;
    }
    let starts = (MIN_PART_WORDS..list.len()).rev();
    let at = starts
        .into_iter()
        .find(|at| list[at - 1].after == Some(','))?;
    let why = &list[at..];
    let subject = &why[0].text;
    let tells = |at: usize| {
        let word = &why[at];
        let third = word.text.len() > 3 && word.text.ends_with('s') && !word.text.ends_with("ss");
        let goes_on = why
            .get(at + 1)
            .is_some_and(|w| !is_in_list(&w.text, CONNECTING_WORDS));
        !word.quoted && (is_in_list(&word.text, CLAUSE_VERBS) || third && at > 1 && goes_on)
    };
    let is_clause = is_in_list(subject, PERSON_WORDS)
        || is_in_list(subject, SUBJECT_WORDS) && (1..why.len()).any(tells)
        // "pgbouncer drops us": a name, and what it does.
        || why.len() >= MIN_PART_WORDS && tells(1);
    let long = why.len() >= MIN_PART_WORDS;
    (long && is_clause).then(|| (&sentence[..list[at - 1].end], &sentence[why[0].start..]))
}

/// Whether a sentence as a whole says why something is so: "the reason we pin it
/// is ..", "the root cause was ..".
pub(super) fn is_cause(sentence: &str) -> bool {
    const CAUSE_WORDS: &str =
        "reason cause culprit why therefore grund ursache deshalb darum causa razón motivo raison";
    const CAUSE_PHRASES: &[&str] = &[
        "原因",
        "因为",
        "导致",
        "理由",
        "ため",
        "por eso",
        "c'est pourquoi",
    ];
    let list = split_words(sentence);
    list.iter()
        .any(|w| !w.quoted && is_in_list(&w.text, CAUSE_WORDS))
        || CAUSE_PHRASES.iter().any(|part| sentence.contains(part))
}

/// Whether a sentence says that something went wrong.
pub(super) fn is_failure(sentence: &str) -> bool {
    const FAILURE_WORDS: &str = "failed fails stopped crashed hung aborted";
    let list = split_words(sentence);
    list.iter()
        .any(|w| !w.quoted && is_in_list(&w.text, FAILURE_WORDS))
}

/// Reasons in Chinese and Japanese.
fn split_han_reason(sentence: &str) -> Option<(&str, &str)> {
    const REASON_LEADS: &[&str] = &["因为", "由于", "鉴于", "考虑到", "既然"];
    const REASON_MARKERS: &[(&str, bool)] = &[
        ("是因为", false),
        ("因为", false),
        ("原因是", false),
        ("理由是", false),
        ("由于", false),
        ("考虑到", false),
        ("以免", true),
        ("免得", true),
        ("以便", true),
        ("否则", true),
        ("不然", true),
        ("为了", true),
        ("这样", true),
        ("毕竟", true),
        ("なぜなら", false),
        ("理由は", false),
    ];
    let sentence = sentence.trim();
    if let Some(lead) = REASON_LEADS.iter().find(|l| sentence.starts_with(**l))
        && let Some((at, comma)) = sentence
            .char_indices()
            .find(|(_, c)| matches!(c, '，' | ','))
    {
        let body = sentence[at + comma.len_utf8()..]
            .trim_start_matches("所以")
            .trim_start_matches("因此");
        return Some((body, &sentence[lead.len()..at]));
    }
    let (at, word, keep) = REASON_MARKERS
        .iter()
        .filter_map(|(word, keep)| {
            let at = sentence.find(word)?;
            let before = sentence[..at].chars().next_back()?;
            (matches!(before, '，' | ',' | '：' | '（' | '(' | '—' | ' ' | '。')
                || (*word == "是因为" || *word == "因为"))
                .then_some((at, *word, *keep))
        })
        .min_by_key(|(at, ..)| *at)?;
    let body = sentence[..at].trim_end_matches(['（', '(']);
    let why = &sentence[if keep { at } else { at + word.len() }..];
    let why = if body.len() < at {
        why.trim_end_matches(['）', ')', '。'])
    } else {
        why
    };
    (body.chars().count() >= 3 && !why.is_empty()).then_some((body, why))
}

/// Reasons in languages written with spaces.
fn split_spaced_reason(sentence: &str) -> Option<(&str, &str)> {
    let list = split_words(sentence);
    if let Some(first) = list.first()
        && matches!(
            first.text.as_str(),
            "because" | "since" | "as" | "given" | "da" | "weil" | "como" | "puisque" | "porque"
        )
        && let Some(comma) = list.iter().position(|w| w.after == Some(','))
        && comma >= 2
        && let Some(rest) = list.get(comma + 1)
    {
        let from = if list[1].text == "that" { 2 } else { 1 };
        return Some((
            &sentence[rest.start..],
            &sentence[list[from].start..list[comma].end],
        ));
    }
    for at in 2..list.len() {
        if let Some(skip) = find_reason_marker(&list, at) {
            let start = list.get(at + skip)?.start;
            let body =
                sentence[..list[at].start].trim_end_matches(['(', '（', ' ', ',', '—', '–', '-']);
            let open = sentence[..list[at].start].trim_end().ends_with('(');
            let why = sentence[start..].trim();
            let why = if open {
                why.trim_end_matches(['.', ')'])
            } else {
                why
            };
            return Some((body, why));
        }
    }
    None
}

/// Whether "to keep .." says what was decided or wanted, not for which purpose.
fn is_verb_complement(list: &[StatementWord], to: usize) -> bool {
    const COMPLEMENT_VERBS: &str = "decide decided deciding agree agreed choose chose chosen opt opted resolve resolved want \
        wants wanted try tries trying tried need needs needed plan plans planned planning going have has had \
        remember like love prefer intend intended aim hope promise promised supposed meant ought expect expected \
        ask asked tell told sure careful able better best safer simpler easier important not never always how way";
    /// Who or when, between the verb and its complement.
    const BETWEEN_WORDS: &str =
        "with together yesterday today finally now again everyone everybody you us them me it";
    let before = &list[..to];
    let Some(verb) = before
        .iter()
        .rposition(|w| !w.quoted && is_in_list(&w.text, COMPLEMENT_VERBS))
    else {
        return false;
    };
    let between = &before[verb + 1..];
    let parted = before[verb..].iter().any(|w| w.after.is_some());
    !parted
        && (between.is_empty()
            || between.len() <= 4
                && is_in_list(&between[0].text, BETWEEN_WORDS)
                && (between.len() == 1 || between[0].text == "with"))
}

/// How many words to skip if a reason begins at `at`; `None` if none does.
fn find_reason_marker(list: &[StatementWord], at: usize) -> Option<usize> {
    let word = |i: usize| {
        list.get(at + i)
            .filter(|w| !w.quoted)
            .map_or("", |w| w.text.as_str())
    };
    let comma = list[at - 1].after.is_some();
    let (first, second) = (word(0), word(1));
    let goal = "avoid keep prevent ensure reduce save minimize minimise simplify";
    let better = "faster simpler easier cleaner safer cheaper";
    let purpose = match first {
        "so" => second == "that" || (comma && is_in_list(second, "we it you i they the there")),
        "to" => (comma || at > 3) && is_in_list(second, goal) && !is_verb_complement(list, at),
        "in" => second == "order" && word(2) == "to",
        "that" => comma && second == "way",
        "it's" | "they're" | "that's" => comma && is_in_list(second, better),
        "otherwise" | "sonst" => comma && !second.is_empty(),
        _ => false,
    };
    let cause = match first {
        "because" | "cause" | "cuz" | "bc" | "weil" | "porque" => !second.is_empty(),
        "since" => {
            let time = is_in_list(second, "then version v last yesterday")
                || second.starts_with(|c: char| c.is_ascii_digit());
            !second.is_empty() && !time && (comma || second != "the")
        }
        "as" => comma && is_in_list(second, "it we this that they there"),
        "denn" => comma && !second.is_empty(),
        _ => false,
    };
    let pair = matches!(
        (first, second),
        ("because", "of")
            | ("parce", "que" | "qu'il" | "qu'on")
            | ("due", "to")
            | ("given", "that")
    );
    if purpose {
        Some(0)
    } else if pair {
        Some(2)
    } else {
        cause.then_some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::split_reason;

    #[test]
    fn the_clause_behind_an_order_is_its_reason() {
        let cases = [
            (
                "keep the limit at 3, the upstream bans us",
                Some("the upstream bans us"),
            ),
            (
                "stay on node 18, the lambda layer isn't built for anything newer",
                Some("the lambda layer isn't built for anything newer"),
            ),
            (
                "pin numpy below 2, numba chokes on it",
                Some("numba chokes on it"),
            ),
            (
                "no retries on POST, they book it twice",
                Some("they book it twice"),
            ),
            (
                "wir bleiben bei Maven, Gradle kann hier keiner",
                Some("Gradle kann hier keiner"),
            ),
            ("use the api, the worker and the ui", None),
            ("keep the name, the date and the tags of every file", None),
            ("use tabs, not spaces", None),
            ("the name is hashed, the address is dropped", None),
            ("don't touch it, please", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(split_reason(text).1, wanted, "{text}");
        }
    }
}
