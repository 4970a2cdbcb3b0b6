//! Checks what a rule found in a sentence of a language written with spaces: it
//! may be a question, a supposition, a step for now or a set phrase.

use super::rules::{RuleNeed, StatementRule};
use super::words::{StatementWord, is_in_list, split_words};
use super::{RuleMatch, StatementKind, reason};

use StatementKind::{Correction, Decision, Preference};

/// Whether the sentence asks or supposes rather than states.
pub(super) fn is_question(list: &[StatementWord], sentence: &str) -> bool {
    const LEAD_WORDS: &str = "so ok okay and but well hmm hey hi also then actually yes no please";
    const QUESTION_WORDS: &str = "could would can may might is are was were does did has am will isn't aren't \
        didn't doesn't shouldn't couldn't can't wouldn't what why how which who where what's how's why's \
        whose suppose supposing imagine maybe perhaps whether assuming possibly ideally explain tell \
        describe summarize summarise compare list show sollen sollten wenn falls warum wieso welche \
        welcher debemos deberíamos si cuál qué devrions pourquoi faut-il devons quel quelle est-ce";
    let ended = sentence.trim_end_matches(['"', '”', '*', ')', ' ', '!']);
    if ended.ends_with(['?', '？']) || sentence.starts_with('¿') {
        return true;
    }
    let skip = list
        .iter()
        .take_while(|w| is_in_list(&w.text, LEAD_WORDS))
        .count();
    let word = |at: usize| word_text_at(list, skip + at);
    match (word(0), word(1)) {
        ("should" | "shall", next) => !is_in_list(next, "be have"),
        ("do", next) => !is_in_list(next, "not always"),
        ("have", next) => is_in_list(next, "we you i they"),
        ("when", next) => is_in_list(next, "did do should was is will"),
        ("let", "me") | ("not", "sure") => true,
        ("i", next) => is_in_list(next, "wonder guess wondered wish"),
        ("i'm", next) => is_in_list(next, "not thinking wondering considering unsure"),
        (first, _) => is_in_list(first, QUESTION_WORDS),
    }
}

fn word_text_at(list: &[StatementWord], at: usize) -> &str {
    list.get(at).map_or("", |w| w.text.as_str())
}

fn has_word(list: &[StatementWord], wanted: &str) -> bool {
    list.iter()
        .any(|w| !w.quoted && is_in_list(&w.text, wanted))
}

fn has_pair(list: &[StatementWord], first: &str, second: &str) -> bool {
    list.windows(2)
        .any(|w| !w[0].quoted && is_in_list(&w[0].text, first) && is_in_list(&w[1].text, second))
}

/// Whether the alternative that was not chosen is named too.
fn has_contrast(list: &[StatementWord]) -> bool {
    if has_pair(list, "instead", "of") || has_pair(list, "rather", "than") {
        return true;
    }
    // "8080, not 3000"
    let aside = list.windows(2).enumerate().any(|(at, pair)| {
        pair[0].after.is_some_and(|c| ",—–(;".contains(c))
            && pair[1].text == "not"
            && at + 2 < list.len()
            && !is_in_list(
                word_text_at(list, at + 2),
                "only just sure a yet even necessarily to that",
            )
    });
    // "not 3000 but 8080"
    let turned = list
        .iter()
        .position(|w| is_in_list(&w.text, "not isn't aren't wasn't weren't"))
        .is_some_and(|at| {
            !is_in_list(word_text_at(list, at + 1), "only just")
                && list[at..].iter().skip(2).take(6).any(|w| w.text == "but")
                && !has_pair(list, "but", "i it we that the")
        });
    aside || turned
}

fn gives_reason(list: &[StatementWord]) -> bool {
    has_word(list, "because since otherwise")
        || has_pair(list, "so", "that we it you callers the")
        || has_pair(list, "due", "to")
        || has_pair(list, "given", "that")
        || has_pair(list, "as", "it we they")
        || has_pair(list, "to", "avoid keep prevent ensure reduce")
}

/// Whether it is about this moment: a step, not a rule.
fn is_about_now(list: &[StatementWord]) -> bool {
    const THIS_NOUNS: &str = "time one once commit pr run step turn change branch file function test patch \
        session task ticket";
    (has_word(
        list,
        "yet now today tonight currently first anymore tomorrow",
    ) && !has_pair(list, "now", "on"))
        || has_pair(list, "this", THIS_NOUNS)
        || has_pair(list, "for", "now")
        || has_pair(
            list,
            "until",
            "i we you it the that this then i'm it's you're",
        )
        || has_pair(list, "right", "away")
}

