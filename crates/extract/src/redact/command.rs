//! Secrets on command lines, where a flag and its value are two words.

use std::ops::Range;

use super::{
    assign,
    keys::{Judgement, Keys},
    text::Scan,
};

/// Programs whose short flag takes a password, or a user with one.
const FLAGS: [(&str, &str); 9] = [
    ("curl", "-u"),
    ("curl", "--user"),
    ("docker login", "-p"),
    ("mariadb", "-p"),
    ("mongo", "-p"),
    ("mysql", "-p"),
    ("redis-cli", "-a"),
    ("sshpass", "-p"),
    ("smbclient", "-U"),
];

/// Which of these programs a text speaks of; looked up at most once.
#[derive(Default)]
pub(super) struct Programs {
    named: Option<[bool; FLAGS.len()]>,
}

impl Programs {
    /// The secret that follows the flag that begins here.
    pub(super) fn secret(&mut self, scan: Scan<'_>, at: usize) -> Option<Range<usize>> {
        /// Longer than any flag.
        const LONGEST: usize = 128;
        let separated = scan.before(at).is_none_or(|b| b.is_ascii_whitespace() || is_quote(b));
        if !separated {
            return None;
        }
        let most = scan.bytes.len().min(at + LONGEST);
        let end =
            scan.find(at, |b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')));
        let flag = scan.slice(&(at..end.min(most)));
        let spaced = matches!(scan.byte(end), Some(b' ' | b'\t'));
        if spaced && takes_secret(flag, scan.keys) {
            return word(scan, end);
        }
        let named =
            self.named.get_or_insert_with(|| FLAGS.map(|(program, _)| scan.text.contains(program)));
        let known = FLAGS.iter().zip(named.iter()).filter(|(_, named)| **named);
        let (_, short) = known.map(|(flag, _)| flag).find(|(_, short)| flag.starts_with(short))?;
        let attached = at + short.len();
        let spaced = matches!(scan.byte(attached), Some(b' ' | b'\t'));
        if short.starts_with("--") && !spaced {
            return None;
        }
        let value = word(scan, attached)?;
        let login = !matches!(*short, "-u" | "--user") || scan.slice(&value).contains(':');
        login.then_some(value)
    }
}

/// Whether the argument after this one is a secret.
#[inline]
pub(super) fn takes_secret(argument: &str, keys: &Keys) -> bool {
    argument.starts_with('-')
        && !argument.contains(['=', ' '])
        && matches!(keys.judge(argument), Judgement::Whole | Judgement::Texts)
}

/// Whether the argument after this one is a secret for the program that a list
/// of arguments runs.
#[inline]
pub(super) fn takes_secret_of<'a>(
    argument: &str,
    arguments: impl Iterator<Item = &'a str>,
) -> bool {
    /// How many arguments from the first one the program is looked for.
    const NEAR: usize = 8;
    if !argument.starts_with('-') {
        return false;
    }
    let mut programs = FLAGS.iter().filter(|(_, flag)| *flag == argument).peekable();
    if programs.peek().is_none() {
        return false;
    }
    let program = arguments.take(NEAR).find(|argument| !argument.starts_with('-'));
    let program = program.map(|path| path.rsplit('/').next().unwrap_or(path));
    program.is_some_and(|program| programs.any(|(name, _)| program.starts_with(name)))
}

/// Whether an argument is a flag with its secret attached to it, for the
/// program that a list of arguments runs.
#[inline]
pub(super) fn holds_secret_of<'a>(
    argument: &str,
    arguments: impl Iterator<Item = &'a str>,
) -> bool {
    match argument.split_at_checked(2) {
        Some((flag @ ("-p" | "-a"), value)) => {
            !value.is_empty() && takes_secret_of(flag, arguments)
        }
        _ => false,
    }
}

/// The word from here on, without its quotes, if it is a value.
fn word(scan: Scan<'_>, from: usize) -> Option<Range<usize>> {
    let start = scan.find(from, |byte| !matches!(byte, b' ' | b'\t'));
    let value = match scan.byte(start)? {
        b'-' | b'\n' | b'|' | b'&' | b';' | b'=' | b':' => return None,
        quote if is_quote(quote) => start + 1..scan.find(start + 1, |byte| byte == quote),
        _ => {
            start..scan.find(start, |byte| {
                byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b';' | b'|' | b'&')
            })
        }
    };
    (!assign::stays(scan.slice(&value))).then_some(value)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
