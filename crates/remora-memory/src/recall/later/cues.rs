//! How people say that something goes or is chosen: word lists, no judgement.

/// How somebody says what goes; its name follows.
pub(super) const DROPS: &[&str] = &[
    ", not",
    "abandon",
    "anstatt",
    "anstelle von",
    "away from",
    "changed my mind about",
    "changed our mind about",
    "decide against",
    "decided against",
    "ditch",
    "ditched",
    "do not use",
    "don't use",
    "don’t use",
    "drop",
    "dropped",
    "dropping",
    "drops",
    "get rid of",
    "instead of",
    "let go of",
    "migrate from",
    "migrated from",
    "move from",
    "moved from",
    "moving from",
    "never use",
    "nicht mehr",
    "no longer",
    "no longer use",
    "no longer using",
    "not to use",
    "not use",
    "rather than",
    "remove",
    "removed",
    "removing",
    "replace",
    "replaced",
    "replacing",
    "revert",
    "reverted",
    "rip out",
    "ripped out",
    "scrap",
    "statt",
    "stop using",
    "stopped using",
    "switch from",
    "switched from",
    "switching from",
    "undo",
    "不再",
    "不用",
    "不要用",
    "别用",
    "去掉",
    "弃用",
    "移除",
];
/// The same somewhere behind a word of moving.
pub(super) const LEAVES: &[&str] = &["from", "off"];
pub(super) const MOVES: &[&str] = &[
    "migrate",
    "migrated",
    "migrating",
    "move",
    "moved",
    "moving",
    "switch",
    "switched",
    "switching",
];
/// The same with the name before it.
pub(super) const GOES: &[&str] = &[
    "did not work out",
    "didn't work out",
    "goes away",
    "is gone",
    "is replaced",
    "was a mistake",
    "换成",
    "换回",
    "改为",
    "改成",
    "改用",
];
/// What ends a clause that denies something, which goes then.
pub(super) const NO_MORE: &[&str] = &["any more", "anymore"];
/// What ends a clause that says another thing than before.
pub(super) const TURNED: &[&str] = &["after all", "again", "any more", "anymore"];
/// Other ways to take something back, without a name.
pub(super) const TURNS: &[&str] = &["anymore", "any more", "back to", "instead", "switch"];
/// What makes the opposite of a cue behind it.
pub(super) const DENIALS: &[&str] = &["cannot", "don't", "don’t", "never", "not"];
/// How somebody says what is to be taken for something.
pub(super) const CHOICES: &[&str] = &[
    "adopt",
    "choose",
    "chose",
    "go for",
    "go with",
    "going with",
    "move",
    "moved",
    "pick",
    "picked",
    "prefer",
    "settle on",
    "switch",
    "take",
    "use",
    "used",
    "uses",
    "using",
    "went with",
    "使用",
    "改用",
    "用",
    "选",
];
/// Where the name of a thing ends.
pub(super) const ENDS: &[&str] = &[
    " and ",
    " any ",
    " anymore",
    " as ",
    " at ",
    " because ",
    " but ",
    " by ",
    " during ",
    " everywhere",
    " for ",
    " from ",
    " in ",
    " inside ",
    " on ",
    " since ",
    " to ",
    " when ",
    " with ",
    " within ",
];
pub(super) const STOPS: &[char] = &[
    ',', ';', ':', '!', '?', '(', ')', '\n', '。', '，', '；', '！', '？',
];
/// How people begin to say what should be so: not what it is about.
pub(super) const MANNER: &str = "actually add added after again agree agreed all always any avoid choose chose chosen correct \
    decide decided deciding decision directly do done ensure every everywhere from get go going \
    instead just keep kept let lets longer make makes made must need needs never new no not note \
    now only pick picked please prefer preferred put remember replace right run set should stick \
    stop stuff switch thing things us use used uses using want wants way went will with work \
    使用 我们 决定 以后 总是 一律";
