//! The values that only Kubernetes has, as values of the language.
//!
//! What they are and how they are read is in [`crate::kube`]; here are their
//! names, their types and what they cost.

mod network;

use std::{fmt::Display, str::FromStr, sync::Arc};

use super::{
    functions::{Function, global, method, unfit},
    value::{Key, Map, Value},
};
use crate::{
    budget::Budget,
    eval::Reason,
    kube::{cidr::Cidr, format::Format, ip::Ip, quantity::Quantity, semver::Semver, url::Url},
};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

/// A value of Kubernetes.
#[derive(Clone, Debug, PartialEq)]
pub enum Special {
    Quantity(Quantity),
    Url(Url),
    Ip(Ip),
    Cidr(Cidr),
    Semver(Semver),
    Format(Format),
}

impl Special {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// As it would be written.
    pub(crate) fn spelled(&self) -> String {
        match self {
            Self::Quantity(quantity) => quantity.to_string(),
            Self::Url(url) => url.to_string(),
            Self::Ip(ip) => ip.to_string(),
            Self::Cidr(cidr) => cidr.to_string(),
            Self::Semver(semver) => semver.to_string(),
            Self::Format(format) => {
                let name = Format::ALL.iter().find(|(_, known)| known == format);
                name.map(|(name, _)| (*name).to_owned()).unwrap_or_default()
            }
        }
    }
}

pub(crate) const NETWORK: &[Function] = network::FUNCTIONS;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("quantity", "string -> kubernetes.Quantity", quantity),
    global("isQuantity", "string -> bool", |b, a| is::<Quantity>(b, a, "isQuantity")),
    global("sign", "kubernetes.Quantity -> int", sign),
    method("isInteger", "kubernetes.Quantity -> bool", is_integer),
    method("asInteger", "kubernetes.Quantity -> int", as_integer),
    method("asApproximateFloat", "kubernetes.Quantity -> double", as_float),
    method("add", "kubernetes.Quantity, kubernetes.Quantity -> kubernetes.Quantity", add),
    method("add", "kubernetes.Quantity, int -> kubernetes.Quantity", add),
    method("sub", "kubernetes.Quantity, kubernetes.Quantity -> kubernetes.Quantity", sub),
    method("sub", "kubernetes.Quantity, int -> kubernetes.Quantity", sub),
    method("compareTo", "kubernetes.Quantity, kubernetes.Quantity -> int", compare_to),
    method("compareTo", "kubernetes.Semver, kubernetes.Semver -> int", compare_to),
    method("isLessThan", "kubernetes.Quantity, kubernetes.Quantity -> bool", is_less),
    method("isLessThan", "kubernetes.Semver, kubernetes.Semver -> bool", is_less),
    method("isGreaterThan", "kubernetes.Quantity, kubernetes.Quantity -> bool", is_greater),
    method("isGreaterThan", "kubernetes.Semver, kubernetes.Semver -> bool", is_greater),
    global("url", "string -> kubernetes.URL", url),
    global("isURL", "string -> bool", is_url),
    method("getScheme", "kubernetes.URL -> string", |b, a| of_url(b, a, |u| u.scheme().to_owned())),
    method("getHost", "kubernetes.URL -> string", |b, a| of_url(b, a, Url::host)),
    method("getHostname", "kubernetes.URL -> string", |b, a| of_url(b, a, Url::hostname)),
    method("getPort", "kubernetes.URL -> string", |b, a| of_url(b, a, Url::port)),
    method("getEscapedPath", "kubernetes.URL -> string", |b, a| of_url(b, a, Url::escaped_path)),
    method("getQuery", "kubernetes.URL -> map(string, list(string))", query),
    global("semver", "string -> kubernetes.Semver", semver),
    global("semver", "string, bool -> kubernetes.Semver", semver),
    global("isSemver", "string -> bool", is_semver),
    global("isSemver", "string, bool -> bool", is_semver),
    method("major", "kubernetes.Semver -> int", |_, a| of_semver(a, Semver::major)),
    method("minor", "kubernetes.Semver -> int", |_, a| of_semver(a, Semver::minor)),
    method("patch", "kubernetes.Semver -> int", |_, a| of_semver(a, Semver::patch)),
    global("format.named", "string -> optional(kubernetes.NamedFormat)", named),
    global("format.dns1123Label", FORMAT, |_, _| format(Format::Dns1123Label)),
    global("format.dns1123Subdomain", FORMAT, |_, _| format(Format::Dns1123Subdomain)),
    global("format.dns1035Label", FORMAT, |_, _| format(Format::Dns1035Label)),
    global("format.qualifiedName", FORMAT, |_, _| format(Format::QualifiedName)),
    global("format.dns1123LabelPrefix", FORMAT, |_, _| format(Format::Dns1123LabelPrefix)),
    global("format.dns1123SubdomainPrefix", FORMAT, |_, _| format(Format::Dns1123SubdomainPrefix)),
    global("format.dns1035LabelPrefix", FORMAT, |_, _| format(Format::Dns1035LabelPrefix)),
    global("format.labelValue", FORMAT, |_, _| format(Format::LabelValue)),
    global("format.uri", FORMAT, |_, _| format(Format::Uri)),
    global("format.uuid", FORMAT, |_, _| format(Format::Uuid)),
    global("format.byte", FORMAT, |_, _| format(Format::Byte)),
    global("format.date", FORMAT, |_, _| format(Format::Date)),
    global("format.datetime", FORMAT, |_, _| format(Format::Datetime)),
    method("validate", "kubernetes.NamedFormat, string -> optional(list(string))", validate),
    global("jsonpatch.escapeKey", "string -> string", escape_key),
];

