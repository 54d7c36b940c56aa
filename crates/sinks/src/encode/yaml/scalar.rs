//! How texts are quoted and folded.

use super::{Emitter, STEP, WIDTH, resolve};

/// Where a text stands.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Before a colon, on one line.
    Key,
    /// Anywhere else; further lines stand at this column.
    Value { indent: usize },
}

impl Place {
    fn indent(self) -> usize {
        match self {
            Self::Key => 0,
            Self::Value { indent } => indent,
        }
    }
}

/// The four ways to write a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Whether readers of YAML 1.1 end a line here.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Emitter {
    /// Writes a text in the plainest style that reads back as the same text.
    pub(super) fn text(&mut self, text: &str, place: Place) {
        match style(text) {
            Style::Plain => self.plain(text, place),
            Style::Single => self.single_quoted(text, place),
            Style::Double => self.double_quoted(text, place),
            Style::Literal => self.literal(text, place),
        }
    }

    fn plain(&mut self, text: &str, place: Place) {
        self.word_start();
        let mut after_space = false;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let folds = character == ' ' && !after_space && characters.peek() != Some(&' ');
            match self.fold(place) {
                Some(indent) if folds => self.indent_to(indent),
                _ => self.put(character),
            }
            after_space = character == ' ';
            self.indented = self.indented && after_space;
        }
        self.spaced = false;
        self.indented = false;
    }

    fn single_quoted(&mut self, text: &str, place: Place) {
        self.mark_quote('\'');
        let mut before = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let folds = character == ' '
                && before.is_some_and(|before| before != ' ')
                && characters.peek().is_some_and(|next| *next != ' ');
            match self.fold(place) {
                Some(indent) if folds => self.indent_to(indent),
                _ if is_break(character) => {
                    self.put(character);
                    self.column = 0;
                }
                _ => {
                    if before.is_some_and(is_break) {
                        self.pad_to(place.indent());
                    }
                    if character == '\'' {
                        self.put('\'');
                    }
                    self.put(character);
                    self.indented = self.indented && character == ' ';
                }
            }
            before = Some(character);
        }
        self.put('\'');
        self.spaced = false;
        self.indented = false;
    }

    fn double_quoted(&mut self, text: &str, place: Place) {
        // A text that begins with a byte order mark is spelled out whole.
        let marked = text.starts_with('\u{feff}');
        self.mark_quote('"');
        let mut after_space = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((at, character)) = characters.next() {
            let escaped = marked
                || !is_printable(character)
                || is_break(character)
                || matches!(character, '"' | '\\');
            let next = characters.peek().map(|(_, next)| *next);
            let folds = character == ' ' && !after_space && at > 0 && next.is_some();
            match self.fold(place) {
                _ if escaped => self.escape(character),
                Some(indent) if folds => {
                    self.indent_to(indent);
                    if next == Some(' ') {
                        self.put('\\');
                    }
                }
                _ => self.put(character),
            }
            after_space = character == ' ' && !escaped;
        }
        self.put('"');
        self.spaced = false;
        self.indented = false;
    }

    fn literal(&mut self, text: &str, place: Place) {
        self.word_start();
        self.put('|');
        if text.starts_with(|first| first == ' ' || is_break(first)) {
            self.out.push_str(&STEP.to_string());
        }
        let mut backwards = text.chars().rev().map(is_break);
        match (backwards.next(), backwards.next()) {
            (Some(true), Some(false)) => {}
            (Some(true), _) => self.put('+'),
            (Some(false) | None, _) => self.put('-'),
        }
        self.break_line();
        self.spaced = true;
        self.indented = true;
        for character in text.chars() {
            if character == '\n' {
                self.break_line();
                self.indented = true;
            } else if is_break(character) {
                self.put(character);
                self.column = 0;
                self.indented = true;
            } else {
                if self.indented {
                    self.pad_to(place.indent());
                }
                self.put(character);
                self.indented = false;
            }
        }
    }

    fn mark_quote(&mut self, quote: char) {
        self.word_start();
        self.put(quote);
        self.spaced = false;
        self.indented = false;
    }

    /// Where the line goes on if it may be broken here.
    fn fold(&self, place: Place) -> Option<usize> {
        match place {
            Place::Value { indent } if self.column > WIDTH => Some(indent),
            _ => None,
        }
    }

    fn pad_to(&mut self, indent: usize) {
        while self.column < indent {
            self.put(' ');
        }
    }

    fn escape(&mut self, character: char) {
        let letter = match character {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => character,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(character);
                let spelled = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                return spelled.chars().for_each(|character| self.put(character));
            }
        };
        self.put('\\');
        self.put(letter);
    }
}

/// Chooses the style. What would be read as another type is quoted twice,
/// what only collides with an indicator once.
fn style(text: &str) -> Style {
    let allowed = Allowed::of(text);
    if text.contains('\n') {
        return if allowed.literal { Style::Literal } else { Style::Double };
    }
    match (resolve::is_text(text), allowed.plain, allowed.single) {
        (true, true, _) => Style::Plain,
        (true, false, true) => Style::Single,
        _ => Style::Double,
    }
}

/// Which styles keep a text as it is.
struct Allowed {
    plain: bool,
    single: bool,
    literal: bool,
}

impl Allowed {
    fn of(text: &str) -> Self {
        let ends_in = |test: fn(char) -> bool| text.starts_with(test) || text.ends_with(test);
        let is_space = |character| character == ' ';
        let pair = |first: fn(char) -> bool, second: fn(char) -> bool| {
            text.chars().zip(text.chars().skip(1)).any(|(a, b)| first(a) && second(b))
        };
        let special = !text.chars().all(is_printable);
        let space_break = pair(is_space, is_break);
        let break_space = pair(is_break, is_space);
        let breaks = text.contains(is_break);
        let edges = ends_in(is_space) || ends_in(is_break);
        Self {
            plain: !(edges || breaks || special || has_indicator(text)),
            single: !(space_break || break_space || special),
            literal: !(space_break || special || text.ends_with(' ')),
        }
    }
}

/// What no text without quotes may begin with.
const INDICATORS: &str = "#,[]{}&*!|>'\"%@`";

/// Whether something in the text means something else to YAML when it is not
/// quoted.
fn has_indicator(text: &str) -> bool {
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let open = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
        let found = match (before, character) {
            (None, first) if INDICATORS.contains(first) => true,
            (None, '?' | '-') | (_, ':') => open,
            (Some(before), '#') => matches!(before, ' ' | '\t' | '\0') || is_break(before),
            _ => false,
        };
        if found {
            return true;
        }
        before = Some(character);
    }
    false
}

/// Whether a character may stand for itself.
fn is_printable(character: char) -> bool {
    matches!(character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
        if character != '\u{feff}')
}
