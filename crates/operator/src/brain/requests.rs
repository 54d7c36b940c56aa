//! Comparisons that somebody asks for by an annotation (R15).

use jiff::Timestamp;
use kollect_api::annotation;
use kollect_sinks::SinkKey;
use kollect_validate::Object;

/// What an inventory and one of its sinks say about when a comparison was asked
/// for; without a request, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    by_inventory: String,
    by_sink: String,
}

impl Asked {
    pub(super) fn by(inventory: &Object, sink: &Object) -> Self {
        let said = |object: &Object| {
            let annotations = object.meta().annotations.as_ref();
            let said = annotations.and_then(|all| all.get(annotation::REQUESTED_AT));
            said.map(|text| text.trim().to_owned()).unwrap_or_default()
        };
        Self { by_inventory: said(inventory), by_sink: said(sink) }
    }

    /// Whether it asks for another comparison than before. To take a request
    /// away asks for nothing.
    pub(super) fn is_news_after(&self, before: &Self) -> bool {
        let is_new = |now: &str, then: &str| !now.is_empty() && now != then;
        is_new(&self.by_inventory, &before.by_inventory) || is_new(&self.by_sink, &before.by_sink)
    }

    /// Whether it asks for a comparison that nobody can have done, because
    /// nothing has been exported since.
    pub(super) fn is_later_than(&self, exported: Timestamp) -> bool {
        let at = |text: &str| text.parse::<Timestamp>().ok();
        [&self.by_inventory, &self.by_sink].into_iter().any(|text| at(text) > Some(exported))
    }
}

/// When an inventory was last exported to a sink, as its status says.
pub(super) fn last_export(inventory: &Object, sink: &SinkKey) -> Option<Timestamp> {
    let status = match inventory {
        Object::Inventory(one) => one.status.as_ref()?,
        Object::ClusterInventory(one) => &one.status.as_ref()?.inventory,
        _ => return None,
    };
    let name = format!("{}/{}", sink.family, sink.name);
    let export = status.sink_exports.iter().find(|export| {
        let namespace = export.namespace.as_ref();
        export.name == name && namespace.is_none_or(|namespace| *namespace == sink.namespace)
    })?;
    export.last_export_time.as_ref().map(|time| time.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(by_inventory: &str, by_sink: &str) -> Asked {
        Asked { by_inventory: by_inventory.to_owned(), by_sink: by_sink.to_owned() }
    }

    #[test]
    fn another_value_on_either_of_them_asks_again() {
        let before = asked("2026-01-01T00:00:00Z", "");
        assert!(asked("2026-01-02T00:00:00Z", "").is_news_after(&before));
        assert!(asked("2026-01-01T00:00:00Z", "now").is_news_after(&before));
        assert!(!before.is_news_after(&before));
        assert!(!asked("", "").is_news_after(&before));
    }

    #[test]
    fn what_was_asked_while_nobody_ran_is_done_unless_an_export_came_after_it() {
        let exported = "2026-01-01T12:00:00Z".parse().unwrap();
        assert!(asked("2026-01-01T13:00:00+00:00", "").is_later_than(exported));
        assert!(asked("", "2026-01-01T13:00:00Z").is_later_than(exported));
        assert!(!asked("2026-01-01T11:00:00Z", "soon").is_later_than(exported));
        assert!(!asked("", "").is_later_than(exported));
    }
}
