//! What somebody who looks on has been shown, and what is news to them. Pure.

use std::collections::BTreeMap;

use kollect_inventory::{Change, Identity, PartitionChange, PartitionKey, Row};

/// What names a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    target_namespace: String,
    target_name: String,
    namespace: String,
    name: String,
    uid: String,
}

impl Key {
    fn of(identity: &Identity<'_>) -> Self {
        Self {
            target_namespace: identity.target_namespace.to_string(),
            target_name: identity.target_name.to_string(),
            namespace: identity.namespace.to_string(),
            name: identity.name.to_string(),
            uid: identity.uid.to_string(),
        }
    }

    fn is_in(&self, partition: &PartitionKey) -> bool {
        partition.place() == (&*self.target_namespace, &*self.target_name, &*self.namespace)
    }
}

/// The rows that were shown of one inventory.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeMap<Key, Row>);

/// Something to show.
#[derive(Clone, Debug)]
pub(super) struct News {
    pub(super) what: What,
    /// As it is; of one that is gone, as it was.
    pub(super) row: Row,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Added,
    Changed,
    Deleted,
}

impl What {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }

    pub(super) fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Changed => '~',
            Self::Deleted => '-',
        }
    }
}

impl Shown {
    /// What is news in a change. Deletes come first.
    pub(super) fn news(&mut self, change: Change) -> Vec<News> {
        let mut news = Vec::new();
        let rows = match change {
            Change::All { rows, .. } => {
                self.keep(&rows, |_| true, &mut news);
                rows
            }
            Change::Since { upserts, deletes, partitions } => {
                let mut rows = Vec::new();
                for (key, change) in partitions {
                    let there = match change {
                        PartitionChange::Drop => Vec::new(),
                        PartitionChange::Replace(there) => there,
                    };
                    self.keep(&there, |row| row.is_in(&key), &mut news);
                    rows.extend(there);
                }
                for tombstone in deletes {
                    self.forget(&Key::of(&tombstone.identity()), &mut news);
                }
                rows.extend(upserts);
                rows
            }
        };
        for row in rows {
            let before = self.0.insert(Key::of(&row.identity()), row.clone());
            let what = match before {
                None => What::Added,
                Some(before) if before.hash() == row.hash() => continue,
                Some(_) => What::Changed,
            };
            news.push(News { what, row });
        }
        news
    }

    /// Of what is meant, only these are there.
    fn keep(&mut self, rows: &[Row], is_meant: impl Fn(&Key) -> bool, news: &mut Vec<News>) {
        let there: std::collections::BTreeSet<_> =
            rows.iter().map(|row| Key::of(&row.identity())).collect();
        let is_gone = |key: &&Key| is_meant(key) && !there.contains(*key);
        let gone: Vec<_> = self.0.keys().filter(is_gone).cloned().collect();
        for key in gone {
            self.forget(&key, news);
        }
    }

    fn forget(&mut self, key: &Key, news: &mut Vec<News>) {
        news.extend(self.0.remove(key).map(|row| News { what: What::Deleted, row }));
    }
}

#[cfg(test)]
mod tests {
    use kollect_inventory::{Dedupe, Freshness, Store, TargetKey};

    use super::*;

    fn row(namespace: &str, name: &str, value: u32) -> Row {
        let identity = Identity {
            target_namespace: "team".into(),
            target_name: "t".into(),
            namespace: namespace.into(),
            name: name.into(),
            uid: name.into(),
            group: "".into(),
            version: "v1".into(),
            kind: "Pod".into(),
        };
        Row::build(&identity, |out| out.extend(format!("{{\"v\":{value}}}").bytes()))
    }

    fn said(news: &[News]) -> String {
        let one = |news: &News| {
            let identity = news.row.identity();
            format!("{}{}/{}", news.what.sign(), identity.namespace, identity.name)
        };
        news.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_was_shown_is_no_news_and_what_is_gone_is_told_row_by_row() {
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        let key = |namespace: &str| PartitionKey {
            target: TargetKey { namespace: Some("team".to_owned()), name: "t".to_owned() },
            namespace: namespace.to_owned(),
        };
        let partitions = ["a", "b"].map(|namespace| {
            let partition = store.join(&key(namespace));
            store.attach(view, partition);
            let list = store.begin_list(partition);
            for name in ["one", "two"] {
                store.upsert(partition, Freshness { list, version: 1 }, &row(namespace, name, 1));
            }
            store.end_list(partition, list, kollect_inventory::Sweep::Yes);
            (partition, list)
        });
        let cursor = store.open_cursor(view);
        let mut shown = Shown::default();
        let mut next = |store: &mut Store| {
            let batch = store.gather(cursor, usize::MAX).unwrap();
            store.acknowledge(cursor, batch.ticket);
            said(&shown.news(batch.change))
        };
        assert_eq!(next(&mut store), "+a/one +a/two +b/one +b/two");
        let (partition, list) = partitions[0];
        store.upsert(partition, Freshness { list, version: 2 }, &row("a", "one", 2));
        store.delete(partition, Freshness { list, version: 3 }, "two");
        assert_eq!(next(&mut store), "-a/two ~a/one");
        store.withdraw(partitions[1].0);
        assert_eq!(next(&mut store), "-b/one -b/two");
        store.start_over(cursor);
        assert_eq!(next(&mut store), "");
    }
}