const FORMAT: &str = " -> kubernetes.NamedFormat";

fn special<'v, 'a>(special: Special) -> Value<'v, 'a> {
    Value::Special(Arc::new(special))
}

/// Pays for reading a text and for what is made of it.
fn pay(budget: &mut Budget, text: &str) -> Result<(), Reason> {
    /// What is made of a text is some small parts and the text itself.
    const PARTS: usize = 256;
    budget.take(text.len() * 8)?;
    budget.build(PARTS + 4 * text.len())
}

fn invalid(error: impl Display) -> Reason {
    Reason::Invalid(error.to_string().into())
}

/// Reads a text.
fn read<'v, 'a, T: FromStr<Err: Display>>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    name: &'static str,
    make: fn(T) -> Special,
) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit(name, args)) };
    pay(budget, text.as_str())?;
    text.as_str().parse().map(|read| special(make(read))).map_err(invalid)
}

/// Whether a text can be read.
fn is<'v, 'a, T: FromStr>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    name: &'static str,
) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit(name, args)) };
    pay(budget, text.as_str())?;
    Ok(Value::Bool(text.as_str().parse::<T>().is_ok()))
}

/// The special value that an argument is.
fn given<'s>(value: &'s Value<'_, '_>) -> Option<&'s Special> {
    match value {
        Value::Special(special) => Some(special),
        _ => None,
    }
}

fn quantity<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    read(budget, args, "quantity", Special::Quantity)
}

fn of_quantity<'v, 'a>(
    args: &[Value<'v, 'a>],
    name: &'static str,
    how: impl FnOnce(&Quantity) -> Computed<'v, 'a>,
) -> Computed<'v, 'a> {
    match args.first().and_then(given) {
        Some(Special::Quantity(quantity)) => how(quantity),
        _ => Err(unfit(name, args)),
    }
}

fn sign<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    of_quantity(args, "sign", |quantity| Ok(Value::Int(quantity.sign())))
}

fn is_integer<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    of_quantity(args, "isInteger", |quantity| Ok(Value::Bool(quantity.is_integer())))
}

fn as_integer<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    of_quantity(args, "asInteger", |quantity| {
        quantity.as_integer().map(Value::Int).map_err(invalid)
    })
}

fn as_float<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    of_quantity(args, "asApproximateFloat", |quantity| {
        Ok(Value::Double(quantity.as_approximate_float()))
    })
}

/// What a sum or a difference may need: digits between the two exponents.
const ARITHMETIC: usize = 4_096;

fn add<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    budget.take(ARITHMETIC)?;
    budget.build(ARITHMETIC)?;
    of_quantity(args, "add", |one| {
        let sum = match (args.get(1), args.get(1).and_then(given)) {
            (Some(Value::Int(other)), _) => one.add_int(*other),
            (_, Some(Special::Quantity(other))) => one.add(other),
            _ => return Err(unfit("add", args)),
        };
        sum.map(|sum| special(Special::Quantity(sum))).map_err(invalid)
    })
}

fn sub<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    budget.take(ARITHMETIC)?;
    budget.build(ARITHMETIC)?;
    of_quantity(args, "sub", |one| {
        let rest = match (args.get(1), args.get(1).and_then(given)) {
            (Some(Value::Int(other)), _) => one.sub_int(*other),
            (_, Some(Special::Quantity(other))) => one.sub(other),
            _ => return Err(unfit("sub", args)),
        };
        rest.map(|rest| special(Special::Quantity(rest))).map_err(invalid)
    })
}