/// Verbs of a step or a look around; that such a thing was chosen need not be
/// remembered.
const LIGHT_VERBS: &str = "look check read run rerun start begin investigate search inspect examine try see open \
    test verify take explore continue proceed review ask wait stop commit push revisit think talk discuss \
    dig trace grep find figure list going moving sure fun track progress work working it that this asking on \
    forward ahead back up nothing debug";

/// Verbs after "don't" that are about the mind or the moment.
const IDLE_VERBS: &str = "worry forget know think understand see have need bother hesitate mind care get believe \
    remember say stop wait start panic feel seem even really want like exist work match mean pass compile \
    appear always fail do be give look try go agree recall trust hold";

/// What follows "always" or "never" in a description of what happens.
const DESCRIPTION_WORDS: &str = "been had was seen happened the a got worked mind returned failed green true false get \
    see have hit end ends forget miss break do said works is are knew thought found nice good great fun happy glad";

/// Whether the rule holds for the whole sentence, and with which confidence.
pub(super) fn check_rule(
    rule: &StatementRule,
    list: &[StatementWord],
    start: usize,
    end: usize,
    next: Option<&str>,
) -> Option<RuleMatch> {
    if is_supposed(rule, list, start) || is_spent(list, start, end) || is_doubtful(list, end) {
        return None;
    }
    let rest = &list[end..];
    let after = word_text_at(list, end);
    let more = !is_pronoun_only(rest) && !is_in_list(after, "nothing");
    let mut announces = false;
    let holds = match rule.need {
        RuleNeed::Whole => !is_about_now(list),
        RuleNeed::More => more,
        RuleNeed::Label => more && list[end - 1].after.is_some_and(|c| ":—–".contains(c)),
        RuleNeed::Why => {
            let light = is_in_list(after, LIGHT_VERBS)
                || is_in_list(word_text_at(list, end - 1), LIGHT_VERBS);
            let follows = || next.is_some_and(|n| reason::find_following_reason(n).is_some());
            more && !light && (gives_reason(list) || has_contrast(list) || follows())
        }
        RuleNeed::Lasting => is_lasting(list, start, end),
        RuleNeed::Weight => {
            let branch = is_in_list(after, "to") && has_word(list, "branch");
            // "chose to start" is as light as "start".
            let verb = if after == "to" {
                word_text_at(list, end + 1)
            } else {
                after
            };
            more && !is_in_list(verb, LIGHT_VERBS) && !is_trial(list) && !branch
        }
        RuleNeed::Contrast => {
            let step = rule.kind == Decision && is_about_now(list);
            has_contrast(&list[start..]) && rest.len() >= 2 && !is_trial(list) && !step
        }
        RuleNeed::Habit => {
            has_pair(list, "before after on with at", "every each any")
                && has_word(
                    list,
                    "commit change push merge release edit pr task session step response build commits \
                    changes pushing committing merging deploy",
                )
        }
        RuleNeed::Gone => is_given_up(list, start, end),
        RuleNeed::Thing => gives_up_thing(list, start, end),
        RuleNeed::Fact => match find_fact(list, start, end, next) {
            FactLocation::Here => true,
            FactLocation::Next => {
                announces = true;
                true
            }
            FactLocation::None => false,
        },
    };
    holds.then(|| RuleMatch {
        kind: rule.kind,
        confidence: rule.confidence + if has_contrast(list) { 4 } else { 0 },
        announces,
    })
}

/// Whether the speaker is not sure of it.
fn is_doubtful(list: &[StatementWord], end: usize) -> bool {
    let said = &list[..(end + 1).min(list.len())];
    has_word(
        said,
        "maybe perhaps probably might possibly could would've could've",
    ) || has_pair(said, "i", "think guess suppose assume")
}

/// Whether the clause depends on an "if" or reports what someone said.
fn is_supposed(rule: &StatementRule, list: &[StatementWord], start: usize) -> bool {
    const SUBORDINATING_WORDS: &str = "after before once until when while as since because that if whether though although \
        what why how which where think believe assume like";
    let before = &list[..start];
    let hangs = before
        .last()
        .is_some_and(|w| w.after.is_none() && is_in_list(&w.text, SUBORDINATING_WORDS));
    match rule.kind {
        // A rule may well be about a case: "if a test fails, never delete it".
        Preference => has_word(
            before,
            "whether suppose we'd would says said saying reads prints error message",
        ),
        Decision | Correction => {
            hangs
                || has_word(
                    before,
                    "if unless whether suppose until says said claims thought why what how where he she they",
                )
        }
    }
}

