//! Sentences in Chinese, and the clearest forms of Japanese: there are no spaces, so
//! clauses are found by punctuation and rules are matched at the front of each.

use super::{RuleMatch, Speaker, StatementKind};
use crate::sentence::strip_markup;

use StatementKind::{Correction, Decision, Preference};

/// Introductory words, the longer ones first.
const LEAD_WORDS: &str = "好的 好吧 那么 所以 但是 不过 另外 还有 对了 然后 而且 同时 因此 我们 咱们 大家 团队 你们 最终 最后 还是 已经 今天 \
    后来 经过讨论 综合考虑 讨论后 商量后 权衡后 麻烦 一致 统统 千万 绝对 一定 这里 这个项目 项目里 项目中 本项目 代码里 代码中 明确 注意 \
    记住 现在 要求 希望 需要 以及 并且 因为 之前 好 那 嗯 行 我 咱 你 您 就 已 也 都 请 再";

/// Sentences with these ask, suppose or leave open.
const OPEN_QUESTION_WORDS: &str = "吗 是不是 要不要 能不能 是否 怎么 为什么 为何 如何 什么 哪个 哪些 哪里 谁 假如 假设 要是 万一 也许 或许 可能 \
    还没决定 尚未决定 没有决定 没决定 未决定 取决于 决定权 决定因素 决定性 决定不了 待定 多少 好不好 行不行 可不可以 对不对 会不会 \
    有没有 解释一下 查一下 报错： 报错: 提示： 错误： 错误信息";

/// Words about the moment: a step, not a rule.
const NOW_WORDS: &str = "先 现在 这次 暂时 目前 今天 待会 马上 这一步 此次 本次 还 急 担心 忘";

const DECISION_WORDS: &str = "决定 采用 选用 选择 选定 选了 敲定 就用 还是用 改用 沿用 放弃 不再使用 不再支持 不再用 确定用 确定使用 定为 定下来 \
    用回 坚持用 继续用 继续使用 弃用";
/// Anywhere in a sentence these are a decision.
const SURE_DECISION_PHRASES: &str = "我们决定 最终决定 最后决定 最终选择 最后选择 最终选定 我决定 已决定 决定采用 决定使用 决定用 一致同意 我们采用 我们选用 我们选择 我们改用 ことにした \
    ことにします ことにしました ことに決め を採用しま";
/// A look around or a trial is no choice.
const TRIAL_PHRASES: &str = "试试 试一下 先看 看一下 看看 先检查 先运行 先查";
const PREFERENCE_WORDS: &str = "以后 今后 从现在起 从现在开始 从今以后 从今往后 始终 总是 永远 一律 务必 每次 更喜欢 喜欢 偏好 更倾向 倾向于 \
    习惯用 不喜欢 讨厌 不希望 不想看到 优先用 优先使用 优先考虑 优先 尽量 避免使用 避免 只用 只能用 统一用 统一使用 统一采用 默认用 默认使用 \
    必须 提交前 提交代码前 禁止 请勿 切勿 不准 不许 严禁 所有 今後は 必ず 常に これからは";
const PROHIBITION_WORDS: &str = "不要 不应该 不能 不可以 别";
/// Anywhere in a sentence these state a rule.
const SURE_RULE_PHRASES: &str = "请始终 请总是 请务必 以后都 以后请 以后不要 以后别 永远不要 请用中文 请用英文 用中文回复 用中文回答 用英文回复 \
    用英文回答 一律用 一律使用 一律不 一律放 统一放 统一用 统一使用 统一采用 里不要 中不要 内不要 时不要 里别用 里禁止 中禁止 里必须 中必须 しないでください \
    してはいけません 使わないで";
const CORRECTION_WORDS: &str = "不对 错了 不是 其实 实际上 事实上 更正 纠正 说的是 说的不是 指的是 要的是 的意思是 的意思不是 漏了 漏掉 忘了 \
    忘记 误解 忽略了 遗漏 误会 混淆 应该是 正确的 いや 違います 違う 正しくは そうじゃなく";
/// After 你 or 我 these blame someone.
const MISTAKE_PHRASES: &str = "搞反了 弄反了 搞错了 弄错了 理解错了 看错了 写错了 记错了 改错了 搞混了 说错了 理解有误 写反了";

