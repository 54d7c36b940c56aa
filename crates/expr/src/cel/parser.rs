//! From text to [`Ast`], by climbing precedences.
//!
//! Nothing is looked up here and no macro is known. How deep parts may lie in
//! one another is bounded, because everything that follows walks the tree by
//! recursion, and a text comes from anybody.

use super::{
    ast::{Ast, AstKind, Binary, Optional},
    lexer::{Lexer, Token},
    value::Value,
};
use crate::json_path::SyntaxError;

/// The longest text.
pub(crate) const LONGEST: usize = 16 * 1024;

/// How many parts may lie one within the other. A chain such as `a.b.c` or
/// `1 + 2 + 3` counts too.
pub(crate) const DEEPEST: usize = 128;

/// How many expressions may be opened one within the other, by parentheses,
/// brackets, calls and conditions.
const MOST_OPEN: usize = 64;

const RESERVED: [&str; 18] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Reads a whole expression.
pub(crate) fn parse(source: &str) -> Result<Ast, SyntaxError> {
    if source.len() > LONGEST {
        let reason = format!("the expression is longer than {LONGEST} bytes");
        return Err(SyntaxError { at: LONGEST, reason });
    }
    let mut lexer = Lexer::new(source);
    let (at, token) = lexer.next()?;
    let mut parser = Parser { lexer, at, token, nesting: 0 };
    let ast = parser.expression()?;
    match parser.token {
        Token::End => Ok(ast),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    /// Where the token begins that comes next.
    at: usize,
    token: Token<'s>,
    nesting: usize,
}

type Parsed<T = Ast> = Result<T, SyntaxError>;

impl<'s> Parser<'s> {
    fn advance(&mut self) -> Parsed<Token<'s>> {
        let (at, token) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn sign(&self) -> Option<&'static str> {
        match self.token {
            Token::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn takes(&mut self, sign: &str) -> Parsed<bool> {
        let is_next = self.sign() == Some(sign);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn needs(&mut self, sign: &str) -> Parsed<()> {
        if self.takes(sign)? { Ok(()) } else { Err(self.unexpected(sign)) }
    }

    fn unexpected(&self, expected: &str) -> SyntaxError {
        let reason = format!("expected {expected}, not {}", self.token.describe());
        SyntaxError { at: self.at, reason }
    }

    fn node(at: usize, kind: AstKind) -> Parsed {
        let node = Ast::new(at, kind);
        if node.depth > DEEPEST {
            return Err(too_deep(at));
        }
        Ok(node)
    }

    /// `test ? yes : no`, or what binds closer.
    fn expression(&mut self) -> Parsed {
        self.nesting += 1;
        if self.nesting > MOST_OPEN {
            let reason = format!("expressions are nested deeper than {MOST_OPEN}");
            return Err(SyntaxError { at: self.at, reason });
        }
        let test = self.either()?;
        let at = self.at;
        let found = if self.takes("?")? {
            let yes = self.either()?;
            self.needs(":")?;
            let no = self.expression()?;
            Self::node(at, AstKind::Conditional(Box::new(test), Box::new(yes), Box::new(no)))?
        } else {
            test
        };
        self.nesting -= 1;
        Ok(found)
    }

    fn either(&mut self) -> Parsed {
        let at = self.at;
        let mut parts = vec![self.both()?];
        while self.takes("||")? {
            parts.push(self.both()?);
        }
        match parts.len() {
            1 => parts.pop().ok_or_else(|| too_deep(at)),
            _ => Self::node(at, AstKind::Or(parts)),
        }
    }

    fn both(&mut self) -> Parsed {
        let at = self.at;
        let mut parts = vec![self.binary(0)?];
        while self.takes("&&")? {
            parts.push(self.binary(0)?);
        }
        match parts.len() {
            1 => parts.pop().ok_or_else(|| too_deep(at)),
            _ => Self::node(at, AstKind::And(parts)),
        }
    }

    /// Operators that bind at least so closely, from the left.
    fn binary(&mut self, closeness: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some((operator, binds)) = self.operator().filter(|(_, binds)| *binds >= closeness)
        {
            let at = self.at;
            self.advance()?;
            let right = self.binary(binds + 1)?;
            left = Self::node(at, AstKind::Binary(operator, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Binary, u8)> {
        Some(match &self.token {
            Token::Name("in") => (Binary::In, 0),
            Token::Sign("==") => (Binary::Equal, 0),
            Token::Sign("!=") => (Binary::NotEqual, 0),
            Token::Sign("<") => (Binary::Less, 0),
            Token::Sign("<=") => (Binary::LessOrEqual, 0),
            Token::Sign(">") => (Binary::Greater, 0),
            Token::Sign(">=") => (Binary::GreaterOrEqual, 0),
            Token::Sign("+") => (Binary::Add, 1),
            Token::Sign("-") => (Binary::Subtract, 1),
            Token::Sign("*") => (Binary::Multiply, 2),
            Token::Sign("/") => (Binary::Divide, 2),
            Token::Sign("%") => (Binary::Remainder, 2),
            _ => return None,
        })
    }

    /// `!!a`, `--a`; the last minus before a number belongs to it.
    fn unary(&mut self) -> Parsed {
        let at = self.at;
        let Some(sign @ ("!" | "-")) = self.sign() else { return self.member(None) };
        let mut places = Vec::new();
        while self.sign() == Some(sign) {
            if places.len() > DEEPEST {
                return Err(too_deep(at));
            }
            places.push(self.at);
            self.advance()?;
        }
        let literal = match (sign, &self.token) {
            ("-", Token::Integer(int)) => 0_i64.checked_sub_unsigned(*int).map(Value::Int),
            ("-", Token::Literal(Value::Double(double))) => Some(Value::Double(-double)),
            _ => None,
        };
        let mut operand = match (literal, places.pop()) {
            (Some(value), Some(at)) => {
                self.advance()?;
                self.member(Some(Ast::new(at, AstKind::Literal(value))))?
            }
            (_, place) => {
                places.extend(place);
                self.member(None)?
            }
        };
        for at in places.into_iter().rev() {
            let of = Box::new(operand);
            let kind = if sign == "!" { AstKind::Not(of) } else { AstKind::Negate(of) };
            operand = Self::node(at, kind)?;
        }
        Ok(operand)
    }

    /// A primary, and what is selected from it.
    fn member(&mut self, primary: Option<Ast>) -> Parsed {
        let mut of = match primary {
            Some(primary) => primary,
            None => self.primary()?,
        };
        loop {
            let at = self.at;
            if self.takes(".")? {
                let optional = self.takes("?")?;
                of = self.selected(at, of, optional)?;
            } else if self.takes("[")? {
                let optional = self.takes("?")?;
                let key = Box::new(self.expression()?);
                self.needs("]")?;
                of = Self::node(at, AstKind::Index { of: Box::new(of), key, optional })?;
            } else if self.sign() == Some("{")
                && matches!(of.kind, AstKind::Name { .. } | AstKind::Select { .. })
            {
                let reason = "messages cannot be built; a map begins with { alone".to_owned();
                return Err(SyntaxError { at, reason });
            } else {
                return Ok(of);
            }
        }
    }

    /// What follows a dot: a field or a function.
    fn selected(&mut self, at: usize, of: Ast, optional: bool) -> Parsed {
        let (name, quoted) = match &self.token {
            Token::Name(name) => ((*name).to_owned(), false),
            Token::Quoted(name) => ((*name).to_owned(), true),
            _ => return Err(self.unexpected("a name after the dot")),
        };
        self.advance()?;
        if !optional && !quoted && self.takes("(")? {
            let args = self.arguments(")")?;
            return Self::node(at + 1, AstKind::Call { target: Some(Box::new(of)), name, args });
        }
        Self::node(at, AstKind::Select { of: Box::new(of), field: name, optional })
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at;
        match self.advance()? {
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.needs(")")?;
                Ok(inner)
            }
            Token::Sign("[") => {
                let items = self.items()?;
                Self::node(at, AstKind::List(items))
            }
            Token::Sign("{") => {
                let entries = self.entries()?;
                Self::node(at, AstKind::Map(entries))
            }
            Token::Sign(".") => match self.advance()? {
                Token::Name(name) => self.named(at, name, true),
                other => Err(expected_name(at, &other)),
            },
            Token::Name(name) => self.named(at, name, false),
            Token::Literal(value) => Ok(Ast::new(at, AstKind::Literal(value))),
            Token::Integer(int) => {
                let too_large = |_| SyntaxError {
                    at,
                    reason: format!("{int} does not fit into an int; write {int}u"),
                };
                let int = i64::try_from(int).map_err(too_large)?;
                Ok(Ast::new(at, AstKind::Literal(Value::Int(int))))
            }
            other => Err(expected_name(at, &other)),
        }
    }

    fn named(&mut self, at: usize, name: &str, from_root: bool) -> Parsed {
        let literal = match name {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = literal.filter(|_| !from_root) {
            return Ok(Ast::new(at, AstKind::Literal(value)));
        }
        if RESERVED.contains(&name) {
            let reason = format!("{name} is a reserved word");
            return Err(SyntaxError { at, reason });
        }
        let name = if from_root { format!(".{name}") } else { name.to_owned() };
        if self.takes("(")? {
            let args = self.arguments(")")?;
            let name = name.trim_start_matches('.').to_owned();
            return Self::node(at, AstKind::Call { target: None, name, args });
        }
        let name = name.trim_start_matches('.').to_owned();
        Ok(Ast::new(at, AstKind::Name { name, from_root }))
    }

    fn arguments(&mut self, end: &str) -> Parsed<Vec<Ast>> {
        let mut args = Vec::new();
        if self.takes(end)? {
            return Ok(args);
        }
        loop {
            args.push(self.expression()?);
            if self.takes(end)? {
                return Ok(args);
            }
            self.needs(",")?;
        }
    }

    fn items(&mut self) -> Parsed<Vec<(Optional, Ast)>> {
        let mut items = Vec::new();
        while !self.takes("]")? {
            let optional = self.optional()?;
            items.push((optional, self.expression()?));
            if self.takes("]")? {
                break;
            }
            self.needs(",")?;
        }
        Ok(items)
    }

    fn entries(&mut self) -> Parsed<Vec<(Optional, Ast, Ast)>> {
        let mut entries = Vec::new();
        while !self.takes("}")? {
            let optional = self.optional()?;
            let key = self.expression()?;
            self.needs(":")?;
            entries.push((optional, key, self.expression()?));
            if self.takes("}")? {
                break;
            }
            self.needs(",")?;
        }
        Ok(entries)
    }

    fn optional(&mut self) -> Parsed<Optional> {
        Ok(if self.takes("?")? { Optional::Yes } else { Optional::No })
    }
}

fn expected_name(at: usize, token: &Token<'_>) -> SyntaxError {
    SyntaxError { at, reason: format!("expected a value, not {}", token.describe()) }
}

fn too_deep(at: usize) -> SyntaxError {
    let reason = format!("the expression is nested deeper than {DEEPEST} parts");
    SyntaxError { at, reason }
}
