//! Weighs what a rule found in a sentence of a language written with spaces:
//! what makes it a question, a supposition, a step for now or an idle phrase.

use super::rules::{Need, Rule};
use super::words::{Word, among, words};
use super::{Hit, StatementKind, reason};

use StatementKind::{Correction, Decision, Preference};

/// Whether the sentence asks or supposes rather than states.
pub(super) fn asks(list: &[Word], sentence: &str) -> bool {
    const LEADS: &str = "so ok okay and but well hmm hey hi also then actually yes no please";
    const ASKING: &str = "could would can may might is are was were does did has am will isn't aren't \
        didn't doesn't shouldn't couldn't can't wouldn't what why how which who where what's how's why's \
        whose suppose supposing imagine maybe perhaps whether assuming possibly ideally explain tell \
        describe summarize summarise compare list show sollen sollten wenn falls warum wieso welche \
        welcher debemos deberíamos si cuál qué devrions pourquoi faut-il devons quel quelle est-ce";
    let ended = sentence.trim_end_matches(['"', '”', '*', ')', ' ', '!']);
    if ended.ends_with(['?', '？']) || sentence.starts_with('¿') {
        return true;
    }
    let skip = list.iter().take_while(|w| among(&w.text, LEADS)).count();
    let word = |at: usize| text(list, skip + at);
    match (word(0), word(1)) {
        ("should" | "shall", next) => !among(next, "be have"),
        ("do", next) => !among(next, "not always"),
        ("have", next) => among(next, "we you i they"),
        ("when", next) => among(next, "did do should was is will"),
        ("let", "me") | ("not", "sure") => true,
        ("i", next) => among(next, "wonder guess wondered wish"),
        ("i'm", next) => among(next, "not thinking wondering considering unsure"),
        (first, _) => among(first, ASKING),
    }
}

fn text(list: &[Word], at: usize) -> &str {
    list.get(at).map_or("", |w| w.text.as_str())
}

fn has(list: &[Word], wanted: &str) -> bool {
    list.iter().any(|w| !w.quoted && among(&w.text, wanted))
}

fn has_pair(list: &[Word], first: &str, second: &str) -> bool {
    list.windows(2)
        .any(|w| !w[0].quoted && among(&w[0].text, first) && among(&w[1].text, second))
}

/// Whether what was not chosen is named too.
fn contrasts(list: &[Word]) -> bool {
    if has_pair(list, "instead", "of") || has_pair(list, "rather", "than") {
        return true;
    }
    // "8080, not 3000"
    let aside = list.windows(2).enumerate().any(|(at, pair)| {
        pair[0].after.is_some_and(|c| ",—–(;".contains(c))
            && pair[1].text == "not"
            && at + 2 < list.len()
            && !among(
                text(list, at + 2),
                "only just sure a yet even necessarily to that",
            )
    });
    // "not 3000 but 8080"
    let turned = list
        .iter()
        .position(|w| among(&w.text, "not isn't aren't wasn't weren't"))
        .is_some_and(|at| {
            !among(text(list, at + 1), "only just")
                && list[at..].iter().skip(2).take(6).any(|w| w.text == "but")
                && !has_pair(list, "but", "i it we that the")
        });
    aside || turned
}

fn gives_reason(list: &[Word]) -> bool {
    has(list, "because since otherwise")
        || has_pair(list, "so", "that we it you callers the")
        || has_pair(list, "due", "to")
        || has_pair(list, "given", "that")
        || has_pair(list, "as", "it we they")
        || has_pair(list, "to", "avoid keep prevent ensure reduce")
}

/// Words about this moment: a step, not a rule.
fn is_about_now(list: &[Word]) -> bool {
    const THIS: &str = "time one once commit pr run step turn change branch file function test patch \
        session task ticket";
    (has(
        list,
        "yet now today tonight currently first anymore tomorrow",
    ) && !has_pair(list, "now", "on"))
        || has_pair(list, "this", THIS)
        || has_pair(list, "for", "now")
        || has_pair(
            list,
            "until",
            "i we you it the that this then i'm it's you're",
        )
        || has_pair(list, "right", "away")
}

