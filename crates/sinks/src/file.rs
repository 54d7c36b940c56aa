//! Copies as files in a directory, laid out as in a Git repository.

pub(crate) mod destination;
mod folder;
mod fault;

use std::sync::Arc;

use async_trait::async_trait;
use kollect_api::SnapshotSinkSpec;
use kollect_inventory::Effect;
use tokio::task;

use self::{
    destination::{FileDestination, Session},
    fault::during,
};
use crate::{
    files::{Copies, abandoned},
    local::may_write,
    progress::Progress,
    sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError},
};

/// Keeps copies of inventories as files in a directory.
#[derive(Debug)]
pub struct FileSink(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    destination: Arc<FileDestination>,
    copies: Copies,
}

impl FileSink {
    /// A sink for a directory, laid out as the specification says.
    pub fn new(destination: Arc<FileDestination>, spec: SnapshotSinkSpec) -> Self {
        Self(Arc::new(Shared { destination, copies: Copies::new(spec) }))
    }

    /// Runs something that waits for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Shared) -> Result<T, SinkError> + Send + 'static,
    ) -> Result<T, SinkError> {
        let shared = Arc::clone(&self.0);
        let done = task::spawn_blocking(move || job(&shared)).await;
        done.unwrap_or_else(|error| {
            let (action, effect) = ("finish what was begun", Effect::Unknown);
            Err(SinkError::Unreachable { action, effect, source: Arc::new(error) })
        })
    }
}

#[async_trait]
impl Sink for FileSink {
    async fn probe(&self) -> Result<String, SinkError> {
        self.blocking(Shared::probe).await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let export = export.clone();
        self.blocking(move |shared| shared.export(&export)).await
    }

    /// A path may become free without a change of its row.
    fn lists_refusals(&self) -> bool {
        true
    }

    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError> {
        let inventory = inventory.clone();
        self.blocking(move |shared| shared.retire(&inventory, farewell)).await
    }
}

impl Shared {
    /// Makes nothing and takes no turn: whoever exports there must not wait
    /// for it.
    fn probe(&self) -> Result<String, SinkError> {
        let path = self.destination.path();
        may_write(path).map_err(during("write a file", Effect::None))?;
        Ok(format!("files can be written to {}", path.display()))
    }

    fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let layout = self.copies.layout(export)?;
        let mut session = self.destination.enter(&export.progress)?;
        if export.progress.is_abandoned() {
            return Err(abandoned(Effect::None));
        }
        let Session { folder, neighbours, .. } = &mut session;
        self.copies.export(export, &layout, (folder, neighbours))
    }

    fn retire(&self, inventory: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        let mut session = self.destination.enter(&Progress::default())?;
        self.copies.retire(inventory, farewell, &mut session.folder)
    }
}
