//! The words by which headings and sentences of a message are classified.

use crate::sentence;

/// The list of a summary that an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryTopic {
    Completed,
    Learned,
    Next,
    Note,
}

const NEXT_HEADINGS: &str = "\
next|todo|to do|to-do|remaining|follow-up|follow up|followup|left to do|what's left\
|what is left|not done|not yet|outstanding|still open|open items|open points\
|open questions|pending|still to|unfinished|recommend|suggested|not implemented\
|still missing|still failing|you may want|you might want|you can|you should|you'll need\
|you need to|to finish|deferred|下一步|待办|后续|剩余|未完成|接下来|尚未|待处理|遗留|建议|还需要|还没|nächste schritte\
|offen|próximos pasos|pendiente|prochaines étapes|reste à faire|次のステップ|残り|今後";
const LEARNED_HEADINGS: &str = "\
finding|root cause|cause|what i found|what i learned|why it|why this|analysis|diagnosis\
|the problem|problem|issue|bug|问题|what went wrong|what happened|explanation|key insight|how it works\
|results of the investigation|the issue|the bug|observations|原因|发现|分析|结论|根因|问题所在|根本原因\
|ursache|causa|原因は";
const NOTE_HEADINGS: &str = "\
note|caveat|warning|limitation|known issue|assumption|heads up|heads-up|be aware\
|important|risks|trade-off|tradeoff|breaking|things to know|worth knowing|注意|说明|限制|备注|风险\
|提示|hinweis|nota|remarque";
const DONE_HEADINGS: &str = "\
done|complete|changes|what i did|what i changed|what changed|what was done|i've made\
|i made|i changed|implemented|fixed|added|updated|the fix|fixes|fix|modified|accomplished\
|summary of changes|what's new|delivered|verified|verification|tests|test results|i've\
|i added|i did|removed|refactored|created|已完成|完成|修改|改动|变更|修复|新增|实现|验证|测试|做了|erledigt\
|änderungen|hecho|cambios|fait|完了|変更";

/// The topic that a heading, or a line that ends with a colon, announces.
pub(super) fn of_heading(heading: &str) -> Option<EntryTopic> {
    let lower = heading.to_lowercase().replace('’', "'");
    let lower = lower.trim_matches(|c: char| !c.is_alphanumeric());
    if lower.chars().count() > 80 {
        return None;
    }
    // Open work is tested first: "not done" also contains "done".
    let named = |words: &str| words.split('|').any(|w| begins_word(lower, w));
    if named(NEXT_HEADINGS) {
        Some(EntryTopic::Next)
    } else if named(NOTE_HEADINGS) {
        Some(EntryTopic::Note)
    } else if named(LEARNED_HEADINGS) {
        Some(EntryTopic::Learned)
    } else if named(DONE_HEADINGS) {
        Some(EntryTopic::Completed)
    } else {
        None
    }
}

/// Words of a label without which the text after it says something else: "Fixed:
/// the header was skipped" does not mean that it is skipped.
const QUALIFYING_WORDS: &str = "\
fixed|fix|fixes|bugfix|failed|failing|reverted|removed|dropped|deleted|restored|disabled|rejected|skipped\
|deferred|added|created|replaced|renamed";
/// The same for a label of only a few words.
const SHORT_QUALIFYING_WORDS: &str =
    "not|no|never|longer|instead|only|until|except|unless|without|fails|revert|undone";
const WIDE_QUALIFYING_WORDS: &str = "修复|移除|删除|新增|回滚|撤销|未|没|不";

/// What a label adds to the lines below it, if they mean something else without it:
/// the label itself, or only that word if the label is a sentence.
pub(super) fn turning_label(label: &str) -> Option<String> {
    const MAX_LABEL_WORDS: usize = 3;
    let label = label.trim_matches(|c: char| !c.is_alphanumeric());
    if WIDE_QUALIFYING_WORDS
        .split('|')
        .any(|word| label.contains(word))
    {
        return Some(label.to_owned());
    }
    let words: Vec<&str> = label.split_whitespace().collect();
    let turning = |list: &str| {
        let is_in = |word: &&&str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            list.split('|')
                .any(|known| known.eq_ignore_ascii_case(word))
        };
        words.iter().find(is_in)
    };
    if words.len() <= MAX_LABEL_WORDS {
        let is_turning = turning(QUALIFYING_WORDS)
            .or_else(|| turning(SHORT_QUALIFYING_WORDS))
            .is_some();
        return is_turning.then(|| label.to_owned());
    }
    turning(QUALIFYING_WORDS).map(|word| super::capitalise_first(word))
}

/// Whether a line says by itself what was done, and needs no label.
pub(super) fn tells_deed(text: &str) -> bool {
    let lower = text.to_lowercase();
    tells_done(lower.trim_start_matches(|c: char| !c.is_alphanumeric()))
}