/// A step or a look around; nobody needs to remember that it was chosen.
const LIGHT: &str = "look check read run rerun start begin investigate search inspect examine try see open \
    test verify take explore continue proceed review ask wait stop commit push revisit think talk discuss \
    dig trace grep find figure list going moving sure fun track progress work working it that this asking on \
    forward ahead back up nothing debug";

/// Verbs after "don't" that speak of the mind or of the moment.
const IDLE: &str = "worry forget know think understand see have need bother hesitate mind care get believe \
    remember say stop wait start panic feel seem even really want like exist work match mean pass compile \
    appear always fail do be give look try go agree recall trust hold";

/// What follows "always" or "never" when it tells what happens.
const TELLS: &str = "been had was seen happened the a got worked mind returned failed green true false get \
    see have hit end ends forget miss break do said works is are knew thought found nice good great fun happy glad";

/// Whether the rule holds for the whole sentence, and how surely.
pub(super) fn weigh(
    rule: &Rule,
    list: &[Word],
    start: usize,
    end: usize,
    next: Option<&str>,
) -> Option<Hit> {
    if supposes(rule, list, start) || is_spent(list, start, end) || doubts(list, end) {
        return None;
    }
    let rest = &list[end..];
    let after = text(list, end);
    let more = !is_pronoun_only(rest) && !among(after, "nothing");
    let mut announces = false;
    let holds = match rule.need {
        Need::Whole => !is_about_now(list),
        Need::More => more,
        Need::Label => more && list[end - 1].after.is_some_and(|c| ":—–".contains(c)),
        Need::Why => {
            let light = among(after, LIGHT) || among(text(list, end - 1), LIGHT);
            let follows = || next.is_some_and(|n| reason::follows(n).is_some());
            more && !light && (gives_reason(list) || contrasts(list) || follows())
        }
        Need::Lasting => lasting(list, start, end),
        Need::Weight => {
            let branch = among(after, "to") && has(list, "branch");
            // "chose to start" is as light as "start".
            let verb = if after == "to" {
                text(list, end + 1)
            } else {
                after
            };
            more && !among(verb, LIGHT) && !is_trial(list) && !branch
        }
        Need::Contrast => {
            let step = rule.kind == Decision && is_about_now(list);
            contrasts(&list[start..]) && rest.len() >= 2 && !is_trial(list) && !step
        }
        Need::Habit => {
            has_pair(list, "before after on with at", "every each any")
                && has(
                    list,
                    "commit change push merge release edit pr task session step response build commits \
                    changes pushing committing merging deploy",
                )
        }
        Need::Gone => gone(list, start, end),
        Need::Thing => gives_up_thing(list, start, end),
        Need::Fact => match fact(list, start, end, next) {
            Fact::Here => true,
            Fact::Next => {
                announces = true;
                true
            }
            Fact::None => false,
        },
    };
    holds.then(|| Hit {
        kind: rule.kind,
        confidence: rule.confidence + if contrasts(list) { 4 } else { 0 },
        announces,
    })
}

/// Whether the speaker is not sure of it either.
fn doubts(list: &[Word], end: usize) -> bool {
    let said = &list[..(end + 1).min(list.len())];
    has(
        said,
        "maybe perhaps probably might possibly could would've could've",
    ) || has_pair(said, "i", "think guess suppose assume")
}

/// Whether the clause hangs on an "if" or on someone's telling.
fn supposes(rule: &Rule, list: &[Word], start: usize) -> bool {
    const HANGS: &str = "after before once until when while as since because that if whether though although \
        what why how which where think believe assume like";
    let before = &list[..start];
    let hangs = before
        .last()
        .is_some_and(|w| w.after.is_none() && among(&w.text, HANGS));
    match rule.kind {
        // A rule may well be about a case: "if a test fails, never delete it".
        Preference => has(
            before,
            "whether suppose we'd would says said saying reads prints error message",
        ),
        Decision | Correction => {
            hangs
                || has(
                    before,
                    "if unless whether suppose until says said claims thought why what how where he she they",
                )
        }
    }
}

