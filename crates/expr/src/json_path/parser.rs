//! From text to steps.

use super::SyntaxError;
use crate::{
    json::Number,
    program::{Expr, Filter, Operator, Slot, Step, StepKind},
};

/// More steps than any path has; a bound for what is built from a text.
const MOST_STEPS: usize = 1_000;
/// Filters within filters.
const DEEPEST: usize = 16;

pub(super) struct Parser<'s> {
    source: &'s str,
    at: usize,
    depth: usize,
    steps: usize,
}

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, at: 0, depth: 0, steps: 0 }
    }

    /// A whole text: `$…` or `{…}` and nothing around it.
    pub(super) fn path(mut self) -> Result<Vec<Step>, SyntaxError> {
        self.blanks();
        let braced = self.eat("{");
        if braced {
            self.blanks();
            if ["range", "end"].iter().any(|word| self.rest().starts_with(word)) {
                return Err(self.error("range and end are for printing; [*] takes every element"));
            }
        } else if !self.rest().starts_with('$') {
            return Err(
                self.error("a path begins with $ or stands in braces, such as $.spec or {.spec}")
            );
        }
        let rooted = self.eat("$") || self.eat("@");
        let steps = self.steps()?;
        if steps.is_empty() && !rooted {
            return Err(self.error("a field is missing, such as .spec"));
        }
        self.blanks();
        if braced && !self.eat("}") {
            return Err(self.error("the closing brace is missing here"));
        }
        self.blanks();
        match self.rest() {
            "" => Ok(steps),
            _ => Err(self.error("nothing may stand after the path")),
        }
    }

    fn steps(&mut self) -> Result<Vec<Step>, SyntaxError> {
        let mut steps = Vec::new();
        loop {
            let at = self.at;
            let mut add = |kind| steps.push(Step { at, kind });
            if self.eat("..") {
                add(StepKind::Descend);
                if !self.rest().starts_with(['[', '}']) && !self.rest().is_empty() {
                    let kind = self.field()?;
                    add(kind);
                }
            } else if self.eat(".") {
                // kubectl takes `.['a']` for `['a']`.
                if self.rest().starts_with('[') {
                    continue;
                }
                let kind = self.field()?;
                add(kind);
            } else if self.eat("[") {
                let kind = self.bracket()?;
                add(kind);
            } else {
                return Ok(steps);
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(self.error("the path has too many steps"));
            }
        }
    }

    /// A name after a dot; a backslash takes the next character as it is.
    fn field(&mut self) -> Result<StepKind, SyntaxError> {
        if self.eat("*") {
            return Ok(StepKind::Every);
        }
        let mut name = String::new();
        let mut characters = self.rest().chars();
        while let Some(c) = characters.next() {
            match c {
                '\\' => name.extend(characters.next()),
                '.' | ',' | '[' | ']' | '{' | '}' | '(' | ')' | '=' | '!' | '<' | '>' => break,
                c if c.is_whitespace() => break,
                c => name.push(c),
            }
            self.at = self.source.len() - characters.as_str().len();
        }
        if name.is_empty() {
            return Err(self.error("a field name is missing here"));
        }
        Ok(StepKind::Field(name.into()))
    }

    /// What stands in brackets, up to behind the closing one.
    fn bracket(&mut self) -> Result<StepKind, SyntaxError> {
        self.blanks();
        if self.eat("?") {
            let filter = self.filter()?;
            self.expect("]", "the closing bracket of the filter is missing here")?;
            return Ok(StepKind::Filter(Box::new(filter)));
        }
        let mut choices = Vec::new();
        loop {
            self.blanks();
            let at = self.at;
            choices.push(Step { at, kind: self.choice()? });
            self.blanks();
            if self.eat("]") {
                break;
            }
            self.expect(",", "a comma or the closing bracket is missing here")?;
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(self.error("the path has too many steps"));
            }
        }
        Ok(match choices.len() {
            1 => choices.swap_remove(0).kind,
            _ => StepKind::Union(choices),
        })
    }

    /// One entry of a bracket: a star, a name in quotes, an index, a slice.
    fn choice(&mut self) -> Result<StepKind, SyntaxError> {
        if self.eat("*") {
            return Ok(StepKind::Slice { from: None, to: None, step: 1 });
        }
        if let Some(name) = self.quoted()? {
            return Ok(StepKind::Field(name.into()));
        }
        let from = self.integer()?;
        self.blanks();
        if !self.eat(":") {
            let missing = "an index, a slice, a name in quotes, * or a filter is missing here";
            return from.map(StepKind::Index).ok_or_else(|| self.error(missing));
        }
        self.blanks();
        let to = self.integer()?;
        self.blanks();
        let at = self.at;
        let step = if self.eat(":") { self.integer()?.unwrap_or(1) } else { 1 };
        if step < 1 {
            return Err(SyntaxError { at, reason: "the step of a slice must be 1 or more".into() });
        }
        Ok(StepKind::Slice { from, to, step })
    }

    fn filter(&mut self) -> Result<Filter, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("filters are nested too deeply"));
        }
        self.expect("(", "a filter stands in parentheses, such as [?(@.name==\"web\")]")?;
        let left = self.operand()?;
        self.blanks();
        let test = match self.operator() {
            Some(operator) => Some((operator, self.operand()?)),
            None => None,
        };
        self.blanks();
        self.expect(")", "a comparison or the closing parenthesis is missing here")?;
        self.blanks();
        self.depth -= 1;
        Ok(Filter { left, test })
    }

    fn operator(&mut self) -> Option<Operator> {
        let known = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        known.into_iter().find(|(text, _)| self.eat(text)).map(|(_, operator)| operator)
    }

    /// One side of a comparison: a path, a text, a number, true or false.
    fn operand(&mut self) -> Result<Expr, SyntaxError> {
        self.blanks();
        if let Some(text) = self.quoted()? {
            return Ok(Expr::Text(text.into()));
        }
        for (word, value) in [("true", true), ("false", false)] {
            if self.eat(word) {
                return Ok(Expr::Bool(value));
            }
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
            return self.number().map(Expr::Number);
        }
        // Within a filter kubectl takes both for the element.
        let starts = self.eat("$") || self.eat("@") || self.rest().starts_with(['.', '[']);
        if !starts {
            let missing = "a path, a text in quotes, a number, true or false is missing here";
            return Err(self.error(missing));
        }
        Ok(Expr::Walk { from: Slot::Element, steps: self.steps()? })
    }

    fn number(&mut self) -> Result<Number, SyntaxError> {
        let at = self.at;
        let legal = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let end = self.rest().find(|c| !legal(c)).unwrap_or(self.rest().len());
        let text = self.rest().get(..end).unwrap_or_default();
        let number = text
            .parse()
            .map(Number::Int)
            .or_else(|_| text.parse().map(Number::Float))
            .map_err(|_| SyntaxError { at, reason: format!("{text} is no number") })?;
        self.at += end;
        Ok(number)
    }

    fn integer(&mut self) -> Result<Option<i64>, SyntaxError> {
        let at = self.at;
        let end = self
            .rest()
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(self.rest().len());
        let text = self.rest().get(..end).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let integer = text.parse();
        self.at += end;
        integer.map(Some).map_err(|_| SyntaxError { at, reason: format!("{text} is no index") })
    }

    /// A text in quotes of either kind; a backslash takes the next character.
    fn quoted(&mut self) -> Result<Option<String>, SyntaxError> {
        let start = self.at;
        let mut characters = self.rest().chars();
        let Some(quote @ ('\'' | '"')) = characters.next() else { return Ok(None) };
        let mut text = String::new();
        while let Some(c) = characters.next() {
            match c {
                '\\' => text.extend(characters.next()),
                c if c == quote => {
                    self.at = self.source.len() - characters.as_str().len();
                    return Ok(Some(text));
                }
                c => text.push(c),
            }
        }
        Err(SyntaxError { at: start, reason: "the closing quote is missing".into() })
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn expect(&mut self, text: &str, missing: &str) -> Result<(), SyntaxError> {
        if self.eat(text) { Ok(()) } else { Err(self.error(missing)) }
    }

    fn blanks(&mut self) {
        self.at = self.source.len() - self.rest().trim_start().len();
    }

    fn error(&self, reason: &str) -> SyntaxError {
        SyntaxError { at: self.at, reason: reason.to_owned() }
    }
}