/// Whether `word` occurs at the beginning of a word of the text.
fn begins_word(text: &str, word: &str) -> bool {
    let wide = word.chars().any(sentence::is_wide);
    text.match_indices(word).any(|(at, _)| {
        wide || (!text[..at]
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric)
            && text[at + word.len()..]
                .chars()
                .take_while(|c| c.is_alphanumeric())
                .count()
                <= 2)
    })
}

const NEXT_STARTS: &str = "\
next,|next step|next:|next up|todo|remaining|still to do|still open|still need\
|what remains|what's left|the remaining|left to do|as a follow-up|follow-up|not yet \
|you may want|you might want|you'll want|you will want|you'll need|you will need\
|you should|you still need|you need to|you'll have to|you can now|consider |i'd suggest\
|i would suggest|i suggest|i'd recommend|i recommend|i would recommend|would you like me\
|want me to|shall i|should i|do you want me|i did not |i didn't|i haven't|i have not\
|i couldn't|i could not|i wasn't able|i was not able|i was unable|i left|i skipped\
|we still need|it remains to|one thing left|the next step|pending:|not done|下一步|接下来|还需要|尚未\
|还没有|还没|后续|剩余|未完成|建议|需要你|你可以|您可以|待办|要不要我|需要我|我没有|没有实现|暂未|仍需|仍然需要|目前还|还剩|als nächstes\
|noch offen|queda pendiente|il reste|次に|まだ";
const NOTE_STARTS: &str = "\
note that|note:|notes:|please note|one caveat|caveat|warning|be aware|keep in mind\
|important:|heads up|heads-up|one thing to note|worth noting|it's worth noting|beware\
|a caveat|one note|bear in mind|known limitation|limitation:|注意|请注意|需要注意|警告|值得注意|提醒|注：|说明：\
|要注意|hinweis|beachte|ten en cuenta|à noter|なお";
const DONE_VERBS: &str = "\
added|fixed|implemented|updated|created|removed|refactored|renamed|moved|wrote|written\
|replaced|changed|extended|deleted|introduced|split|migrated|upgraded|bumped|cleaned\
|merged|committed|pushed|wired|extracted|converted|documented|tested|verified|ran|rewrote\
|rewritten|switched|made|built|set|configured|installed|reverted|corrected|resolved\
|simplified|reworked|completed|finished|enabled|disabled|adjusted|improved|ported\
|published|released|deployed|restored|hardened|patched|dropped|consolidated|generated\
|formatted|registered|exposed|tightened|cached|covered|applied|raised|lowered|rebased\
|squashed|tagged|confirmed|reproduced|profiled|reduced|increased|inlined|deduplicated\
|marked|mocked|pinned|regenerated|scaffolded|sorted|validated|wrapped";
const DONE_STARTS: &str = "\
all tests pass|all tests now pass|tests pass|all the tests pass|the tests pass\
|all checks pass|done:|done.|done —|done -|everything passes|the build passes\
|the full suite passes|the test suite passes|clippy is clean|已|完成了|修复了|添加了|新增了|实现了|更新了|删除了\
|重构了|重命名|替换了|我把|我已|我修复|我添加|我新增|我实现|我更新|我删除|我重构|全部测试通过|所有测试|测试全部通过|测试通过|现在已|改为了|优化了|移除了|增加了\
|补充了|将|提交了|ich habe|he añadido|he corregido|he actualizado|j'ai ajouté|j'ai corrigé\
|j'ai mis|追加しました|修正しました";
const LEARNED_STARTS: &str = "\
turns out|it turns out|it turned out|the cause|the root cause|root cause|the reason\
|the problem|the issue|the bug|the culprit|the failure|the error|the crash|i found\
|i noticed|i discovered|i see that|this happened because|this happens because\
|this is because|this was caused|that's because|that is because|it fails because\
|it failed because|we found|the key insight|the underlying|the real cause|the actual|原因\
|问题在于|问题出在|问题是|根因|根本原因|发现|我发现|经排查|排查发现|这是因为|是因为|由于|真正的原因|die ursache|la causa|la cause|原因は";
const LEARNED_PHRASES: &str = "\
 was caused by | is caused by | were caused by | because | due to | comes from \
| came from | stems from | turned out | the cause was | the cause is | root cause |，因为|导致\
|的原因是|是由于|是因为";