/// Set phrases that begin like a statement.
fn is_spent(list: &[Word], start: usize, end: usize) -> bool {
    const NO: &str = "problem problems worries need thanks idea rush changes matter one errors error issues luck \
        longer way doubt clue difference warnings output";
    const ACTUALLY: &str =
        "never nevermind nvm wait let's lets ignore forget yes scratch skip works";
    match (text(list, start), text(list, start + 1)) {
        ("never", next) => next == "mind",
        ("no", next) => among(next, NO) || (among(next, "more") && list.len() < start + 4),
        ("actually", next) => among(next, ACTUALLY),
        ("in", next) => next == "addition",
        _ => text(list, end) == "yet",
    }
}

fn is_pronoun_only(rest: &[Word]) -> bool {
    const EMPTY: &str = "it that this them those these one please then so here there again too now both all to do \
        done instead";
    rest.iter().all(|w| !w.quoted && among(&w.text, EMPTY))
}

/// A choice for the time being is a trial.
fn is_trial(list: &[Word]) -> bool {
    has(list, "try trying experiment") || has_pair(list, "and", "see")
}

fn lasting(list: &[Word], start: usize, end: usize) -> bool {
    let rest = &list[end..];
    let stressed = has(list, "always never ever");
    if is_pronoun_only(rest) || (is_about_now(list) && !stressed) {
        return false;
    }
    let first = text(list, start);
    let closing = text(list, end - 1);
    let after = text(list, end);
    let then = text(list, end + 1);
    if among(closing, "always never") {
        // "always fails" tells what happens, "always pass --locked" what to do.
        let third_person = after.ends_with('s') && !after.ends_with("ss");
        let past = after.ends_with("ed") && after.len() > 4 && !among(after, "embed need speed");
        return !(third_person || past || among(after, TELLS));
    }
    match first {
        "don't" | "dont" | "do" => {
            let pointing =
                among(then, "it that this them anything me him these those") && rest.len() < 5;
            !among(after, IDLE) && !pointing
        }
        "i" if among(closing, "hate dislike like want") => {
            !among(after, "this that the it how your these those")
        }
        "remember" => rest.len() >= 3,
        "we" | "i" if among(closing, "use write put follow name keep format indent") => {
            contrasts(list)
                || has(&list[..end], "only")
                || has(
                    list,
                    "here everywhere throughout conventional convention exclusively style",
                )
                || has_pair(list, "for", "all every")
        }
        "in" => has(
            &list[end - 1..],
            "we always never use should must don't only prefer all avoid keep write",
        ),
        _ => true,
    }
}

/// Whether something is given up: a tool, a habit, support for a thing.
fn gone(list: &[Word], start: usize, end: usize) -> bool {
    const CASE: &str =
        "when if whenever while once after before every each unless then during until";
    const HELD: &str = "table tables column columns database databases row rows connection connections packet \
        packets frame frames branch file tab window folder directory line";
    let rest = &list[end..];
    let closing = text(list, end - 1);
    // "not any more" closes what it is said of; everything else names it next.
    let named = among(closing, "anymore more") || !is_pronoun_only(rest);
    // Where something is not to be used is a rule for how to write, not a choice.
    let bare = text(list, start) != "stop" || rest.len() <= 3 && !has(rest, "in for on");
    // A way back leads to a page, a step or a state as well.
    let back = closing != "to" || !among(text(list, end), "the a this that step main master work");
    named && bare && back && !has(rest, CASE) && !has(&list[start..], HELD) && !is_about_now(rest)
}

