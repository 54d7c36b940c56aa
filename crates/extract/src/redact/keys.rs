//! Which names give a value away.

/// What the name of a value says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Harmless,
    /// The whole value is hidden, whatever it is.
    Whole,
    /// Texts are hidden, alone or in a list; a map is a reference or settings.
    Texts,
    /// Texts are hidden at any depth, except those that name something.
    Plural,
}

/// The names that give a value away: the built-in ones, those of the operator's
/// administrator (`--scrub-keys`) and those of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// In lower case and trimmed.
    further: Vec<Box<str>>,
    /// The ASCII characters that the further names end with, a bit each.
    further_ends: u128,
}

/// Names, and ends of names, whose whole value is hidden. `-`, `_`, `.` and
/// blanks in a name do not count.
const WHOLE: [&str; 10] = [
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "privatekey",
    "credential",
    "auth",
    "clientsecret",
    "connectionstring",
];

/// Names, and ends of names, that are often a secret and often only settings.
const TEXTS: [&str; 31] = [
    "accesskey",
    "accountkey",
    "appkey",
    "authkey",
    "authorization",
    "clientkey",
    "clientkeydata",
    "cookiekey",
    "dockercfg",
    "dockerconfig",
    "dockerconfigjson",
    "encryptionkey",
    "hashkey",
    "hmackey",
    "licensekey",
    "masterkey",
    "netrc",
    "passcode",
    "passphrase",
    "passwordhash",
    "pgpass",
    "requirepass",
    "secretkey",
    "secretkeybase",
    "securitykey",
    "serverkey",
    "sessionkey",
    "sharedkey",
    "signingkey",
    "sshkey",
    "storagekey",
];

/// Too short to be the end of a name; they are a word of it.
const LAST_WORDS: [&str; 6] = ["pass", "pwd", "pw", "psk", "jwt", "creds"];

/// Fields that say which thing is meant, not what it holds.
const NAMING: [&str; 14] = [
    "apigroup",
    "apiversion",
    "group",
    "key",
    "kind",
    "mode",
    "name",
    "namespace",
    "path",
    "property",
    "type",
    "uid",
    "username",
    "version",
];

impl Keys {
    /// The built-in names and these. As for the built-in ones, case does not
    /// count, and a name of more than two characters is also found at the end
    /// of a longer one.
    pub fn new<'k>(further: impl IntoIterator<Item = &'k str>) -> Self {
        let further = further.into_iter().map(|name| name.trim().to_lowercase());
        let mut further: Vec<Box<str>> =
            further.filter(|name| !name.is_empty()).map(String::into_boxed_str).collect();
        further.sort_unstable();
        further.dedup();
        let further_ends = further.iter().filter_map(|name| name.bytes().last()).map(bit);
        Self { further_ends: further_ends.fold(0, |all, one| all | one), further }
    }

    #[inline]
    pub(super) fn judge(&self, key: &str) -> Judgement {
        let key = key.trim();
        if self.is_plain(key) { Judgement::Harmless } else { self.judge_closely(key) }
    }

    /// Whether the end of a name shows that it is harmless. Most names are, and
    /// three letters tell.
    #[inline]
    fn is_plain(&self, key: &str) -> bool {
        let bytes = key.as_bytes();
        let is_part = |byte: &u8| !is_separator(char::from(*byte));
        let counts = |byte: &u8| is_part(byte) && !byte.is_ascii_digit();
        let end = bytes.iter().rposition(counts).map_or(0, |at| at + 1);
        let letters = bytes.get(..end).unwrap_or_default().iter().rev().copied();
        let mut letters = letters.filter(is_part).map(|byte| byte.to_ascii_lowercase());
        let mut next = || letters.next().unwrap_or_default();
        let [last, second, third, fourth] = [next(), next(), next(), next()];
        // A letter beyond ASCII may be an ASCII one in lower case.
        let may_tell = !key.is_ascii()
            || ENDS.hold(last, second, third)
            || (last == b's' && ENDS_OF_PLURALS.hold(second, third, fourth))
            || self.may_name(bytes, last);
        !may_tell
    }

    /// Whether a further name can be found at the end of a name, of its
    /// singular, or of what stands before its number, which ends so.
    fn may_name(&self, key: &[u8], unnumbered: u8) -> bool {
        let ends = key.iter().rev().take(2).map(u8::to_ascii_lowercase).chain([unnumbered]);
        self.further_ends != 0 && ends.map(bit).any(|end| end & self.further_ends != 0)
    }

    fn judge_closely(&self, key: &str) -> Judgement {
        let tail = Tail::of(key);
        if self.names(key) || tail.ends_with_any(&WHOLE_TAILS) {
            return Judgement::Whole;
        }
        if tail.ends_with_any(&TEXTS_TAILS) || is_last_word(key) {
            return Judgement::Texts;
        }
        if let Some(singular) = key.strip_suffix(['s', 'S']) {
            let plural = self.names(singular) || Tail::of(singular).ends_with_any(&WHOLE_TAILS);
            // Lists of names that the kubelet looks up.
            if plural && !tail.ends_with(PULL_SECRETS) {
                return Judgement::Plural;
            }
        }
        let unnumbered = key.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
        let numbered = unnumbered.len() < key.len()
            && (self.names(unnumbered)
                || Tail::of(unnumbered).ends_with_any(&WHOLE_TAILS)
                || is_last_word(unnumbered));
        if numbered { Judgement::Texts } else { Judgement::Harmless }
    }

    /// Whether a further name is the key, or its end.
    fn names(&self, key: &str) -> bool {
        self.further.iter().any(|name| {
            let mut of_key = key.chars().flat_map(char::to_lowercase).rev();
            let ends = name.chars().rev().all(|char| of_key.next() == Some(char));
            ends && (name.chars().nth(2).is_some() || of_key.next().is_none())
        })
    }

    /// Whether a text may hold a name that gives a value away. Quick, and
    /// wrong on the safe side.
    pub(super) fn may_be_named_in(&self, text: &str) -> bool {
        const STEMS: [&str; 12] = [
            "pass",
            "pwd",
            "pw",
            "secret",
            "token",
            "key",
            "cred",
            "auth",
            "connection",
            "jwt",
            "docker",
            "psk",
        ];
        const FIRSTS: u128 = firsts(&STEMS);
        let bytes = text.as_bytes();
        let begins = |stem: &str, at: usize| {
            let part = bytes.get(at..at + stem.len());
            part.is_some_and(|part| part.eq_ignore_ascii_case(stem.as_bytes()))
        };
        let built_in = |at: usize| STEMS.iter().any(|stem| begins(stem, at));
        let further = |name: &str| !name.is_ascii() || (0..bytes.len()).any(|at| begins(name, at));
        bytes
            .iter()
            .zip(0..)
            .any(|(byte, at)| FIRSTS & bit(byte.to_ascii_lowercase()) != 0 && built_in(at))
            || self.further.iter().any(|name| further(name))
    }
}