/// Set phrases that begin like a statement.
fn is_spent(list: &[StatementWord], start: usize, end: usize) -> bool {
    const NO_PHRASE_NOUNS: &str = "problem problems worries need thanks idea rush changes matter one errors error issues luck \
        longer way doubt clue difference warnings output";
    const ACTUALLY_FOLLOWERS: &str =
        "never nevermind nvm wait let's lets ignore forget yes scratch skip works";
    match (word_text_at(list, start), word_text_at(list, start + 1)) {
        ("never", next) => next == "mind",
        ("no", next) => {
            is_in_list(next, NO_PHRASE_NOUNS)
                || (is_in_list(next, "more") && list.len() < start + 4)
        }
        ("actually", next) => is_in_list(next, ACTUALLY_FOLLOWERS),
        ("in", next) => next == "addition",
        _ => word_text_at(list, end) == "yet",
    }
}

fn is_pronoun_only(rest: &[StatementWord]) -> bool {
    const PRONOUN_WORDS: &str = "it that this them those these one please then so here there again too now both all to do \
        done instead";
    rest.iter()
        .all(|w| !w.quoted && is_in_list(&w.text, PRONOUN_WORDS))
}

/// Whether it is a trial, which is no lasting choice.
fn is_trial(list: &[StatementWord]) -> bool {
    has_word(list, "try trying experiment") || has_pair(list, "and", "see")
}

fn is_lasting(list: &[StatementWord], start: usize, end: usize) -> bool {
    let rest = &list[end..];
    let stressed = has_word(list, "always never ever");
    if is_pronoun_only(rest) || (is_about_now(list) && !stressed) {
        return false;
    }
    let first = word_text_at(list, start);
    let closing = word_text_at(list, end - 1);
    let after = word_text_at(list, end);
    let then = word_text_at(list, end + 1);
    if is_in_list(closing, "always never") {
        // "always fails" tells what happens, "always pass --locked" what to do.
        let third_person = after.ends_with('s') && !after.ends_with("ss");
        let past =
            after.ends_with("ed") && after.len() > 4 && !is_in_list(after, "embed need speed");
        return !(third_person || past || is_in_list(after, DESCRIPTION_WORDS));
    }
    match first {
        "don't" | "dont" | "do" => {
            let pointing =
                is_in_list(then, "it that this them anything me him these those") && rest.len() < 5;
            !is_in_list(after, IDLE_VERBS) && !pointing
        }
        "i" if is_in_list(closing, "hate dislike like want") => {
            !is_in_list(after, "this that the it how your these those")
        }
        "remember" => rest.len() >= 3,
        "we" | "i" if is_in_list(closing, "use write put follow name keep format indent") => {
            has_contrast(list)
                || has_word(&list[..end], "only")
                || has_word(
                    list,
                    "here everywhere throughout conventional convention exclusively style",
                )
                || has_pair(list, "for", "all every")
        }
        "in" => has_word(
            &list[end - 1..],
            "we always never use should must don't only prefer all avoid keep write",
        ),
        _ => true,
    }
}

/// Whether something is given up: a tool, a habit, support for a thing.
fn is_given_up(list: &[StatementWord], start: usize, end: usize) -> bool {
    const CASE_WORDS: &str =
        "when if whenever while once after before every each unless then during until";
    const CONTAINER_NOUNS: &str = "table tables column columns database databases row rows connection connections packet \
        packets frame frames branch file tab window folder directory line";
    let rest = &list[end..];
    let closing = word_text_at(list, end - 1);
    // "not any more" follows what it is about; all other phrases name it next.
    let named = is_in_list(closing, "anymore more") || !is_pronoun_only(rest);
    // "Stop using X in tests" is a rule about tests, it does not give X up.
    let bare =
        word_text_at(list, start) != "stop" || rest.len() <= 3 && !has_word(rest, "in for on");
    // "Back to the main page" returns to a place, not to an earlier choice.
    let back = closing != "to"
        || !is_in_list(
            word_text_at(list, end),
            "the a this that step main master work",
        );
    named
        && bare
        && back
        && !has_word(rest, CASE_WORDS)
        && !has_word(&list[start..], CONTAINER_NOUNS)
        && !is_about_now(rest)
}

