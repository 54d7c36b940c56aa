//! A watch that runs, and who is told of it.

use std::{collections::BTreeMap, sync::Arc};

use kollect_inventory::TargetKey;
use kube::Client;
use tokio::sync::{mpsc, oneshot};

use super::Input;
use crate::{
    follow::Follow,
    intake::{FailedObject, Keeper, MOST_NAMED},
    list::{AtLeast, Question},
    watch::{Event, Garbled, Listener, Watch, offers::Offers, pace::Pace, trouble::Trouble},
    watch_set::{Duty, Post},
};

/// Ends a watch when it is dropped.
pub(super) type Stop = oneshot::Sender<()>;

/// A watch that runs.
#[derive(Debug)]
pub(super) struct Stand<K> {
    pub(super) duty: Duty,
    pub(super) follow: Follow<K>,
    /// Tells this watch from others that stood at the same post.
    pub(super) number: u64,
    pub(super) stop: Stop,
    /// What is wrong with it, if something is.
    pub(super) trouble: Option<Trouble>,
    /// Whether a list has ended.
    pub(super) is_listed: bool,
}

/// What is shared with those who only look.
#[derive(Debug)]
pub(super) struct Shared<K> {
    pub(super) follows: BTreeMap<Post, Follow<K>>,
}

impl<K> Default for Shared<K> {
    fn default() -> Self {
        Self { follows: BTreeMap::new() }
    }
}

impl<K: Keeper> Shared<K> {
    pub(super) fn failed(&self, target: &TargetKey) -> (u64, Vec<FailedObject>) {
        let (mut count, mut objects) = (0, Vec::new());
        for follow in self.follows.values() {
            let (more, first) = follow.failed(target);
            count += more;
            objects.extend(first);
        }
        objects.sort();
        objects.truncate(MOST_NAMED);
        (count, objects)
    }
}

/// What a watch has told about itself.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) post: Post,
    pub(super) number: u64,
    pub(super) news: News,
}

#[derive(Debug)]
pub(super) enum News {
    Listed,
    /// Lists of single places have ended beside it.
    Relisted,
    Trouble(Trouble),
    Recovered,
}

/// Passes everything on to those who follow, and says how the watch is.
struct Messenger<K> {
    follow: Follow<K>,
    post: Post,
    number: u64,
    inputs: mpsc::UnboundedSender<Input>,
    /// Watches that this one takes the place of, until it knows as much as they.
    before: Vec<Stop>,
}

impl<K: Keeper + Send> Listener for Messenger<K> {
    fn hear_unread(&mut self, event: Event<'_>) -> Result<(), Garbled> {
        match event {
            Event::Item(_) | Event::Changed(_) | Event::Gone(_) => self.follow.hear_unread(event),
            _ => {
                self.hear(event);
                Ok(())
            }
        }
    }

    fn hear(&mut self, event: Event<'_>) {
        self.follow.hear(event);
        let news = match event {
            Event::ListEnds { .. } => {
                self.before.clear();
                News::Listed
            }
            Event::Uncovered(trouble) => {
                self.before.clear();
                News::Trouble(trouble.clone())
            }
            Event::Recovered => News::Recovered,
            _ => return,
        };
        let told = Told { post: self.post.clone(), number: self.number, news };
        drop(self.inputs.send(Input::Told(told)));
    }
}

/// What all watches of a server have in common.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) client: Client,
    pub(super) offers: Offers,
    pub(super) pace: Pace,
    pub(super) inputs: mpsc::UnboundedSender<Input>,
}

impl Common {
    /// Watches until the stand is dropped.
    pub(super) fn watch<K: Keeper + Send + 'static>(
        &self,
        (post, number): (Post, u64),
        duty: &Duty,
        follow: Follow<K>,
        before: Vec<Stop>,
    ) -> (Stop, impl Future<Output = ()> + Send + use<K>) {
        let (stop, stopped) = oneshot::channel();
        let Self { client, offers, pace, inputs } = self.clone();
        let (resource, selector, content) =
            (Arc::new(duty.resource.clone()), duty.selector.clone(), duty.content);
        let namespace = post.namespace().map(str::to_owned);
        let mut messenger = Messenger { follow, post, number, inputs, before };
        let work = async move {
            let question = Question {
                namespace: namespace.as_deref(),
                label_selector: &selector,
                content,
                at_least: AtLeast::Now,
                ..Question::all(&resource)
            };
            let watch = Watch::new(client, question, offers, pace);
            // It is told to stop by the sender's going away.
            watch.run(&mut messenger, async { drop(stopped.await) }).await;
        };
        (stop, work)
    }
}
