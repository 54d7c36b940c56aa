//! Hides what looks like a secret.
//!
//! A name can give a value away (`password`, `apiToken`), a value its own
//! nature (a private key, a token of a well-known issuer), and a text can hold
//! a secret among other things (a connection string, a URL, a settings file).
//! Names are judged in `keys`, texts in `text`; this file walks the value.
//!
//! What holds here:
//! - What is hidden depends on the value and the names alone.
//! - A second time nothing more is found.
//! - The work is linear in the size of the value, and nothing is allocated
//!   while nothing is found, except to read JSON that stands in a text and
//!   mentions a name that could give something away.

mod keys;
mod findings;
mod text;
mod places;
mod assign;
mod command;
mod shapes;

use std::borrow::Cow;

use kollect_expr::{Json, Projection, read};

use self::{
    findings::Place,
    keys::{Judgement, is_naming},
    text::Outcome,
};

pub use self::{
    findings::{Finding, Findings, Reason},
    keys::Keys,
};

/// How deep JSON in texts in JSON is read; below that texts are searched as
/// they are.
const NESTED_TEXTS: u8 = 4;

/// Hides what looks like a secret, in place; says where and why.
pub fn redact(value: &mut Json<'_>, keys: &Keys, found: &mut Findings) {
    Walk { keys, found, nested: 0 }.value(value, Judgement::Harmless, &Place::Root);
}

/// Hides what looks like a secret in the value of an attribute, whose own name
/// counts as a key.
pub fn redact_attribute(name: &str, value: &mut Json<'_>, keys: &Keys, found: &mut Findings) {
    let judged = keys.judge(name);
    Walk { keys, found, nested: 0 }.field(name, value, judged, &Place::Root);
}

struct Walk<'w> {
    keys: &'w Keys,
    found: &'w mut Findings,
    /// How many texts around this value were read as JSON.
    nested: u8,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Json<'_>, judged: Judgement, place: &Place<'_>) {
        match value {
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
            Json::Text(text) => {
                if judged != Judgement::Harmless && !assign::stays(text.trim()) {
                    self.hide(value, place, Reason::SensitiveKey);
                } else if let Some(instead) = self.text(text, place) {
                    *value = instead;
                }
            }
            Json::List(items) => self.list(items, judged, place),
            Json::Map(fields) => self.map(fields, judged, place),
        }
    }

    fn list(&mut self, items: &mut [Json<'_>], judged: Judgement, place: &Place<'_>) {
        let mut after_flag = false;
        for index in 0..items.len() {
            let (before, rest) = items.split_at_mut(index);
            let Some(item) = rest.first_mut() else { break };
            let place = Place::Item(place, index);
            let mut hidden = false;
            let was_flag = std::mem::take(&mut after_flag);
            if let Json::Text(text) = &*item {
                let arguments = before.iter().filter_map(as_text);
                hidden = (was_flag && !text.starts_with('-') && !assign::stays(text))
                    || command::holds_secret_of(text, arguments.clone());
                after_flag = command::takes_secret(text, self.keys)
                    || command::takes_secret_of(text, arguments);
            }
            if hidden {
                self.hide(item, &place, Reason::SensitiveKey);
            } else {
                self.value(item, judged, &place);
            }
        }
    }

    fn map(
        &mut self,
        fields: &mut Vec<(Cow<'_, str>, Json<'_>)>,
        judged: Judgement,
        place: &Place<'_>,
    ) {
        if is_redacted(fields) {
            return;
        }
        let pair = self.judge_pair(fields);
        // There `secretKey` names a key; it does not hold one.
        let external = has_map(fields, "remoteRef") || has_map(fields, "sourceRef");
        let mut renamed = false;
        for (key, value) in fields.iter_mut() {
            let masked = match text::examine(key, self.keys) {
                Outcome::Clean => None,
                Outcome::Secret => Some(text::MASK.into()),
                Outcome::Masked(masked) => Some(masked.into()),
            };
            if let Some(masked) = masked {
                *key = masked;
                renamed = true;
                self.found.add(&Place::Field(place, key), Reason::SecretInText);
            }
            let own = match self.keys.judge(key) {
                Judgement::Texts if external && key == "secretKey" => Judgement::Harmless,
                own => own,
            };
            let of_pair = if is_value(key) { pair } else { Judgement::Harmless };
            let judged = match (own, of_pair) {
                (Judgement::Harmless, Judgement::Harmless) => below(judged, key),
                (Judgement::Harmless, of_pair) => of_pair,
                (own, _) => own,
            };
            self.field(key, value, judged, place);
        }
        if renamed {
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            fields.dedup_by(|(later, _), (kept, _)| later == kept);
        }
    }

    /// A value under its name.
    fn field(&mut self, key: &str, value: &mut Json<'_>, judged: Judgement, place: &Place<'_>) {
        let place = Place::Field(place, key);
        if judged == Judgement::Whole || is_carrier(key, value) {
            self.hide(value, &place, Reason::SensitiveKey);
        } else {
            self.value(value, judged, &place);
        }
    }

    /// What the name in a pair of name and value says about the value.
    fn judge_pair(&self, fields: &[(Cow<'_, str>, Json<'_>)]) -> Judgement {
        let names = fields
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("key"));
        let judged = names.filter_map(|(_, name)| as_text(name)).map(|name| self.keys.judge(name));
        judged
            .reduce(|one, other| if one == Judgement::Harmless { other } else { one })
            .unwrap_or(Judgement::Harmless)
    }

    /// What stands in for a text, if it holds a secret.
    fn text<'a>(&mut self, text: &str, place: &Place<'_>) -> Option<Json<'a>> {
        let outcome = text::examine(text, self.keys);
        if is_json(text) && self.nested < NESTED_TEXTS {
            let doubtful = outcome != Outcome::Clean || self.keys.may_be_named_in(text);
            if !doubtful {
                return None;
            }
            if let Ok(json) = read(text.as_bytes(), &Projection::everything()) {
                return self.json(json, text, place);
            }
        }
        match outcome {
            Outcome::Clean => None,
            Outcome::Secret => {
                self.found.add(place, Reason::SensitiveValue);
                Some(redacted(Reason::SensitiveValue))
            }
            Outcome::Masked(masked) => {
                self.found.add(place, Reason::SecretInText);
                // What was no JSON because of its secret may be JSON without it.
                let json = (is_json(&masked) && self.nested < NESTED_TEXTS)
                    .then(|| read(masked.as_bytes(), &Projection::everything()).ok());
                let further = json.flatten().and_then(|json| self.json(json, &masked, place));
                Some(further.unwrap_or_else(|| Json::Text(masked.into())))
            }
        }
    }

    /// What stands in for a text that is JSON, if it holds a secret.
    fn json<'a>(&mut self, mut json: Json<'_>, text: &str, place: &Place<'_>) -> Option<Json<'a>> {
        let before = self.found.total();
        // Of equal keys one was read; the others would stay unseen.
        if members(&json) != colons(text) {
            self.found.add(place, Reason::SecretInText);
        }
        self.nested += 1;
        self.value(&mut json, Judgement::Harmless, place);
        self.nested -= 1;
        (self.found.total() > before).then(|| {
            let value = json.to_value();
            let lines = text.trim().contains('\n');
            let pretty = lines.then(|| serde_json::to_string_pretty(&value).ok()).flatten();
            Json::Text(pretty.unwrap_or_else(|| value.to_string()).into())
        })
    }

    fn hide(&mut self, value: &mut Json<'_>, place: &Place<'_>, reason: Reason) {
        let already = match value {
            Json::Map(fields) => is_redacted(fields),
            Json::Text(text) => text == text::MASK,
            _ => false,
        };
        if already {
            return;
        }
        *value = redacted(reason);
        self.found.add(place, reason);
    }
}