/// The topic of a sentence of running text, if it shows.
pub(super) fn of_sentence(text: &str) -> Option<EntryTopic> {
    let lower = text
        .chars()
        .take(240)
        .collect::<String>()
        .to_lowercase()
        .replace('’', "'");
    let lower = without_nod(lower.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let starts = |list: &str| list.split('|').any(|s| lower.starts_with(s));
    if starts(NOTE_STARTS) {
        return Some(EntryTopic::Note);
    }
    if starts(NEXT_STARTS)
        || lower.contains(" still needs ")
        || lower.contains(" is still open")
        || lower.contains(" not yet ")
        || lower.contains("want me to ")
    {
        return Some(EntryTopic::Next);
    }
    if text.ends_with(['?', '？']) {
        return None;
    }
    if starts(LEARNED_STARTS) {
        return Some(EntryTopic::Learned);
    }
    if starts(DONE_STARTS) || tells_done(lower) {
        return Some(EntryTopic::Completed);
    }
    LEARNED_PHRASES
        .split('|')
        .any(|w| lower.contains(w))
        .then_some(EntryTopic::Learned)
}

/// Whether a sentence only reports a red run of tests, a build or another check.
/// That is a state of the moment, not something found out or done; with a reason or
/// a fix it would be.
pub(crate) fn reports_red_run(text: &str) -> bool {
    const FAILURE_WORDS: &str = "fail|fails|failed|failing|failure|failures|red|broken";
    const RUN_WORDS: &str = "test|tests|suite|suites|build|builds|check|checks|ci|pipeline|lint|clippy|spec|specs|job|jobs|run";
    const EXPLANATION_WORDS: &str = "\
because|since|caused|cause|due|fixed|fix|fixes|no|none|not|never|longer|without|pass|passes|green|why|if\
|when|would|could|should|so|instead|reverted|unless|until|0|first|before|expected|every|always";
    if !text.is_ascii() && text.chars().any(sentence::is_wide) {
        let has = |word: &str| text.contains(word);
        return has("测试")
            && has("失败")
            && !["修复", "通过", "因为", "原因", "由于", "导致"]
                .into_iter()
                .any(has);
    }
    let lower = text.to_lowercase();
    // Most sentences contain none of these, and splitting one into words costs more.
    if !["fail", "red", "broken"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return false;
    }
    let lower = lower.replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |list: &str| {
        words
            .iter()
            .any(|word| list.split('|').any(|known| known == *word))
    };
    let counted = words.windows(2).any(|pair| {
        pair[0].bytes().all(|b| b.is_ascii_digit())
            && matches!(pair[1], "failed" | "failing" | "failures")
    });
    has(FAILURE_WORDS)
        && (counted || has(RUN_WORDS))
        && !has(EXPLANATION_WORDS)
        && !lower.contains("n't ")
}

/// The text without a word of assent at the front.
fn without_nod(lower: &str) -> &str {
    [
        "好的，",
        "好，",
        "ok, ",
        "okay, ",
        "yes, ",
        "great, ",
        "sure, ",
        "done! ",
        "ok: ",
    ]
    .iter()
    .find_map(|nod| lower.strip_prefix(nod))
    .unwrap_or(lower)
}

/// Whether a sentence only announces a finding, which is in the next one.
pub(super) fn announces_finding(text: &str) -> bool {
    let lower = text.to_lowercase();
    let found = [
        "i found the",
        "found the",
        "found it",
        "i found it",
        "i see the",
        "i've found",
        "找到原因了",
        "找到问题了",
        "已找到",
        "我找到了",
    ];
    text.chars().count() < 32 && found.iter().any(|f| lower.starts_with(f))
}

/// The topic of a list item whose own words contradict its list, such as a "not
/// done" among what was done.
pub(super) fn find_topic_override(text: &str) -> Option<EntryTopic> {
    let lower = text.trim_start().to_lowercase();
    if [
        "todo",
        "not yet",
        "not done",
        "still open",
        "❌",
        "🔲",
        "⏳",
        "待办",
        "未完成",
        "尚未",
    ]
    .iter()
    .any(|s| lower.starts_with(s))
    {
        return Some(EntryTopic::Next);
    }
    None
}

/// "I've added ..", "Fixed ..", "The parser now handles ..", "X is fixed".
fn tells_done(lower: &str) -> bool {
    let mut words = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':'))
        .filter(|w| !w.is_empty())
        .skip_while(|w| {
            matches!(
                *w,
                "done"
                    | "then"
                    | "also"
                    | "and"
                    | "finally"
                    | "ok"
                    | "first"
                    | "next"
                    | "so"
                    | "great"
            )
        });
    let mut first = words.next().unwrap_or_default();
    let own = matches!(first, "i" | "i've" | "we" | "we've");
    if own {
        first = words.next().unwrap_or_default();
        while matches!(
            first,
            "have" | "also" | "just" | "now" | "then" | "successfully"
        ) {
            first = words.next().unwrap_or_default();
        }
    }
    if DONE_VERBS.split('|').any(|verb| verb == first) {
        return true;
    }
    if own || matches!(first, "if" | "when" | "unless" | "once") {
        return false;
    }
    let now = lower.contains(" now ") && !lower.contains(" not ") && !lower.contains("n't ");
    let finished = [
        " is fixed",
        " are fixed",
        " is done",
        " is complete",
        " is in place",
        " has been ",
        " have been ",
        " tests pass",
        " all pass",
        " passes.",
        " pass.",
        " were added",
        " was added",
        " are in place",
        " is ready",
    ]
    .iter()
    .any(|p| lower.contains(p));
    (now || finished) && !lower.contains(" not been ")
}