fn split_list(words: &'static str) -> impl Iterator<Item = &'static str> {
    words.split_ascii_whitespace()
}

fn any_in(text: &str, words: &'static str) -> bool {
    split_list(words).any(|w| text.contains(w))
}

/// The word of the list that the text begins with, the longest if several do.
fn front_word(text: &str, words: &'static str) -> Option<&'static str> {
    split_list(words)
        .filter(|w| text.starts_with(w))
        .max_by_key(|w| w.len())
}

/// The number of letters and digits.
fn count_letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

fn split_clauses(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split(['，', ',', '：', ':', '、', '—', '。', '！', '(', '（'])
        .map(|c| c.trim_matches(|c: char| c.is_whitespace() || "*_#-".contains(c)))
        .filter(|c| !c.is_empty())
}

/// The clause, and what remains of it as introductory words are removed one by one.
fn list_fronts(clause: &str) -> Vec<&str> {
    let mut all = vec![clause];
    let mut rest = clause;
    while let Some(lead) = split_list(LEAD_WORDS).find(|l| rest.starts_with(l)) {
        rest = rest[lead.len()..].trim_start();
        all.push(rest);
        if all.len() > 8 {
            break;
        }
    }
    all
}

/// The sentence without introductory words.
pub(super) fn without_lead(text: &str) -> &str {
    const DROPPED_LEADS: &str =
        "好的 好吧 好 嗯 行 可以 对了 那么 不过 另外 明白 收到 不 はい いや";
    const PAUSE_MARKS: [char; 5] = ['，', ',', '。', '、', ' '];
    let mut rest = text;
    while let Some(lead) = split_list(DROPPED_LEADS).find(|l| {
        rest.strip_prefix(l)
            .is_some_and(|r| r.starts_with(&PAUSE_MARKS[..4]))
    }) {
        rest = rest[lead.len()..].trim_start_matches(PAUSE_MARKS);
    }
    rest
}

/// The best rule that matches the sentence.
pub(super) fn find_best_hit(
    sentence: &str,
    next: Option<&str>,
    speaker: Speaker,
) -> Option<RuleMatch> {
    let all = strip_markup(&without_quoted(sentence));
    if sentence.trim_end().ends_with(['?', '？'])
        || all.ends_with(['呢', 'か'])
        || any_in(&all, OPEN_QUESTION_WORDS)
    {
        return None;
    }
    // A rule may be about a case ("if .."); a decision that depends on one is not made
    // yet.
    let case = all.contains("如果");
    let mut hits: Vec<RuleMatch> = Vec::new();
    if !case {
        if any_in(&all, SURE_DECISION_PHRASES) && !any_in(&all, TRIAL_PHRASES) {
            hits.push(new_hit(Decision, 84));
        }
        hits.extend(match_contrast(&all, speaker));
        hits.extend(match_mistake(&all, speaker));
    }
    if speaker == Speaker::User
        && any_in(&all, SURE_RULE_PHRASES)
        && !any_in(&all, "现在 这次 暂时")
    {
        hits.push(new_hit(Preference, 82));
    }
    for clause in split_clauses(&all) {
        for front in list_fronts(clause) {
            if !case {
                hits.extend(match_decision(front, &all, speaker));
                hits.extend(given_up(front, &all, speaker));
                hits.extend(match_correction(front, &all, next, speaker));
            }
            hits.extend(match_preference(front, &all, speaker));
        }
    }
    // Of equal ones the first: later clauses only add to it.
    hits.into_iter()
        .reduce(|a, b| if b.confidence > a.confidence { b } else { a })
}

/// The sentence with a placeholder for each quotation or code span.
fn without_quoted(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut end: Option<char> = None;
    for (at, c) in sentence.char_indices() {
        match (end, c) {
            (Some(e), c) if c == e => end = None,
            (Some(_), _) => {}
            (None, '`' | '"' | '“' | '「' | '『') => {
                let close = match c {
                    '“' => '”',
                    '「' => '」',
                    '『' => '』',
                    c => c,
                };
                if sentence[at + c.len_utf8()..].contains(close) {
                    end = Some(close);
                    out.push('X');
                }
            }
            (None, c) => out.push(c),
        }
    }
    out
}

fn new_hit(kind: StatementKind, confidence: u8) -> RuleMatch {
    RuleMatch {
        kind,
        confidence,
        announces: false,
    }
}

fn match_decision(front: &str, all: &str, speaker: Speaker) -> Option<RuleMatch> {
    let word = front_word(front, DECISION_WORDS)?;
    let rest = &front[word.len()..];
    let more = count_letters(rest) >= 2 || count_letters(all) >= count_letters(word) + 6;
    let own = speaker == Speaker::User || any_in(all, "我 决定 最终 因为");
    // To select a file or choose from a menu is a step.
    let step = front_word(rest, "文件 菜单 以下 一个 后 题 器 框").is_some();
    let trial = any_in(all, TRIAL_PHRASES);
    if !more || !own || step || trial {
        return None;
    }
    Some(new_hit(Decision, if word == "决定" { 82 } else { 72 }))
}

/// "不用 Redis 了，改用 Kafka": without the successor it only skips a step.
fn given_up(front: &str, all: &str, speaker: Speaker) -> Option<RuleMatch> {
    let other = any_in(all, "改用 换成 换回 改回");
    let gone = front.starts_with("不用") && front.ends_with('了');
    (gone && other && speaker == Speaker::User).then(|| new_hit(Decision, 74))
}

fn match_contrast(all: &str, speaker: Speaker) -> Option<RuleMatch> {
    let user = speaker == Speaker::User;
    let swapped = all.contains("应该是") && any_in(all, "不是 而非");
    let turned = all.contains("不是") && all.contains("而是");
    if user && (swapped || turned) && !all.contains("不仅") {
        return Some(new_hit(Correction, 80));
    }
    let chosen = any_in(all, "用 选 换") && any_in(all, "而不是 代替 而不用 ，不用 取代 而非");
    if chosen && (user || all.contains('我')) {
        return Some(new_hit(Decision, 74));
    }
    None
}

fn match_mistake(all: &str, speaker: Speaker) -> Option<RuleMatch> {
    let who = match speaker {
        Speaker::User => '你',
        Speaker::Assistant => '我',
    };
    (all.contains(who) && any_in(all, MISTAKE_PHRASES) && count_letters(all) >= 6)
        .then(|| new_hit(Correction, 78))
}

fn match_preference(front: &str, all: &str, speaker: Speaker) -> Option<RuleMatch> {
    const PROMISE_PHRASES: &str =
        "以后我会 今后我会 我会始终 以后都会 我以后会 今后都会 之后我都会 以后会";
    const RULE_WORDS: &str = "都 要 用 写 不 别 请 必须 先 统一 加 以 保持 遵循 应";
    if speaker == Speaker::Assistant {
        return any_in(all, PROMISE_PHRASES).then(|| new_hit(Preference, 74));
    }
    let now = any_in(all, NOW_WORDS);
    if let Some(word) = front_word(front, PROHIBITION_WORDS) {
        let rest = &front[word.len()..];
        let other = front_word(rest, "的 人 名 紧 处 说 管 提 问 理").is_some();
        let states = word != "不要" && word != "别" && !any_in(all, "必须 任何");
        let pointing = front_word(rest, "这个 那个 它 这样 那样 这么 动 停").is_some()
            && count_letters(rest) < 6;
        let moment = now && !all.contains("以后");
        let holds = !(moment || other || states || pointing || count_letters(rest) < 2);
        return holds.then(|| new_hit(Preference, 70));
    }
    let word = front_word(front, PREFERENCE_WORDS)?;
    let rest = &front[word.len()..];
    if count_letters(rest) < 2 && count_letters(all) < count_letters(word) + 4 {
        return None;
    }
    let (holds, confidence) = match word {
        "所有" => (any_in(all, "必须 都要 都用 一律 都应 不要 都需要 都得"), 72),
        "必须" => (
            !now && count_letters(rest) >= 3 && any_in(all, "所有 每 任何 都"),
            68,
        ),
        "每次" => (
            any_in(all, "必须 请 记得 务必 不要")
                || any_in(rest, "改 提交 写 完成 发布 部署 合并 推送 更新")
                    && any_in(all, "都要 都得 要先 都先"),
            74,
        ),
        "以后" | "今后" => (any_in(all, RULE_WORDS), 82),
        "总是" | "永远" => (front_word(rest, RULE_WORDS).is_some(), 78),
        "始终" => (
            count_letters(rest) > 3 && !any_in(all, "失败 报错 为空"),
            76,
        ),
        "优先" | "尽量" | "避免" | "只用" => (!now, 68),
        "喜欢" => (
            all.contains('我') && front_word(rest, "这个 你 这").is_none(),
            72,
        ),
        "不喜欢" | "讨厌" => (front_word(rest, "这个 这").is_none(), 76),
        "提交前" | "提交代码前" => (!now || any_in(all, "必须 都 务必 一定"), 72),
        _ => (true, 78),
    };
    holds.then(|| new_hit(Preference, confidence))
}

fn match_correction(
    front: &str,
    all: &str,
    next: Option<&str>,
    speaker: Speaker,
) -> Option<RuleMatch> {
    const OWN_MISTAKE_PHRASES: &str = "我之前 更正 纠正 我误 我漏 之前的 你说得对 您说得对";
    let word = front_word(front, CORRECTION_WORDS)?;
    if speaker == Speaker::Assistant && !any_in(all, OWN_MISTAKE_PHRASES) {
        return None;
    }
    let rest = &front[word.len()..];
    let (holds, confidence) = match word {
        "不对" | "错了" | "いや" | "違います" | "違う" => {
            let (before, after) = all.split_once(word).unwrap_or_default();
            if count_letters(after) < 3 && count_letters(before) < 5 {
                let says = next.is_some_and(|n| {
                    count_letters(n) >= 3
                        && any_in(n, "是 应该 用 在 不 要 です")
                        && !n.ends_with(['?', '？'])
                });
                return says.then_some(RuleMatch {
                    kind: Correction,
                    confidence: 78,
                    announces: true,
                });
            }
            (true, 80)
        }
        "不是" => (any_in(all, "，是 ,是 应该是 而是 ，应该"), 76),
        "其实" | "实际上" | "事实上" => (any_in(rest, "应该 是"), 76),
        "应该是" => (any_in(all, "不是 不对 错 其实"), 76),
        "忘了" | "忘记" | "漏了" | "漏掉" | "遗漏" | "忽略了" => {
            (all.contains('你') && count_letters(rest) >= 2, 78)
        }
        "正确的" => (any_in(rest, "是 应该"), 74),
        "说的是" | "说的不是" | "指的是" | "要的是" | "的意思是" | "的意思不是" => {
            (all.contains('我') && count_letters(rest) >= 2, 78)
        }
        _ => (count_letters(all) >= count_letters(word) + 4, 78),
    };
    holds.then(|| new_hit(Correction, confidence))
}
