//! Lists, whole and in pages.

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::{
    body::{Cut, Piece, Source},
    definition::Served,
    filter::{self, Filter},
    object::{Form, Key},
    request::{Request, Target},
    status::Status,
    storage::{Item, Page, Range, Store},
    table,
};

/// Real servers write chunks of a few kilobytes, and objects seldom end where
/// chunks do.
const CHUNK: usize = 4096;

/// What a `continue` token says; clients must not look.
#[derive(Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    /// The version that the pages show; -1 for whatever is there now.
    rv: i64,
    namespace: String,
    start: String,
}

impl Token {
    fn write(version: Option<u64>, (namespace, start): Key) -> String {
        let rv = version.and_then(|version| i64::try_from(version).ok()).unwrap_or(-1);
        let token = Self { v: "meta.k8s.io/v1".to_owned(), rv, namespace, start };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    fn read(text: &str) -> Result<Self, Status> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let token = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        token.ok_or_else(|| Status::bad_request("continue key is not valid: not a token of ours"))
    }

    fn key(&self) -> Key {
        (self.namespace.clone(), self.start.clone())
    }
}

/// What is to be listed.
struct Asked {
    version: Option<u64>,
    from: Option<Key>,
    limit: Option<usize>,
}

/// A list, which real servers send with its length if it is a short one.
pub(crate) enum Listing {
    Short(Bytes),
    Long(Box<dyn Source>),
}

/// Up to where a list is short.
const SHORT: usize = 2048;

/// Answers a list; with `expired` as if the page were no longer remembered.
pub(crate) fn answer(
    store: &Store,
    served: Served,
    request: &Request,
    target: &Target,
    expired: bool,
) -> Result<Listing, Status> {
    let form = filter::form(request, Form::Item, store.now())?;
    let filter = Filter::of(request, target)?;
    let asked = asked(request, store.version())?;
    let remainder = |from: Key| Status::expired_page(Token::write(None, from));
    if let (true, Some(from)) = (expired, &asked.from) {
        return Err(remainder(from.clone()));
    }
    let range = Range {
        namespace: filter.namespace.as_deref(),
        version: asked.version,
        from: asked.from.clone(),
        limit: asked.limit,
    };
    let page = store.page(&served.definition, &range, |item| filter.matches(item));
    let page = page.map_err(|_| match asked.from {
        Some(from) => remainder(from),
        None => Status::of_code(410),
    })?;
    let mut list = List::new(served, form, page, filter.selects());
    list.fill();
    Ok(match list.tail {
        None if list.buffer.len() <= SHORT => Listing::Short(list.buffer.freeze()),
        _ => Listing::Long(Box::new(list)),
    })
}

fn asked(request: &Request, current: u64) -> Result<Asked, Status> {
    let forbidden = |field, message: &str| {
        Err(Status::invalid_options(field, &format!("Forbidden: {message}")))
    };
    let version = request.parameter("resourceVersion");
    let rule = request.parameter("resourceVersionMatch");
    let limit = limit(request)?;
    if !request.parameter("sendInitialEvents").is_empty() {
        return forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    let token = request.parameter("continue");
    if !token.is_empty() {
        if !rule.is_empty() {
            let message = "resourceVersionMatch is forbidden when continue is provided";
            return forbidden("resourceVersionMatch", message);
        }
        if !matches!(version, "" | "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(Status::bad_request(message));
        }
        let token = Token::read(token)?;
        let version = u64::try_from(token.rv).ok();
        return Ok(Asked { version, from: Some(token.key()), limit });
    }
    let number = number(version)?;
    if number.is_some_and(|number| number > current) {
        return Err(Status::too_new(number.unwrap_or_default(), current));
    }
    match (rule, number) {
        ("" | "NotOlderThan", Some(0)) => Ok(Asked { version: None, from: None, limit: None }),
        ("", None) | ("NotOlderThan", Some(_)) => Ok(Asked { version: None, from: None, limit }),
        // Without a rule, a page at a version is that version.
        ("", Some(_)) if limit.is_none() => Ok(Asked { version: None, from: None, limit }),
        ("Exact", Some(0)) => forbidden(
            "resourceVersionMatch",
            r#"resourceVersionMatch "exact" is forbidden for resourceVersion "0""#,
        ),
        ("" | "Exact", Some(number)) => Ok(Asked { version: Some(number), from: None, limit }),
        (_, None) => forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        _ => Err(Status::invalid_options("resourceVersionMatch", "Unsupported value")),
    }
}

fn limit(request: &Request) -> Result<Option<usize>, Status> {
    match request.parameter("limit") {
        "" => Ok(None),
        text => match text.parse() {
            Ok(0) => Ok(None),
            Ok(limit) => Ok(Some(limit)),
            Err(_) => Err(Status::bad_request(format!("limit: {text} is no number"))),
        },
    }
}

/// Reads a `resourceVersion`; an empty one is none.
pub(crate) fn number(version: &str) -> Result<Option<u64>, Status> {
    match version {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            Status::bad_request(format!("Invalid value: \"{text}\": resourceVersion is no number"))
        }),
    }
}

