//! Deletes what is stored and not wanted, where that is permitted.

use kollect_inventory::{PartitionKey, Place};
use tokio_postgres::types::ToSql;

use super::{Owner, batch::resource_namespace, error::Fault, statements::Text, write::Writer};

impl Writer<'_> {
    /// Deletes every row whose key has not been remembered, in all or in some
    /// partitions.
    pub(super) async fn remove_surplus(
        &mut self,
        within: Option<&[&PartitionKey]>,
        may_delete: impl Fn(Place<'_>) -> bool,
    ) -> Result<(), Fault> {
        // They are found by one walk through everything, and not by one for
        // each row, which the server may think are few.
        self.say("SET LOCAL enable_seqscan = on; SET LOCAL enable_nestloop = off").await?;
        let places = self.places(within).await?;
        let gone: Vec<_> = places.into_iter().filter(|place| place.is_gone(&may_delete)).collect();
        self.prune(&gone).await?;
        self.say("SET LOCAL enable_seqscan = off; SET LOCAL enable_nestloop = on").await
    }

    /// Where there are rows that are not wanted.
    async fn places(&mut self, within: Option<&[&PartitionKey]>) -> Result<Vec<Found>, Fault> {
        let Owner { namespace, name, cluster } = self.owner;
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&namespace, &name, &cluster];
        let of = |key: &&PartitionKey| {
            let namespace = resource_namespace(key.namespace.as_str().into(), self.owner);
            (key.target.name.clone(), namespace.into_owned())
        };
        let (targets, namespaces): (Vec<_>, Vec<_>) =
            within.unwrap_or_default().iter().map(of).unzip();
        let mut text = Text::Places;
        if within.is_some() {
            parameters.extend([&targets as &(dyn ToSql + Sync), &namespaces]);
            text = Text::PlacesWithin;
        }
        let statement = self.session.prepare(text).await?;
        self.session.statements += 1;
        let rows = self.session.client.query(&statement, &parameters).await?;
        let found = |row: tokio_postgres::Row| -> Result<Found, Fault> {
            Ok(Found {
                said: [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?],
                target: row.try_get(3)?,
                namespace: row.try_get(4)?,
            })
        };
        rows.into_iter().map(found).collect()
    }

    /// Deletes what is not wanted in these places.
    async fn prune(&mut self, places: &[Found]) -> Result<(), Fault> {
        if places.is_empty() {
            return Ok(());
        }
        let Owner { namespace, name, cluster } = self.owner;
        let said = |at: usize| -> Vec<Option<&str>> {
            places.iter().map(|place| place.said.get(at).and_then(Option::as_deref)).collect()
        };
        let (first, second, third) = (said(0), said(1), said(2));
        let targets: Vec<_> = places.iter().map(|place| place.target.as_str()).collect();
        let namespaces: Vec<_> = places.iter().map(|place| place.namespace.as_str()).collect();
        let parameters: [&(dyn ToSql + Sync); 8] =
            [&namespace, &name, &cluster, &first, &second, &third, &targets, &namespaces];
        self.written.deleted += self.execute(Text::Prune, &parameters).await?;
        Ok(())
    }
}

/// Where stored rows are that are not wanted.
#[derive(Debug)]
struct Found {
    /// Namespace and name of the target, and namespace of the object, as the
    /// rows say; none where somebody has spoiled them.
    said: [Option<String>; 3],
    /// What their columns say.
    target: String,
    namespace: String,
}

impl Found {
    /// Only what the row itself says is exact. Where that is spoiled, the
    /// columns have to do.
    fn is_gone(&self, may_delete: impl Fn(Place<'_>) -> bool) -> bool {
        match &self.said {
            [Some(target_namespace), Some(target), Some(namespace)] => {
                may_delete((target_namespace, target, namespace))
            }
            _ => may_delete((&self.namespace, &self.target, &self.namespace)),
        }
    }
}
