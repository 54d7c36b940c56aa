//! Lists of single places, beside the watch that serves them.

use kollect_inventory::Sweep;
use tokio::time::sleep;

use super::{
    Input,
    stand::{Common, News, Told},
};
use crate::{
    ask::{Refusal, chance},
    follow::{Follow, Run},
    intake::Keeper,
    list::{AtLeast, Heard, Question, Reader, error::ListError, list_to},
    watch_set::{Duty, Post},
};

/// Up to so many namespaces are listed one by one; for more, everything is
/// listed at once and the rest is thrown away.
const ONE_BY_ONE: usize = 10;

/// Reads lists that have begun, until they have ended or nobody waits for them.
pub(super) async fn relist<K: Keeper + Send>(
    common: Common,
    (post, number): (Post, u64),
    duty: Duty,
    follow: Follow<K>,
    run: Run,
) {
    let namespaces: Vec<_> = run.namespaces().into_iter().map(str::to_owned).collect();
    let is_scoped = !namespaces.iter().any(String::is_empty);
    if post.namespace().is_some() || !is_scoped || namespaces.len() > ONE_BY_ONE {
        until_read(&common, post.namespace(), &duty, &follow, run).await;
    } else {
        for namespace in &namespaces {
            until_read(&common, Some(namespace), &duty, &follow, run.within(namespace)).await;
        }
    }
    drop(common.inputs.send(Input::Told(Told { post, number, news: News::Relisted })));
}

/// A newer list may take the place of this one, which ends it.
async fn until_read<K: Keeper + Send>(
    common: &Common,
    namespace: Option<&str>,
    duty: &Duty,
    follow: &Follow<K>,
    mut run: Run,
) {
    let question = Question {
        namespace,
        label_selector: &duty.selector,
        content: duty.content,
        // The watch may have told of deletes that an older answer knows nothing of.
        at_least: AtLeast::Now,
        ..Question::all(&duty.resource)
    };
    let mut failures = 0;
    while follow.waits_for(&run) {
        let mut desk = Listing { follow, run };
        let listed = list_to(&common.client, &question, &mut desk).await;
        run = desk.run;
        let backoff = match listed {
            Ok(listed) => {
                follow.end(&run, &listed.resource_version, listed.sweep);
                if listed.sweep == Sweep::Yes {
                    return;
                }
                common.pace.retry
            }
            Err(Refusal { error: ListError::Forbidden { .. }, .. }) => {
                follow.give_up(&run);
                common.pace.refused
            }
            Err(_) => {
                follow.give_up(&run);
                common.pace.retry
            }
        };
        sleep(backoff.wait(failures, chance())).await;
        failures += 1;
        run = follow.again(&run);
    }
}

struct Listing<'a, K> {
    follow: &'a Follow<K>,
    run: Run,
}

impl<K: Keeper + Send> Reader for Listing<'_, K> {
    fn hears(&mut self, heard: Heard<'_>) {
        match heard {
            Heard::Item(bytes) => self.follow.item(&self.run, bytes),
            Heard::Again => self.run = self.follow.again(&self.run),
        }
    }

    fn ready(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}
