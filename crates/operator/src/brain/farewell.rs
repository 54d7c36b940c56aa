//! Inventories that are being deleted.

use std::collections::BTreeMap;

use kollect_sinks::{InventoryKey, Receipt, SinkKey};
use tokio::sync::oneshot;

use super::copies::Copies;
use crate::plan::{Plan, inventory::InventoryPlan};

/// Those that are taking leave of their destinations.
#[derive(Debug, Default)]
pub(super) struct Farewells(BTreeMap<InventoryKey, Vec<(SinkKey, Answer)>>);

/// What became of one copy.
#[derive(Debug)]
enum Answer {
    Waiting(oneshot::Receiver<Result<Receipt, String>>),
    Done(Result<(), String>),
}

/// An inventory that has taken leave, and what was left behind.
#[derive(Clone, Debug)]
pub(super) struct Released {
    pub(super) inventory: InventoryKey,
    pub(super) left: Vec<String>,
}

impl Farewells {
    /// Begins for those that are being deleted, once each. What has no sink any
    /// longer has nothing to clean up.
    pub(super) fn take_leave(&mut self, plan: &Plan, copies: &mut Copies) {
        let is_leaving =
            |key: &InventoryKey| plan.inventories.get(key).is_some_and(InventoryPlan::is_leaving);
        self.0.retain(|key, _| is_leaving(key));
        for (key, inventory) in &plan.inventories {
            // A Secret that has not been read yet is no Secret that is gone.
            let may_begin = inventory.is_leaving() && !copies.is_pending(key);
            if may_begin && !self.0.contains_key(key) {
                let broken = copies.broken(key);
                let broken = broken.into_iter().map(|(sink, text)| (sink, Answer::Done(Err(text))));
                let answers = copies.retire(key).into_iter();
                let answers = answers.map(|(sink, answer)| (sink, Answer::Waiting(answer)));
                self.0.insert(key.clone(), answers.chain(broken).collect());
            }
        }
    }

    /// Those that have nothing to wait for.
    pub(super) fn released(&mut self) -> Vec<Released> {
        let mut released = Vec::new();
        for (inventory, answers) in &mut self.0 {
            for (_, answer) in answers.iter_mut() {
                if let Answer::Waiting(waiting) = answer {
                    match waiting.try_recv() {
                        Ok(Ok(_)) => *answer = Answer::Done(Ok(())),
                        Ok(Err(text)) => *answer = Answer::Done(Err(text)),
                        Err(oneshot::error::TryRecvError::Empty) => {}
                        Err(oneshot::error::TryRecvError::Closed) => {
                            *answer = Answer::Done(Err("it was given up".to_owned()));
                        }
                    }
                }
            }
            let mut left = Vec::new();
            let is_done = answers.iter().all(|(sink, answer)| match answer {
                Answer::Waiting(_) => false,
                Answer::Done(Ok(())) => true,
                Answer::Done(Err(text)) => {
                    left.push(format!("{}: {text}", sink.name));
                    true
                }
            });
            if is_done {
                released.push(Released { inventory: inventory.clone(), left });
            }
        }
        released
    }
}
