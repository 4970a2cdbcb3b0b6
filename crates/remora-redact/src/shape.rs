//! What a run of characters looks like: random, hexadecimal, a word, a
//! number of some other use. Knows nothing of the text around it.

/// Bits per character, from how often each byte occurs.
#[expect(
    clippy::cast_precision_loss,
    reason = "texts measured here are far shorter than 2^52"
)]
pub(super) fn compute_entropy(text: &str) -> f64 {
    let mut counts = [0usize; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = *count as f64 / total;
            -share * share.log2()
        })
        .sum()
}

/// How many characters of each sort a text has, and how they are mixed.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CharMix {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// Everything that is neither letter, digit nor one of `-_.`.
    pub(super) symbols: usize,
    pub(super) spaces: usize,
    /// Changes between letter and digit inside a part, at most in one part.
    pub(super) switches: usize,
    /// The same, summed over all parts.
    pub(super) all_switches: usize,
    /// Letters in words of three small letters and more, with their capital.
    pub(super) humps: usize,
}

impl CharMix {
    pub(super) fn from_text(text: &str) -> Self {
        let mut mix = Self::default();
        let mut before = CharClass::Other;
        let mut switches = 0;
        let mut small = 0;
        let mut capital = false;
        for c in text.chars() {
            let sort = CharClass::from_char(c);
            match sort {
                CharClass::Lower => mix.lower += 1,
                CharClass::Upper => mix.upper += 1,
                CharClass::Digit => mix.digits += 1,
                CharClass::Space => mix.spaces += 1,
                CharClass::Joint => {}
                CharClass::Other => mix.symbols += 1,
            }
            if sort == CharClass::Lower {
                small += 1;
                mix.humps += match small {
                    3 => 3 + usize::from(capital),
                    n if n > 3 => 1,
                    _ => 0,
                };
            } else {
                small = 0;
                capital = sort == CharClass::Upper;
            }
            if (sort.is_letter() && before == CharClass::Digit)
                || (sort == CharClass::Digit && before.is_letter())
            {
                switches += 1;
                mix.all_switches += 1;
                mix.switches = mix.switches.max(switches);
            }
            if !sort.is_letter() && sort != CharClass::Digit {
                switches = 0;
            }
            before = sort;
        }
        mix
    }

    pub(super) fn count_letters(&self) -> usize {
        self.lower + self.upper
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Lower,
    Upper,
    Digit,
    Joint,
    Space,
    Other,
}

impl CharClass {
    fn from_char(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '-' | '_' | '.' => Self::Joint,
            c if c.is_whitespace() => Self::Space,
            _ => Self::Other,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Lower | Self::Upper)
    }
}

/// Whether letters and digits are mixed as no word, name or version mixes them.
pub(super) fn is_random(text: &str) -> bool {
    if text.len() < 10 {
        return false;
    }
    let mix = CharMix::from_text(text);
    // Repeated patterns have little entropy, however they are mixed.
    if mix.spaces > 0 || compute_entropy(text) < 2.8 {
        return false;
    }
    // Within one part few words switch between letters and digits; over many
    // parts dates and versions do.
    if mix.switches >= 3 || mix.all_switches >= 5 {
        return true;
    }
    let letters = mix.count_letters();
    // A name in camel case has humps of four letters and more.
    let jumbled = letters >= 10 && mix.upper >= 3 && mix.lower >= 3 && mix.humps * 2 < letters;
    let plain = mix.digits == 0 && (mix.upper == 0 || mix.lower == 0);
    jumbled || has_rare_pairs(text, if plain { 3 } else { 4 })
}

/// For each letter, a bit for every letter that often follows it in words, of
/// languages and of programs. Half of all pairs, and 96 of 100 that occur.
const COMMON_LETTER_PAIRS: [u32; 26] = [
    0x1FE_BD6F, 0x11E_CB17, 0x13E_FDFF, 0x07E_F93F, 0x1FF_FDFF, 0x01E_793D, 0x01E_F995, 0x01E_D91D,
    0x2AE_F87F, 0x000_4010, 0x004_0111, 0x13E_DD7F, 0x01C_F11F, 0x03E_FDFF, 0x0FE_FD7F, 0x07E_F9FF,
    0x010_0000, 0x13E_FD7F, 0x37E_FDFF, 0x1FE_F9BF, 0x00E_B97F, 0x004_4115, 0x006_619D, 0x008_8115,
    0x00C_A100, 0x000_0011,
];

/// Whether one of so many pairs of letters occurs in hardly any word.
fn has_rare_pairs(text: &str, share: usize) -> bool {
    let mut pairs = 0;
    let mut rare = 0;
    for two in text.as_bytes().windows(2) {
        if let [a, b] = two
            && a.is_ascii_alphabetic()
            && b.is_ascii_alphabetic()
        {
            let follows = COMMON_LETTER_PAIRS[usize::from(a.to_ascii_lowercase() - b'a')];
            pairs += 1;
            rare += usize::from(follows >> (b.to_ascii_lowercase() - b'a') & 1 == 0);
        }
    }
    pairs >= 8 && rare * share >= pairs
}

/// Less than [`is_random`] demands, for tokens whose prefix already names the
/// kind.
pub(super) fn is_mixed(text: &str) -> bool {
    let mix = CharMix::from_text(text);
    is_random(text) || mix.digits >= 3 || (mix.upper >= 3 && mix.lower >= 3)
}

/// Only hexadecimal digits, of one case.
pub(super) fn is_hex(text: &str) -> bool {
    !text.is_empty()
        && (text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
            || text
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'A'..=b'F')))
}

/// The usual form with hyphens.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

/// A place in a file system or on a site.
pub(super) fn is_path(text: &str) -> bool {
    let drive = text.as_bytes().get(1..3).is_some_and(|b| b == b":\\");
    if drive || text.starts_with("./") || text.starts_with("../") || text.starts_with("~/") {
        return true;
    }
    // Base64 has slashes, too, but its parts are no words.
    let parts = text.split('/').filter(|part| !part.is_empty());
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if text.starts_with('/')
        && parts.clone().count() >= 2
        && parts
            .clone()
            .all(|part| part.bytes().all(plain) && !is_random(part))
    {
        return true;
    }
    text.contains('/')
        && parts.clone().count() >= 1
        && parts.clone().all(|part| !is_random(part))
        && {
            let mix = CharMix::from_text(text);
            mix.digits * 5 < mix.count_letters() && mix.upper * 2 <= mix.lower
        }
}