/// Whether what is dropped or replaced is a tool or a way of working: named
/// alone, and said of the whole project. "Remove the unused import" is work.
fn gives_up_thing(list: &[Word], start: usize, end: usize) -> bool {
    const WHOLE: &str = "stuff thing things decision idea approach dependency library layer support integration stack";
    const OTHERS: &str = "use go write keep store switch move";
    const PARTS: &str = "import imports comment comments test tests file files function functions method methods \
        class classes field fields column columns table tables line lines page button section warning warnings \
        error errors readme changelog todo todos fixme fixmes endpoint endpoints variable variables \
        argument parameter type types log logs debug prefix suffix typo header headers tag tags whitespace";
    let located =
        |w: &Word| w.quoted || w.after == Some('(') || w.text.contains(['/', '_', '.', '#']);
    let rest = &list[end..];
    let clause = rest.iter().position(|w| w.after.is_some());
    let clause = &rest[..clause.map_or(rest.len(), |at| at + 1)];
    // "Move the parser from Lexer to Reader" moves a part of the code.
    let part = has(rest, PARTS)
        || has(&list[start..end], "the this that")
        || has_pair(rest, "in on under from", "the this that our");
    if part || rest.iter().any(located) || is_about_now(clause) {
        return false;
    }
    // The thing ends with its clause or where its successor is named.
    let follows = |at: usize| {
        let (word, next) = (text(rest, at), text(rest, at + 1));
        let other = word == "and" && among(next, OTHERS);
        let favor = word == "in" && among(next, "favor favour");
        other
            || favor
            || among(
                word,
                "with by everywhere entirely completely altogether instead again to",
            )
    };
    let ends = |at: &usize| *at == rest.len() || rest[*at - 1].after.is_some() || follows(*at);
    let Some(length) = (1..=rest.len().min(4)).find(ends) else {
        return false;
    };
    let thing = &rest[..length];
    let article = among(
        &thing[0].text,
        "the our this that these those all any a an my your it",
    );
    let whole = among(&thing[length - 1].text, WHOLE);
    let one = !has(thing, "from in on at of and or under into");
    let other = has(rest, "with by") || has_pair(rest, "and", OTHERS);
    let swapped = other && has(&rest[length..], "everywhere instead");
    let favored = has_pair(rest, "in", "favor favour");
    let named = thing.iter().any(|w| w.name) || swapped || favored;
    named && one && (whole || !article)
}

enum Fact {
    Here,
    Next,
    None,
}

/// Whether something is said to be so, here or in the next sentence.
fn fact(list: &[Word], start: usize, end: usize, next: Option<&str>) -> Fact {
    const STATES: &str = "is are was were isn't aren't should shouldn't must needs need has have it's that's \
        there's uses use means lives belongs returns expects takes runs comes goes called they're does doesn't \
        don't only not we're you're can't cannot will wants supports requires starts ends points wasn't happens \
        depends run live return expect take mean";
    let states = |words: &[Word]| words.len() >= 3 && has(words, STATES) && !is_pronoun_only(words);
    let first = text(list, start);
    let rest = &list[end..];
    let after = text(list, end);
    let alone = end == start + 1;
    if among(first, "no nope nah") && alone {
        // Without a pause "no" counts something.
        let step = among(
            after,
            "thanks please just go let's wait stop leave keep i'm i run it",
        );
        if list[start].after.is_none() || (step && !(after == "it" && states(rest))) {
            return Fact::None;
        }
    }
    if first == "actually" {
        let own = among(
            after,
            "i i'd i'll we we'll you please just that that's this",
        );
        if own && !has(rest, "should not isn't wrong") {
            return Fact::None;
        }
    }
    // After "that's wrong:" anything that follows is what is right.
    let pause = list[end - 1].after.is_some_and(|c| ",:;—–".contains(c));
    if states(rest) || (!alone && pause && rest.len() >= 3) {
        return Fact::Here;
    }
    let says = next
        .map(|n| (words(n), n))
        .is_some_and(|(list, n)| states(&list) && !asks(&list, n));
    let bare = rest.is_empty() || (rest.len() <= 3 && first != "actually" && !alone);
    if bare && says { Fact::Next } else { Fact::None }
}
