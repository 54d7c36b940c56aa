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
        Self { further }
    }

    pub(super) fn judge(&self, key: &str) -> Judgement {
        let key = key.trim();
        let tail = Tail::of(key);
        if self.names(key) || tail.ends_with_any(&WHOLE) {
            return Judgement::Whole;
        }
        if tail.ends_with_any(&TEXTS) || is_last_word(key) {
            return Judgement::Texts;
        }
        if let Some(singular) = key.strip_suffix(['s', 'S']) {
            let plural = self.names(singular) || Tail::of(singular).ends_with_any(&WHOLE);
            // Lists of names that the kubelet looks up.
            if plural && !tail.ends_with(b"pullsecrets") {
                return Judgement::Plural;
            }
        }
        let unnumbered = key.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
        let numbered = unnumbered.len() < key.len()
            && (self.names(unnumbered)
                || Tail::of(unnumbered).ends_with_any(&WHOLE)
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
        let held = |stem: &[u8]| {
            text.as_bytes().windows(stem.len()).any(|part| part.eq_ignore_ascii_case(stem))
        };
        STEMS.iter().any(|stem| held(stem.as_bytes()))
            || (!self.further.is_empty()
                && self.further.iter().any(|name| !name.is_ascii() || held(name.as_bytes())))
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

/// The end of a name in lower case, without separators; as long as the longest
/// built-in name.
struct Tail {
    bytes: [u8; Self::LENGTH],
    /// Where it begins in `bytes`.
    start: usize,
}

impl Tail {
    const LENGTH: usize = 24;

    fn of(key: &str) -> Self {
        let mut tail = Self { bytes: [0; Self::LENGTH], start: Self::LENGTH };
        let chars = key.chars().rev().filter(|char| !is_separator(*char));
        for char in chars.flat_map(char::to_lowercase).take(Self::LENGTH) {
            tail.start -= 1;
            if let Some(byte) = tail.bytes.get_mut(tail.start) {
                // A letter beyond ASCII is in no built-in name.
                *byte = u8::try_from(char).unwrap_or(u8::MAX);
            }
        }
        tail
    }

    fn ends_with(&self, word: &[u8]) -> bool {
        self.bytes.get(self.start..).is_some_and(|bytes| bytes.ends_with(word))
    }

    fn ends_with_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.ends_with(word.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
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
}