/// Writes a list while it is read.
struct List {
    served: Served,
    form: Form,
    items: std::vec::IntoIter<Item>,
    buffer: BytesMut,
    is_first: bool,
    /// What follows the last item, until it is written.
    tail: Option<String>,
}

impl List {
    fn new(served: Served, form: Form, page: Page, selects: bool) -> Self {
        let (head, tail) = frame(&served, form, &page, selects);
        Self {
            served,
            form,
            items: page.items.into_iter(),
            buffer: BytesMut::from(head.as_bytes()),
            is_first: true,
            tail: Some(tail),
        }
    }

    fn fill(&mut self) {
        let mut text = String::new();
        while self.buffer.len() < CHUNK {
            text.clear();
            let Some(item) = self.items.next() else {
                let tail = self.tail.take().unwrap_or_default();
                self.buffer.extend_from_slice(tail.as_bytes());
                return;
            };
            if !std::mem::take(&mut self.is_first) {
                text.push(',');
            }
            item.object().render(self.form, &self.served, &mut text);
            self.buffer.extend_from_slice(text.as_bytes());
        }
    }
}

/// What stands before the items and after them.
///
/// Custom resources have their metadata after the items, because theirs is a
/// map with sorted keys; a client that expects it first would read them all
/// before it knows whether to go on.
fn frame(served: &Served, form: Form, page: &Page, selects: bool) -> (String, String) {
    let definition = &served.definition;
    let (kind, version) = (&definition.kind, definition.api_version());
    let token = page.rest.as_ref().map(|(key, _)| Token::write(Some(page.version), key.clone()));
    let token = token.unwrap_or_default();
    // With a selector nobody knows how many will match.
    let remaining = match &page.rest {
        Some((_, count)) if !selects => format!(r#","remainingItemCount":{count}"#),
        _ => String::new(),
    };
    let at = page.version;
    let built_in = |kind: &str, version: &str| {
        let token = match token.as_str() {
            "" => String::new(),
            token => format!(r#","continue":"{token}""#),
        };
        let head = format!(
            r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{{"resourceVersion":"{at}"{token}{remaining}}},"items":["#
        );
        (head, "]}\n".to_owned())
    };
    match form {
        Form::Row(_) => {
            let (head, _) = built_in("Table", "meta.k8s.io/v1");
            let columns = table::columns(served);
            let head = head.strip_suffix(r#""items":["#).unwrap_or_default();
            (format!(r#"{head}"columnDefinitions":{columns},"rows":["#), "]}\n".to_owned())
        }
        Form::Metadata => built_in("PartialObjectMetadataList", "meta.k8s.io/v1"),
        Form::Item | Form::Whole if served.built_in => built_in(&format!("{kind}List"), &version),
        Form::Item | Form::Whole => (
            format!(r#"{{"apiVersion":"{version}","items":["#),
            format!(
                "],\"kind\":\"{kind}List\",\"metadata\":{{\"continue\":\"{token}\"{remaining},\
                 \"resourceVersion\":\"{at}\"}}}}\n"
            ),
        ),
    }
}

#[async_trait]
impl Source for List {
    async fn next(&mut self) -> Piece {
        self.fill();
        if self.buffer.is_empty() {
            return Piece::Cut(Cut::End);
        }
        let chunk = self.buffer.split_to(self.buffer.len().min(CHUNK));
        Piece::Data(Bytes::from(chunk))
    }
}