/// Whether a field only says which thing is meant: what a reference is made of.
pub(super) fn is_naming(key: &str) -> bool {
    let key = key.trim();
    let ends = |end: &str| {
        key.len()
            .checked_sub(end.len())
            .and_then(|at| key.get(at..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    NAMING.iter().any(|name| key.eq_ignore_ascii_case(name))
        || ["name", "path", "ref"].into_iter().any(ends)
}

fn is_separator(char: char) -> bool {
    matches!(char, '-' | '_' | '.' | ' ')
}

/// Whether the last word of a name, after a separator or a hump, is a short
/// name of a secret: `DB_PASS` and `dbPass`, but not `bypass`.
fn is_last_word(key: &str) -> bool {
    let last = key.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let hump = last.as_bytes().windows(2).rposition(|pair| {
        matches!(pair, [before, after] if before.is_ascii_lowercase() && after.is_ascii_uppercase())
    });
    let word = hump.and_then(|at| last.get(at + 1..)).unwrap_or(last);
    LAST_WORDS.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// A bit for an ASCII character; none for others.
#[inline]
const fn bit(byte: u8) -> u128 {
    if byte.is_ascii() { 1 << byte } else { 0 }
}

/// The characters that words begin with.
const fn firsts(words: &[&str]) -> u128 {
    let mut found = 0;
    let mut at = 0;
    while at < words.len() {
        found |= bit(words[at].as_bytes()[0]);
        at += 1;
    }
    found
}

/// The last three letters of words: by the last two the third ones, a bit each.
struct Ends([[u32; 26]; 26]);

const ENDS: Ends = Ends::none().and(&WHOLE).and(&TEXTS).and(&LAST_WORDS);
const ENDS_OF_PLURALS: Ends = Ends::none().and(&WHOLE);

impl Ends {
    const fn none() -> Self {
        Self([[0; 26]; 26])
    }

    const fn and(mut self, words: &[&str]) -> Self {
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            let [last, second] = [word[word.len() - 1], word[word.len() - 2]];
            // Before a word of two letters anything may stand.
            let thirds = if word.len() > 2 { 1 << (word[word.len() - 3] - b'a') } else { u32::MAX };
            self.0[(last - b'a') as usize][(second - b'a') as usize] |= thirds;
            at += 1;
        }
        self
    }

    #[inline]
    fn hold(&self, last: u8, second: u8, third: u8) -> bool {
        let letter = |byte: u8| usize::from(byte.wrapping_sub(b'a'));
        let thirds = self.0.get(letter(last)).and_then(|ends| ends.get(letter(second)));
        thirds.is_some_and(|thirds| {
            *thirds == u32::MAX || (third.is_ascii_lowercase() && thirds >> letter(third) & 1 == 1)
        })
    }
}

/// The end of a name in lower case, without separators: its last character in
/// the lowest byte. As long as the longest built-in name.
#[derive(Clone, Copy)]
struct Tail(u128);

const WHOLE_TAILS: [Tail; WHOLE.len()] = tails(WHOLE);
const TEXTS_TAILS: [Tail; TEXTS.len()] = tails(TEXTS);
const PULL_SECRETS: Tail = Tail::exactly("pullsecrets");

const fn tails<const N: usize>(words: [&str; N]) -> [Tail; N] {
    let mut tails = [Tail(0); N];
    let mut at = 0;
    while at < N {
        tails[at] = Tail::exactly(words[at]);
        at += 1;
    }
    tails
}

impl Tail {
    const LENGTH: usize = 16;

    fn of(key: &str) -> Self {
        let chars = key.chars().rev().filter(|char| !is_separator(*char));
        let chars = chars.flat_map(char::to_lowercase).take(Self::LENGTH);
        // A letter beyond ASCII is in no built-in name.
        let bytes = chars.map(|char| u8::try_from(char).unwrap_or(u8::MAX));
        Self(bytes.zip(0..).fold(0, |tail, (byte, at)| tail | u128::from(byte) << (8 * at)))
    }

    /// Of a word that needs no change and is not too long.
    const fn exactly(word: &str) -> Self {
        assert!(word.len() <= Self::LENGTH, "the word is longer than a tail");
        let mut tail = 0;
        let mut at = 0;
        while at < word.len() {
            tail = tail << 8 | word.as_bytes()[at] as u128;
            at += 1;
        }
        Self(tail)
    }

    fn ends_with(self, Self(word): Self) -> bool {
        let unused = word.leading_zeros() / 8 * 8;
        (self.0 ^ word) << unused == 0
    }

    fn ends_with_any(self, words: &[Self]) -> bool {
        words.iter().any(|word| self.ends_with(*word))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(keys: &[&str], expected: Judgement) {
        let names = Keys::new(["pin", "iv", " LICENCE "]);
        for key in keys {
            assert_eq!(names.judge(key), expected, "{key}");
        }
    }

    #[test]
    fn a_name_or_its_end_gives_the_whole_value_away() {
        check(
            &[
                "password",
                " Password ",
                "DB_PASSWORD",
                "CLIENTSECRET",
                "api-key",
                "x.apiKey",
                "oauth",
            ],
            Judgement::Whole,
        );
        check(
            &["TO\u{212A}EN", "private key", "ConnectionStrings:x-connection_string"],
            Judgement::Whole,
        );
    }

    #[test]
    fn further_names_count_as_the_built_in_ones_do() {
        check(&["pin", "cardPin", "iv", "IV", "licence", "the-licence"], Judgement::Whole);
        check(&["div", "priv"], Judgement::Harmless);
    }

    #[test]
    fn some_names_give_texts_away() {
        check(&["AWS_SECRET_ACCESS_KEY", "client-key-data", "DB_PASS", "dbPass"], Judgement::Texts);
        check(&["PASSWORD_2", "token1", "oauth2", ".dockerconfigjson"], Judgement::Texts);
    }

    #[test]
    fn plurals_are_searched() {
        check(&["secrets", "API_TOKENS", "credentials", "auths", "pins"], Judgement::Plural);
    }

    #[test]
    fn most_names_are_harmless() {
        check(
            &[
                "",
                "author",
                "tokenTTL",
                "secretName",
                "imagePullSecrets",
                "bypass",
                "key",
                "s",
                "2",
            ],
            Judgement::Harmless,
        );
    }

    /// Names of which many give something away.
    fn name() -> impl Strategy<Value = String> {
        let words = [&WHOLE[..], &TEXTS, &LAST_WORDS, &NAMING, &["pin", "iv", "k2", "\u{212A}ey"]];
        let rest = ["s", "S", "-", "_", ".", " ", "2", "x", "Pw", "\u{212A}", "\u{130}", "é", "/"];
        let piece = prop_oneof![
            prop::sample::select(words.concat()).prop_map(str::to_owned),
            prop::sample::select(words.concat()).prop_map(str::to_uppercase),
            prop::sample::select(rest.to_vec()).prop_map(str::to_owned),
            "[a-zA-Z]{1,3}",
        ];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2048, ..ProptestConfig::default() })]

        #[test]
        fn no_name_that_gives_something_away_looks_plain(name in name()) {
            for keys in [Keys::default(), Keys::new(["pin", "iv", "k2", "_x-", "\u{212A}ey", "ü"])] {
                prop_assert_eq!(keys.judge(&name), keys.judge_closely(name.trim()));
            }
        }

        #[test]
        fn a_text_that_holds_a_name_may_hold_one(before in "\\PC{0,4}", name in name(), after in "\\PC{0,4}") {
            let keys = Keys::new(["pin", "ü"]);
            let text = format!("{before}{name}{after}");
            prop_assert!(keys.judge(&name) == Judgement::Harmless || keys.may_be_named_in(&text));
        }
    }
}
