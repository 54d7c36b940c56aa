//! CEL as Kubernetes users know it.
//!
//! A text is compiled once: names become slots, chains of fields one walk,
//! constants values and patterns automata. What is compiled is evaluated over
//! borrowed JSON within a [`Budget`](crate::Budget), and knows which paths of
//! the object it can touch.

mod ast;
mod lexer;
mod literal;
mod parser;
pub mod value;
mod types;
pub(crate) mod node;
mod lower;
mod machine;
mod compare;
mod functions;
mod operators;
mod convert;
mod strings;
mod format;
mod patterns;
mod lists;
mod sets;
mod math;
mod encoders;
mod time;
pub mod instant;
mod optionals;
pub mod kubernetes;
mod plain;
mod estimate;
mod touches;

use crate::{
    budget::Budget,
    eval::{EvalError, Reason},
    json::Json,
    json_path::SyntaxError,
    program::{Program, Root},
    projection::Projection,
};
use node::Node;
use types::{Bound, Type};
use value::Value;

/// Compiles an expression over `object`.
///
/// ```
/// # use kollect_expr::{Budget, Projection, cel, read};
/// let program = cel::compile("object.spec.replicas > 1 ? 'many' : 'one'")?;
/// let object = read(br#"{"spec":{"replicas":3}}"#, &Projection::everything())?;
/// let value = program.value(&object, &mut Budget::DEFAULT.clone())?;
/// assert_eq!(value.to_value(), "many");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(source: &str) -> Result<Program, SyntaxError> {
    compile_giving(source, Gives::Anything)
}

/// Compiles an expression over `object` that gives what is asked for.
pub fn compile_giving(source: &str, gives: Gives) -> Result<Program, SyntaxError> {
    Environment::new(["object"]).giving(gives).compile(source)
}

/// What an expression may name, and what is asked of it.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Vec<String>,
    container: String,
    checked: bool,
    macros: bool,
    gives: Gives,
}

/// What an expression must give, as far as that can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Anything,
    Bool,
    /// Texts in a list.
    Texts,
}

impl Environment {
    /// Variables of any type, in the order in which their values are given.
    pub fn new<N: Into<String>>(variables: impl IntoIterator<Item = N>) -> Self {
        let variables = variables.into_iter().map(Into::into).collect();
        let container = String::new();
        Self { variables, container, checked: true, macros: true, gives: Gives::Anything }
    }

    /// What cannot give this is refused.
    #[must_use]
    pub fn giving(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }

    /// Names are looked for in this namespace first.
    #[must_use]
    pub fn within(self, container: impl Into<String>) -> Self {
        Self { container: container.into(), ..self }
    }

    /// What types rule out is no error before it is reached.
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { checked: false, ..self }
    }

    /// Calls are calls, whatever they are named.
    #[must_use]
    pub fn without_macros(self) -> Self {
        Self { macros: false, ..self }
    }

    /// Compiles an expression.
    pub fn compile(&self, source: &str) -> Result<Program, SyntaxError> {
        let ast = parser::parse(source)?;
        let (root, of) = lower::lower(&ast, self)?;
        let (wanted, said) = match self.gives {
            Gives::Anything => (Type::Dynamic, ""),
            Gives::Bool => (Type::BOOL, "a bool"),
            Gives::Texts => (Type::list(Type::Named("string")), "a list of strings"),
        };
        if !wanted.fits(&of, &mut Bound::default()) {
            let reason = format!("{said} is needed, and this is {of}");
            return Err(SyntaxError { at: 0, reason });
        }
        estimate::check(&root)?;
        Ok(Program { source: source.into(), root: Root::Cel(Box::new(root)) })
    }

    fn is_checked(&self) -> bool {
        self.checked
    }

    fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|variable| variable == name)
    }

    /// The full names that a name may stand for, innermost first.
    fn candidates(&self, name: &str, from_root: bool) -> Vec<String> {
        let mut found = Vec::new();
        let mut container = if from_root { "" } else { self.container.as_str() };
        while !container.is_empty() {
            found.push(format!("{container}.{name}"));
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        found.push(name.to_owned());
        found
    }
}

/// What an expression computes from the values of its variables.
pub fn evaluate<'v, 'a>(
    program: &'v Program,
    values: &[Value<'v, 'a>],
    budget: &mut Budget,
) -> Result<Value<'v, 'a>, EvalError> {
    match &program.root {
        Root::Cel(root) => run(root, values, budget),
        Root::Path(_) => Err(EvalError { at: 0, reason: Reason::Computed }),
    }
}

pub(crate) fn run<'v, 'a>(
    root: &'v Node,
    values: &[Value<'v, 'a>],
    budget: &mut Budget,
) -> Result<Value<'v, 'a>, EvalError> {
    machine::Machine::new(values, budget).eval(root)
}

/// Adds what an expression touches of its first variable.
pub(crate) fn touch(root: &Node, projection: &mut Projection) {
    touches::add(root, projection);
}

/// The result as JSON.
pub(crate) fn json<'a>(
    root: &Node,
    object: &Json<'a>,
    budget: &mut Budget,
) -> Result<Json<'a>, EvalError> {
    let value = run(root, &[Value::of(object)], budget)?;
    plain::plain(budget, value).map_err(|reason| EvalError { at: root.at, reason })
}
