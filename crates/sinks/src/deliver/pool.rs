//! Open sinks, each opened once for all pairs that use it.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Mutex as TurnTaking;

use super::state::SinkKey;
use crate::sink::Sink;

/// The open sink, and the version that it was opened for.
type Slot = Arc<TurnTaking<Option<(String, Arc<dyn Sink>)>>>;

/// Sinks that are open.
///
/// A sink is opened anew when its spec or its credentials change; the old one
/// is closed when the last export that uses it has ended.
#[derive(Debug, Default)]
pub struct Pool(Mutex<BTreeMap<SinkKey, Slot>>);

impl Pool {
    /// The sink for this version of its spec and credentials. Whoever asks at
    /// the same time waits for the same opening; a failed one is not kept.
    pub async fn get<E>(
        &self,
        key: &SinkKey,
        version: &str,
        open: impl Future<Output = Result<Arc<dyn Sink>, E>>,
    ) -> Result<Arc<dyn Sink>, E> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(key.clone()).or_default())
        };
        let mut slot = slot.lock().await;
        if let Some((of, sink)) = &*slot
            && of == version
        {
            return Ok(Arc::clone(sink));
        }
        *slot = None;
        let sink = open.await?;
        *slot = Some((version.to_owned(), Arc::clone(&sink)));
        Ok(sink)
    }

    /// Forgets a sink that nobody will ask for again.
    pub fn evict(&self, key: &SinkKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{
        deliver::state::Family,
        memory::{MemoryDestination, MemorySink},
    };

    /// R13, and rotated credentials.
    #[tokio::test]
    async fn a_sink_is_opened_once_for_each_version_of_its_credentials() {
        let pool = Pool::default();
        let key = SinkKey { family: Family::Database, namespace: "shop".into(), name: "db".into() };
        let opened = Cell::new(0);
        let open = |works: bool| {
            let opened = &opened;
            async move {
                opened.set(opened.get() + 1);
                let sink: Arc<dyn Sink> =
                    Arc::new(MemorySink::new(MemoryDestination::default(), ""));
                if works { Ok(sink) } else { Err("refused") }
            }
        };
        assert!(pool.get(&key, "1", open(false)).await.is_err());
        let first = pool.get(&key, "1", open(true)).await.unwrap();
        let again = pool.get(&key, "1", open(true)).await.unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let rotated = pool.get(&key, "2", open(true)).await.unwrap();
        assert!(!Arc::ptr_eq(&first, &rotated));
        assert_eq!(opened.get(), 3);
        pool.evict(&key);
        pool.get(&key, "2", open(true)).await.unwrap();
        assert_eq!(opened.get(), 4);
    }
}
