//! The reference.

use std::sync::Arc;

use async_trait::async_trait;
use kollect_inventory::{Row, sort};
use kollect_sinks::{
    InventoryKey, MemoryDestination, MemorySink, Sink,
    conformance::{Destination, Opening, Tampering},
};

use crate::support::{conforms, finds_every_mutant};

#[derive(Debug)]
struct Memory(MemoryDestination);

#[async_trait]
impl Destination for Memory {
    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        Ok(Arc::new(MemorySink::new(self.0.clone(), cluster)))
    }

    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String> {
        let mut rows = self.0.rows(cluster, inventory);
        sort(&mut rows);
        Ok(Some(rows))
    }

    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String> {
        self.0.tamper(cluster, inventory, |rows| {
            let Some(row) = rows.pop() else { return };
            if tampering == Tampering::Edit {
                rows.push(Row::new(&row.identity(), b"{\"value\":\"forged\"}"));
            }
        });
        Ok(())
    }

    async fn fingerprint(&self) -> Result<String, String> {
        Ok(format!("{:?}", self.0))
    }

    fn refuses_name(&self) -> Option<&'static str> {
        Some("b\0ad")
    }
}

fn make() -> Opening {
    Box::pin(async { Ok(Box::new(Memory(MemoryDestination::default())) as Box<dyn Destination>) })
}

#[tokio::test]
async fn memory_conforms() {
    conforms(&make).await;
}

#[tokio::test]
async fn a_bug_in_a_sink_is_found() {
    finds_every_mutant(&make).await;
}
