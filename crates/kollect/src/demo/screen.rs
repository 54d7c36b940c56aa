//! A terminal: drawn anew in place, and given back as it was.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal as _, Write},
};

use rustix::termios::tcgetwinsize;

use super::frame::{Line, Tone};

/// What a terminal of unknown size is taken for.
const USUAL: (usize, usize) = (80, 24);
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// Between these a terminal that can holds back what it shows.
const HOLD: &str = "\x1b[?2026h";
const RELEASE: &str = "\x1b[?2026l";

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) has_colour: bool,
    /// Whether it knows more than ASCII.
    pub(super) has_unicode: bool,
}

impl Manner {
    /// What the environment says of the terminal at standard output; nothing if
    /// there is none that can be drawn on.
    pub(super) fn of_terminal() -> Option<Self> {
        let terminal = env::var_os("TERM").unwrap_or_default();
        let can_draw = io::stdout().is_terminal() && terminal != "dumb" && !terminal.is_empty();
        can_draw.then(|| {
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().map(env::var_os);
            Self::told(env::var_os("NO_COLOR"), locale)
        })
    }

    fn told(no_colour: Option<OsString>, locale: impl Iterator<Item = Option<OsString>>) -> Self {
        // The first that says something decides, as in every program.
        let locale = locale.flatten().find(|one| !one.is_empty()).unwrap_or_default();
        let locale = locale.to_string_lossy().to_lowercase().replace('-', "");
        Self {
            has_colour: no_colour.is_none_or(|value| value.is_empty()),
            has_unicode: locale.contains("utf8"),
        }
    }
}

/// A terminal that is ours until it is dropped.
pub(super) struct Screen<'a, W: Write> {
    out: &'a mut W,
    manner: Manner,
    /// What is on it.
    shown: String,
}

impl<'a, W: Write> Screen<'a, W> {
    pub(super) fn enter(out: &'a mut W, manner: Manner) -> io::Result<Self> {
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Self { out, manner, shown: String::new() })
    }

    /// Shows lines from the top, if they are not there already.
    pub(super) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let painted = painted(lines, self.manner);
        if painted == self.shown {
            return Ok(());
        }
        write!(self.out, "{HOLD}\x1b[H{painted}\x1b[J{RELEASE}")?;
        self.shown = painted;
        self.out.flush()
    }

    /// Draws everything the next time, whatever is there.
    pub(super) fn forget(&mut self) {
        self.shown.clear();
    }
}

impl<W: Write> Drop for Screen<'_, W> {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing back.
        drop(self.out.write_all(LEAVE.as_bytes()).and_then(|()| self.out.flush()));
    }
}

/// Columns and rows of the terminal.
pub(super) fn size() -> (usize, usize) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => USUAL,
    }
}

/// Lines as a terminal takes them.
fn painted(lines: &[Line], manner: Manner) -> String {
    let lines: Vec<_> = lines.iter().map(|line| format!("{}\x1b[K", toned(line, manner))).collect();
    lines.join("\r\n")
}

/// A line with the colours of its tones.
fn toned(line: &Line, manner: Manner) -> String {
    let piece = |(tone, text): &(Tone, String)| {
        let text = if manner.has_unicode { text.clone() } else { plain(text) };
        match code(*tone).filter(|_| manner.has_colour) {
            Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
            None => text,
        }
    };
    line.0.iter().map(piece).collect()
}

fn code(tone: Tone) -> Option<u8> {
    match tone {
        Tone::Plain => None,
        Tone::Quiet => Some(2),
        Tone::Strong => Some(1),
        Tone::Good => Some(32),
        Tone::Waiting => Some(33),
        Tone::Bad => Some(31),
    }
}

/// A text for terminals that know ASCII alone, of the same width.
fn plain(text: &str) -> String {
    let ascii = |c: char| match c {
        '→' => '>',
        '…' => '.',
        c if c.is_ascii() => c,
        _ => '?',
    };
    text.chars().map(ascii).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manner(no_colour: Option<&str>, locale: [Option<&str>; 3]) -> Manner {
        let locale = locale.map(|one| one.map(OsString::from));
        Manner::told(no_colour.map(OsString::from), locale.into_iter())
    }

    #[test]
    fn the_environment_says_what_a_terminal_can_show() {
        let full = Manner { has_colour: true, has_unicode: true };
        assert_eq!(manner(None, [None, None, Some("en_GB.UTF-8")]), full);
        assert_eq!(manner(Some(""), [None, Some("C.utf8"), None]), full);
        assert!(!manner(Some("1"), [None; 3]).has_colour);
        assert!(!manner(None, [Some("C"), None, Some("en_GB.UTF-8")]).has_unicode);
    }

    #[test]
    fn a_line_is_toned_or_plain() {
        let line = Line(vec![(Tone::Plain, "a→b ".to_owned()), (Tone::Good, "18".to_owned())]);
        let full = Manner { has_colour: true, has_unicode: true };
        assert_eq!(toned(&line, full), "a→b \x1b[32m18\x1b[0m");
        let bare = Manner { has_colour: false, has_unicode: false };
        assert_eq!(toned(&line, bare), "a>b 18");
    }

    #[test]
    fn what_is_shown_already_is_not_drawn_again_and_the_terminal_is_given_back() {
        let mut out = Vec::new();
        let line = [Line(vec![(Tone::Plain, "x".to_owned())])];
        let bare = Manner { has_colour: false, has_unicode: true };
        {
            let mut screen = Screen::enter(&mut out, bare).unwrap();
            screen.draw(&line).unwrap();
            screen.draw(&line).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('x').count(), 1);
        assert!(text.starts_with(ENTER) && text.ends_with(LEAVE), "{text:?}");
    }
}
