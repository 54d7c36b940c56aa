//! What commits say.

use jiff::Timestamp;
use kollect_api::Git;

use crate::{
    files::ground::Summary,
    layout::{Layout, path::Edition},
    sink::{Farewell, InventoryKey},
};

const SUBJECT: &str =
    "chore({cluster}/{namespace}/{name}): export {itemCount} items @ {checksumShort}";

/// How many digits of a checksum are enough for people.
const SHORT: usize = 12;

/// The templates of a commit's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    subject: String,
    body: String,
    trailers: Vec<String>,
    /// The name of the sink.
    sink: String,
    /// The name of the cluster, not blank.
    cluster: String,
}

/// What the text of a commit can say about an export.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brief<'a> {
    pub(crate) edition: &'a Edition,
    pub(crate) layout: &'a Layout,
    pub(crate) rows: usize,
    pub(crate) checksum: &'a str,
    pub(crate) at: Timestamp,
}

impl Message {
    pub(super) fn new(git: &Git, sink: &str, cluster: &str) -> Self {
        let subject = git.commit_message.as_deref().filter(|text| !text.trim().is_empty());
        let cluster = if cluster.trim().is_empty() { "default" } else { cluster };
        Self {
            subject: subject.unwrap_or(SUBJECT).to_owned(),
            body: git.commit_body.clone().unwrap_or_default(),
            trailers: git.commit_trailers.clone(),
            sink: sink.to_owned(),
            cluster: cluster.to_owned(),
        }
    }

    /// The text of a commit that brings an export.
    pub(super) fn of_export(&self, summary: &Summary<'_>) -> String {
        let export = summary.export;
        self.text(&Brief {
            edition: &Edition {
                inventory: export.inventory.clone(),
                generation: export.generation,
            },
            layout: summary.layout,
            rows: summary.rows,
            checksum: &(summary.checksum)(),
            at: export.at,
        })
    }

    /// Subject, body and each trailer, with an empty line between them.
    pub(super) fn text(&self, brief: &Brief<'_>) -> String {
        let Brief { edition, layout, rows, checksum, at } = brief;
        let InventoryKey { namespace, name } = &edition.inventory;
        let value = |field: &str| {
            Some(match field {
                "namespace" => namespace.clone(),
                "name" => name.clone(),
                "cluster" => self.cluster.clone(),
                "generation" | "exportGeneration" => edition.generation.to_string(),
                "itemCount" => rows.to_string(),
                "checksum" => (*checksum).to_owned(),
                "checksumShort" => checksum.chars().take(SHORT).collect(),
                "exportedAt" => seconds(*at),
                "sink" => self.sink.clone(),
                "path" => layout.document_path(edition, None).unwrap_or_default(),
                _ => return None,
            })
        };
        let trailers = self.trailers.iter().map(|trailer| filled(trailer, &value));
        let trailers = trailers.map(|trailer| trailer.trim().to_owned());
        let parts = [filled(&self.subject, &value), filled(&self.body, &value)];
        let parts: Vec<_> = parts.into_iter().chain(trailers).collect();
        let parts: Vec<_> = parts.iter().filter(|part| !part.trim().is_empty()).collect();
        let text = parts.into_iter().cloned().collect::<Vec<_>>().join("\n\n");
        if text.is_empty() { format!("{name}\n") } else { text }
    }

    /// The text of a commit that takes leave of an inventory.
    pub(super) fn of_farewell(&self, inventory: &InventoryKey, farewell: Farewell) -> String {
        let Self { cluster, .. } = self;
        let what = match farewell {
            Farewell::Deleted => "the inventory was deleted",
            Farewell::Released => "the sink is no longer written to",
        };
        format!("chore({cluster}/{inventory}): {what}")
    }
}

/// Fills in the placeholders that are known. What is filled in is not looked
/// at again, and nothing in it can end the text.
fn filled(template: &str, value: &impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((front, behind)) = rest.split_once('{') {
        out.push_str(front);
        let known =
            behind.split_once('}').and_then(|(field, behind)| Some((value(field)?, behind)));
        let (value, behind) = known.unwrap_or_else(|| ("{".to_owned(), behind));
        out.push_str(&value);
        rest = behind;
    }
    out.push_str(rest);
    out.replace('\0', "")
}

/// A time in whole seconds.
fn seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_once() {
        let value = |field: &str| match field {
            "a" => Some("{b}".to_owned()),
            "b" => Some("x\0y".to_owned()),
            _ => None,
        };
        assert_eq!(filled("{a} {b} {c} {{b}} {", &value), "{b} xy {c} {xy} {");
    }

    #[test]
    fn who_leaves_says_so() {
        let inventory = InventoryKey { namespace: "shop".into(), name: "web".into() };
        let message = Message::new(&Git::default(), "audit", " ");
        assert_eq!(
            message.of_farewell(&inventory, Farewell::Deleted),
            "chore(default/shop/web): the inventory was deleted"
        );
        assert_eq!(
            message.of_farewell(&inventory, Farewell::Released),
            "chore(default/shop/web): the sink is no longer written to"
        );
    }
}