/// What stands in for a value.
fn redacted<'a>(reason: Reason) -> Json<'a> {
    Json::Map(vec![
        ("reason".into(), Json::Text(reason.as_str().into())),
        ("redacted".into(), Json::Bool(true)),
    ])
}

/// Whether a map stands in for a value already.
fn is_redacted(fields: &[(Cow<'_, str>, Json<'_>)]) -> bool {
    let [(reason, Json::Text(why)), (redacted, Json::Bool(true))] = fields else { return false };
    reason == "reason"
        && redacted == "redacted"
        && matches!(why.as_ref(), "sensitive-key" | "sensitive-value" | "secret-data")
}

/// Whether a value carries a secret, or leads to one, by its name and form.
fn is_carrier(key: &str, value: &Json<'_>) -> bool {
    let Json::Map(fields) = value else { return false };
    let key = key.trim();
    let is = |name: &str| key.eq_ignore_ascii_case(name);
    let holds = |name: &str| fields.iter().any(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    is("secretkeyref")
        || is("secretref")
        || (is("valuefrom") && holds("secretkeyref"))
        || (is("tls") && holds("key"))
}

/// What a name says about the values below it.
fn below(judged: Judgement, key: &str) -> Judgement {
    match judged {
        Judgement::Plural if !is_naming(key) => Judgement::Plural,
        _ => Judgement::Harmless,
    }
}

/// The value in a pair of name and value.
fn is_value(key: &str) -> bool {
    ["value", "default", "defaultvalue"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

fn has_map(fields: &[(Cow<'_, str>, Json<'_>)], name: &str) -> bool {
    fields.iter().any(|(key, value)| key == name && matches!(value, Json::Map(_)))
}

fn as_text<'v>(value: &'v Json<'_>) -> Option<&'v str> {
    match value {
        Json::Text(text) => Some(text),
        _ => None,
    }
}

/// How many members the maps of a value have.
fn members(value: &Json<'_>) -> usize {
    match value {
        Json::Map(fields) => fields.iter().map(|(_, value)| 1 + members(value)).sum(),
        Json::List(items) => items.iter().map(members).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => 0,
    }
}

/// How many members are spelled in JSON: the colons outside of its texts.
fn colons(json: &str) -> usize {
    let mut count = 0;
    let mut in_text = false;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => drop(bytes.next()),
            b':' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Whether a text may be JSON with something in it.
fn is_json(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'))
}