fn compare(args: &[Value<'_, '_>], name: &'static str) -> Result<std::cmp::Ordering, Reason> {
    let [one, other] = args else { return Err(unfit(name, args)) };
    match (given(one), given(other)) {
        (Some(Special::Quantity(one)), Some(Special::Quantity(other))) => Ok(one.cmp(other)),
        (Some(Special::Semver(one)), Some(Special::Semver(other))) => Ok(one.cmp(other)),
        _ => Err(unfit(name, args)),
    }
}

fn compare_to<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    budget.take(100)?;
    compare(args, "compareTo").map(|order| Value::Int(order as i64))
}

fn is_less<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    budget.take(100)?;
    compare(args, "isLessThan").map(|order| Value::Bool(order.is_lt()))
}

fn is_greater<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    budget.take(100)?;
    compare(args, "isGreaterThan").map(|order| Value::Bool(order.is_gt()))
}

fn url<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    read(budget, args, "url", Special::Url)
}

fn is_url<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("isURL", args)) };
    pay(budget, text.as_str())?;
    Ok(Value::Bool(Url::check(text.as_str()).is_ok()))
}

fn of_url<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    part: impl FnOnce(&Url) -> String,
) -> Computed<'v, 'a> {
    let Some(Special::Url(url)) = args.first().and_then(given) else {
        return Err(unfit("a function of URLs", args));
    };
    let text = part(url);
    budget.build(256 + 2 * text.len())?;
    Ok(Value::text(text))
}

fn query<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let Some(Special::Url(url)) = args.first().and_then(given) else {
        return Err(unfit("getQuery", args));
    };
    let mut entries = Vec::new();
    for (name, values) in url.query() {
        let texts: usize = values.iter().map(|value| value.len() + 64).sum();
        budget.build(2 * (name.len() + texts) + 128)?;
        let values = Value::list(values.into_iter().map(Value::text).collect());
        entries.push((Key::of(Value::text(name))?, values));
    }
    Ok(Value::Map(Arc::new(Map::new(entries)?)))
}

fn read_semver(
    budget: &mut Budget,
    args: &[Value<'_, '_>],
    name: &'static str,
) -> Result<Result<Semver, String>, Reason> {
    let (text, lenient) = match args {
        [Value::Text(text)] => (text.as_str(), false),
        [Value::Text(text), Value::Bool(lenient)] => (text.as_str(), *lenient),
        _ => return Err(unfit(name, args)),
    };
    pay(budget, text)?;
    let read = if lenient { Semver::normalized(text) } else { text.parse() };
    Ok(read.map_err(|error| error.to_string()))
}

fn semver<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let read = read_semver(budget, args, "semver")?;
    read.map(|semver| special(Special::Semver(semver))).map_err(invalid)
}

fn is_semver<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    read_semver(budget, args, "isSemver").map(|read| Value::Bool(read.is_ok()))
}

fn of_semver<'v, 'a>(args: &[Value<'v, 'a>], part: fn(&Semver) -> i64) -> Computed<'v, 'a> {
    match args.first().and_then(given) {
        Some(Special::Semver(semver)) => Ok(Value::Int(part(semver))),
        _ => Err(unfit("a function of versions", args)),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every function has this shape")]
fn format<'v, 'a>(format: Format) -> Computed<'v, 'a> {
    Ok(special(Special::Format(format)))
}

fn named<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(name)] = args else { return Err(unfit("format.named", args)) };
    let found = Format::named(name.as_str());
    Ok(found.map_or(Value::NONE, |found| Value::some(special(Special::Format(found)))))
}

/// What is wrong with a text; none if nothing is.
fn validate<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [format, Value::Text(text)] = args else { return Err(unfit("validate", args)) };
    let Some(Special::Format(format)) = given(format) else { return Err(unfit("validate", args)) };
    // The words may hold the text with all of it escaped.
    budget.build(2_048 + 8 * text.as_str().len())?;
    let wrong = format.validate(text.as_str());
    Ok(wrong.map_or(Value::NONE, |wrong| {
        Value::some(Value::list(wrong.into_iter().map(Value::text).collect()))
    }))
}

/// A key as it stands in a JSON pointer.
fn escape_key<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(key)] = args else { return Err(unfit("jsonpatch.escapeKey", args)) };
    budget.build(4 * key.as_str().len())?;
    Ok(Value::text(key.as_str().replace('~', "~0").replace('/', "~1")))
}