/// Whether what is dropped or replaced is a tool or a way of working: named
/// alone, and said of the whole project. "Remove the unused import" is work.
fn gives_up_thing(list: &[StatementWord], start: usize, end: usize) -> bool {
    const WHOLE_NOUNS: &str = "stuff thing things decision idea approach dependency library layer support integration stack";
    const SUCCESSOR_VERBS: &str = "use go write keep store switch move";
    const CODE_PART_NOUNS: &str = "import imports comment comments test tests file files function functions method methods \
        class classes field fields column columns table tables line lines page button section warning warnings \
        error errors readme changelog todo todos fixme fixmes endpoint endpoints variable variables \
        argument parameter type types log logs debug prefix suffix typo header headers tag tags whitespace";
    let located = |w: &StatementWord| {
        w.quoted || w.after == Some('(') || w.text.contains(['/', '_', '.', '#'])
    };
    let rest = &list[end..];
    let clause = rest.iter().position(|w| w.after.is_some());
    let clause = &rest[..clause.map_or(rest.len(), |at| at + 1)];
    // "Move the parser from Lexer to Reader" moves a part of the code.
    let part = has_word(rest, CODE_PART_NOUNS)
        || has_word(&list[start..end], "the this that")
        || has_pair(rest, "in on under from", "the this that our");
    if part || rest.iter().any(located) || is_about_now(clause) {
        return false;
    }
    // The thing ends with its clause or where its successor is named.
    let follows = |at: usize| {
        let (word, next) = (word_text_at(rest, at), word_text_at(rest, at + 1));
        let other = word == "and" && is_in_list(next, SUCCESSOR_VERBS);
        let favor = word == "in" && is_in_list(next, "favor favour");
        other
            || favor
            || is_in_list(
                word,
                "with by everywhere entirely completely altogether instead again to",
            )
    };
    let ends = |at: &usize| *at == rest.len() || rest[*at - 1].after.is_some() || follows(*at);
    let Some(length) = (1..=rest.len().min(4)).find(ends) else {
        return false;
    };
    let thing = &rest[..length];
    let article = is_in_list(
        &thing[0].text,
        "the our this that these those all any a an my your it",
    );
    let whole = is_in_list(&thing[length - 1].text, WHOLE_NOUNS);
    let one = !has_word(thing, "from in on at of and or under into");
    let other = has_word(rest, "with by") || has_pair(rest, "and", SUCCESSOR_VERBS);
    let swapped = other && has_word(&rest[length..], "everywhere instead");
    let favored = has_pair(rest, "in", "favor favour");
    let named = thing.iter().any(|w| w.name) || swapped || favored;
    named && one && (whole || !article)
}

enum FactLocation {
    Here,
    Next,
    None,
}

/// Where it is stated that something is so: here or in the next sentence.
fn find_fact(list: &[StatementWord], start: usize, end: usize, next: Option<&str>) -> FactLocation {
    const STATING_WORDS: &str = "is are was were isn't aren't should shouldn't must needs need has have it's that's \
        there's uses use means lives belongs returns expects takes runs comes goes called they're does doesn't \
        don't only not we're you're can't cannot will wants supports requires starts ends points wasn't happens \
        depends run live return expect take mean";
    let states = |words: &[StatementWord]| {
        words.len() >= 3 && has_word(words, STATING_WORDS) && !is_pronoun_only(words)
    };
    let first = word_text_at(list, start);
    let rest = &list[end..];
    let after = word_text_at(list, end);
    let alone = end == start + 1;
    if is_in_list(first, "no nope nah") && alone {
        // Without a pause "no" belongs to a noun: "no errors".
        let step = is_in_list(
            after,
            "thanks please just go let's wait stop leave keep i'm i run it",
        );
        if list[start].after.is_none() || (step && !(after == "it" && states(rest))) {
            return FactLocation::None;
        }
    }
    if first == "actually" {
        let own = is_in_list(
            after,
            "i i'd i'll we we'll you please just that that's this",
        );
        if own && !has_word(rest, "should not isn't wrong") {
            return FactLocation::None;
        }
    }
    // After "that's wrong:" whatever follows is the correction.
    let pause = list[end - 1].after.is_some_and(|c| ",:;—–".contains(c));
    if states(rest) || (!alone && pause && rest.len() >= 3) {
        return FactLocation::Here;
    }
    let says = next
        .map(|n| (split_words(n), n))
        .is_some_and(|(list, n)| states(&list) && !is_question(&list, n));
    let bare = rest.is_empty() || (rest.len() <= 3 && first != "actually" && !alone);
    if bare && says {
        FactLocation::Next
    } else {
        FactLocation::None
    }
}
