//! Numbers and words that are the same for the same seed. Words are as common
//! as words are: the nth is about an nth as common as the first.

/// What is talked about in code and about it.
const WORDS: &[&str] = &[
    "config", "store", "request", "parse", "value", "session", "error", "file", "user", "cache",
    "token", "index", "query", "event", "handler", "buffer", "path", "client", "server", "record",
    "batch", "queue", "worker", "state", "schema", "field", "retry", "timeout", "stream", "model",
    "order", "payment", "invoice", "account", "report", "search", "filter", "render", "layout",
    "theme", "button", "route", "router", "socket", "header", "payload", "encode", "decode",
    "digest", "hash", "node", "tree", "graph", "edge", "caret", "page", "row", "column", "table",
    "migrate", "backup", "restore", "export", "import", "merge", "branch", "commit", "patch",
    "diff", "apply", "revert", "lock", "guard", "permit", "policy", "rule", "match", "pattern",
    "scan", "lexer", "syntax", "symbol", "scope", "closure", "binding", "frame", "stack", "heap",
    "arena", "pool", "thread", "task", "timer", "clock", "interval", "window", "budget", "limit",
    "quota", "usage", "metric", "trace", "span", "logger", "level", "format", "locale", "message",
    "template", "notify", "email", "address", "contact", "customer", "product", "catalog", "price",
    "discount", "tax", "currency", "exchange", "balance", "ledger", "entry", "journal", "audit",
    "archive", "snapshot", "replica", "shard", "cluster", "leader", "follower", "quorum", "ballot",
    "vector", "matrix", "tensor", "kernel", "gradient", "sample", "batcher", "loader", "fetcher",
    "resolver", "mapper", "reducer", "adapter", "gateway", "proxy", "broker", "channel", "topic",
];

/// Two-part words beyond the plain ones.
const PAIRS: usize = 12_000;

/// The same numbers for the same seed.
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        (self.roll() >> 11) % end
    }

    /// A place in a list, the front ones by far the most common.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "lists are short"
    )]
    pub(super) fn rank(&mut self, len: usize) -> usize {
        let unit = (self.roll() >> 11) as f64 / (1_u64 << 53) as f64;
        ((len as f64).powf(unit) as usize).min(len) - 1
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        let at = self.below(list.len() as u64);
        list[usize::try_from(at).unwrap_or_default()]
    }

    pub(super) fn word(&mut self) -> &'static str {
        WORDS[self.rank(WORDS.len())]
    }

    /// A name as code has it: most are seen often, some hardly ever.
    pub(super) fn name(&mut self) -> String {
        let rank = self.rank(PAIRS);
        match rank.checked_sub(WORDS.len()) {
            None => WORDS[rank].to_owned(),
            Some(rest) => {
                let second = (rest / WORDS.len() + rest * 7) % WORDS.len();
                format!("{}_{}", WORDS[rest % WORDS.len()], WORDS[second])
            }
        }
    }

    pub(super) fn hex(&mut self, digits: usize) -> String {
        let mut text = String::with_capacity(digits);
        while text.len() < digits {
            text.extend([format!("{:016x}", self.roll())]);
        }
        text.truncate(digits);
        text
    }

    pub(super) fn uuid(&mut self) -> String {
        let hex = self.hex(32);
        format!(
            "{}-{}-4{}-8{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..]
        )
    }
}
