//! One list of one resource, item by item as its bytes arrive.
//!
//! What the server does when a list is longer than a page, older than its
//! history or newer than its cache is decided in [`course`]; this file moves
//! the bytes.

pub(crate) mod error;
pub(crate) mod course;

use std::future::ready;

use kollect_inventory::Sweep;
use kube::Client;

use self::{course::Course, error::ListError};
use crate::{
    ask::{Ask, Patience, Refusal},
    discovery::Resource,
    split::{Frame, SplitError, Splitter},
};

/// What to list.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub resource: &'a Resource,
    /// Everywhere if there is none. Not used for cluster-scoped kinds.
    pub namespace: Option<&'a str>,
    /// As in `app=web,tier!=cache`; empty selects everything.
    pub label_selector: &'a str,
    /// As in `metadata.name=web`; empty selects everything.
    pub field_selector: &'a str,
    pub at_least: AtLeast<'a>,
    pub content: Content,
    /// How many items the server is asked to send at once. It costs us no
    /// memory, but small pages cost the server time.
    pub page: u32,
}

impl<'a> Question<'a> {
    /// Everything of a resource, as it is now.
    pub fn all(resource: &'a Resource) -> Self {
        Self {
            resource,
            namespace: None,
            label_selector: "",
            field_selector: "",
            at_least: AtLeast::Now,
            content: Content::Whole,
            page: 500,
        }
    }
}

/// How new a list must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtLeast<'a> {
    /// As the server's store has it now.
    Now,
    /// As the server's cache has it: cheaper for the server, and nearly new.
    Cached,
    /// Not older than a version seen before.
    Version(&'a str),
}

/// How much of each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Whole,
    /// `metadata` alone, as `PartialObjectMetadata`. A server that cannot do
    /// that sends whole objects.
    Metadata,
}

/// What comes while a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// One object. Objects of built-in kinds carry neither kind nor version. The
    /// same object may come twice, when a page had to be asked for again.
    Item(&'a [u8]),
    /// The list begins anew, at another version: what came before does not
    /// count, and what was deleted in between will not be heard of.
    Again,
}

/// What a list was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The version that the list is complete for, from which a watch may begin.
    /// Empty if the server has none, as some aggregated ones.
    pub resource_version: String,
    /// How many objects, repeated ones not counted.
    pub items: u64,
    /// How many bytes came, repeated ones counted.
    pub bytes: u64,
    pub sweep: Sweep,
}

/// Lists a resource, and hands out each object as soon as its bytes are there.
///
/// Nothing is kept but the object in hand. Cut connections, throttling and
/// broken servers are tried again, for some seconds; a version that is gone
/// makes the list begin anew, of which [`Heard::Again`] tells.
pub async fn list(
    client: &Client,
    question: &Question<'_>,
    each: impl FnMut(Heard<'_>),
) -> Result<Listed, ListError> {
    list_to(client, question, &mut Quick(each)).await.map_err(|refusal| refusal.error)
}

/// Who a list is read to.
pub(crate) trait Reader {
    fn hears(&mut self, heard: Heard<'_>);

    /// Waits until more can be taken; no byte is read before.
    fn ready(&mut self) -> impl Future<Output = ()> + Send;
}

/// Somebody who can always take more.
struct Quick<F>(F);

impl<F: FnMut(Heard<'_>)> Reader for Quick<F> {
    fn hears(&mut self, heard: Heard<'_>) {
        (self.0)(heard);
    }

    fn ready(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

/// Lists a resource at the speed of its reader.
pub(crate) async fn list_to(
    client: &Client,
    question: &Question<'_>,
    reader: &mut impl Reader,
) -> Result<Listed, Refusal> {
    let what = course::what(question);
    let mut course = Course::new(question);
    let mut patience = Patience::default();
    loop {
        let uri = course.uri();
        let ask = Ask { uri: &uri, accept: course::accept(question.content), what: &what };
        let mut page = Page::default();
        let answer = page.read(client, ask, reader).await;
        course.bytes += page.bytes;
        match answer {
            Ok(frame) if course.is_circular(&frame.metadata) => {
                return Err(ask.malformed(SplitError::Circular).into());
            }
            Ok(frame) => {
                patience = Patience::default();
                if let Some(listed) = course.has_read(frame.metadata, page.items) {
                    return Ok(listed);
                }
            }
            Err(refusal) => {
                course.hands_out(page.items);
                if let Err(refusal) = course.goes_on(&refusal).ok_or(refusal) {
                    patience.wait(refusal).await?;
                }
                if course.begins_anew() {
                    reader.hears(Heard::Again);
                }
            }
        }
    }
}

/// The version that a server is at, by the shortest list there is. Asked once.
pub(crate) async fn newest(client: &Client, question: &Question<'_>) -> Result<String, Refusal> {
    let question = Question {
        // To select would cost the server a search, and the version is the same.
        label_selector: "",
        field_selector: "",
        at_least: AtLeast::Now,
        content: Content::Metadata,
        page: 1,
        ..*question
    };
    let (uri, what) = (Course::new(&question).uri(), course::what(&question));
    let ask = Ask { uri: &uri, accept: course::accept(question.content), what: &what };
    let frame = Page::default().read(client, ask, &mut Quick(|_: Heard<'_>| {})).await?;
    Ok(frame.metadata.resource_version)
}

/// What came of one page so far.
#[derive(Debug, Default)]
struct Page {
    items: u64,
    bytes: u64,
}

impl Page {
    async fn read(
        &mut self,
        client: &Client,
        ask: Ask<'_>,
        reader: &mut impl Reader,
    ) -> Result<Frame, Refusal> {
        let mut answer = ask.send(client).await?;
        let mut splitter = Splitter::default();
        while let Some(chunk) = answer.chunk().await? {
            let chunk = chunk.as_ref();
            self.bytes += u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            let fed = splitter.feed(chunk, |item| {
                self.items += 1;
                reader.hears(Heard::Item(item));
            });
            fed.map_err(|error| ask.malformed(error))?;
            reader.ready().await;
        }
        splitter.finish().map_err(|error| ask.malformed(error).into())
    }
}

#[cfg(test)]
mod tests;
