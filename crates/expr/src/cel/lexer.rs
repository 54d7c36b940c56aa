//! Cuts a text into words, numbers, literals and signs.

use super::{literal, value::Value};
use crate::json_path::SyntaxError;

/// What stands next in a text.
#[derive(Clone, Debug)]
pub(crate) enum Token<'s> {
    Name(&'s str),
    /// A name in back quotes.
    Quoted(&'s str),
    Literal(Value<'static, 'static>),
    /// An integer without its sign.
    Integer(u64),
    Sign(&'static str),
    End,
}

impl Token<'_> {
    /// What a reader would call it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Name(name) | Self::Quoted(name) => format!("the name {name}"),
            Self::Literal(value) => format!("a {}", value.type_name()),
            Self::Integer(int) => int.to_string(),
            Self::Sign(sign) => (*sign).to_owned(),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Longer signs first, since shorter ones begin them.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "+", "-",
    "*", "/", "%", "!", "<", ">",
];

pub(crate) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    /// The next token and where it begins.
    pub(crate) fn next(&mut self) -> Result<(usize, Token<'s>), SyntaxError> {
        self.skip_blanks();
        let at = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok((at, Token::End)) };
        let token = match first {
            '`' => self.quoted()?,
            '0'..='9' => self.number()?,
            '.' if rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => self.number()?,
            '"' | '\'' => self.literal()?,
            'a'..='z' | 'A'..='Z' | '_' => self.word()?,
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Token::Sign(sign)
                }
                None => return Err(self.fail(format!("{first:?} means nothing here"))),
            },
        };
        Ok((at, token))
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn fail(&self, reason: String) -> SyntaxError {
        SyntaxError { at: self.at, reason }
    }

    /// Blanks, and comments to the end of their line.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at += rest.len() - blank.len();
            if !blank.starts_with("//") {
                return;
            }
            self.at += blank.find('\n').unwrap_or(blank.len());
        }
    }

    fn quoted(&mut self) -> Result<Token<'s>, SyntaxError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-/ ".contains(c);
        let after = self.rest().get(1..).unwrap_or_default();
        match after.split_once('`') {
            Some((name, _)) if !name.is_empty() && name.chars().all(allowed) => {
                self.at += name.len() + 2;
                Ok(Token::Quoted(name))
            }
            _ => Err(self.fail(
                "a name in back quotes has letters, digits, blanks and _ . - / only".to_owned(),
            )),
        }
    }

    /// A name, or the prefix of a literal.
    fn word(&mut self) -> Result<Token<'s>, SyntaxError> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_prefix = matches!(word.to_ascii_lowercase().as_str(), "r" | "b" | "br" | "rb");
        if is_prefix && after.starts_with(['"', '\'']) {
            return self.literal();
        }
        self.at += word.len();
        Ok(Token::Name(word))
    }

    fn literal(&mut self) -> Result<Token<'s>, SyntaxError> {
        let (value, length) = literal::text(self.rest())
            .map_err(|(at, reason)| SyntaxError { at: self.at + at, reason: reason.to_owned() })?;
        self.at += length;
        Ok(Token::Literal(value))
    }

    fn number(&mut self) -> Result<Token<'s>, SyntaxError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            from + bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut end;
        let mut float = false;
        if rest.starts_with("0x") || rest.starts_with("0X") {
            end = 2 + bytes.iter().skip(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
        } else {
            end = digits(0);
            if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
                float = true;
                end = digits(end + 1);
            }
            if matches!(bytes.get(end), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
                let exponent = digits(end + 1 + sign);
                if exponent > end + 1 + sign {
                    float = true;
                    end = exponent;
                }
            }
        }
        let text = rest.get(..end).unwrap_or_default();
        let unsigned = !float && matches!(bytes.get(end), Some(b'u' | b'U'));
        let token = literal::number(text, float, unsigned)
            .ok_or_else(|| self.fail(format!("{text} does not fit into 64 bits")))?;
        self.at += end + usize::from(unsigned);
        match self.rest().chars().next() {
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                Err(self.fail("a number cannot be followed by a name".to_owned()))
            }
            _ => Ok(token),
        }
    }
}
