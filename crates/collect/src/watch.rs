//! One watch of one resource in one scope: a list, and what changes after it,
//! for as long as somebody listens.
//!
//! What follows from cuts, refusals and silence is decided in [`course`]; this
//! file moves the bytes.

mod course;
pub(crate) mod line;
pub(crate) mod offers;
pub(crate) mod pace;
pub(crate) mod trouble;

use std::{ops::ControlFlow, time::Duration};

use kollect_inventory::Sweep;
use kube::Client;
use tokio::{
    select,
    time::{Instant, sleep},
};

use self::{
    course::{Course, Input, Said, Start, State, Tell},
    line::{Kind, Line, Lines},
    offers::Offers,
    pace::{Pace, between},
    trouble::{Failure, Trouble},
};
use crate::{
    ask::{self, Ask, Refusal, chance, encoded},
    list::{
        AtLeast, Content, Heard, Question, Reader,
        course::{path, selectors, what},
        error::ListError,
        list_to, newest,
    },
    split::SplitError,
};

/// What a watch tells, in the order in which it happened.
///
/// Each event tells which of two times it is of: what is there when a list is
/// read, or what changes after. So a listener can take the events of two
/// watches of the same, one of which is to take the place of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Everything is about to be read. If a list was running, it has begun
    /// anew, and what came of it before does not count.
    ListBegins,
    /// An object of the running list. It may come twice.
    Item(&'a [u8]),
    /// The running list has ended, at this version. What it did not name is
    /// gone, unless it says otherwise; then another list follows.
    ListEnds { version: &'a str, sweep: Sweep },
    /// An object is new or has changed. Also while a list runs, of which it then
    /// is a part.
    Changed(&'a [u8]),
    /// An object is gone, or no longer selected; as it was last. Also while a
    /// list runs.
    Gone(&'a [u8]),
    /// Everything up to a version has been told.
    Bookmark(&'a str),
    /// Nothing is known for sure until a list has ended. Comes again only if
    /// the trouble is another.
    Uncovered(&'a Trouble),
    /// The trouble is over: a list has ended, and the watch goes on.
    Recovered,
}

/// Who listens to a watch.
pub trait Listener: Send {
    /// Takes an event.
    fn hear(&mut self, event: Event<'_>);

    /// Takes an event of whose object nobody knows whether it is JSON to its
    /// end. Whoever reads objects anyway finds out at no cost; one that is cut or
    /// garbled must leave no trace.
    fn hear_unread(&mut self, event: Event<'_>) -> Result<(), Garbled> {
        let (Event::Item(bytes) | Event::Changed(bytes) | Event::Gone(bytes)) = event else {
            self.hear(event);
            return Ok(());
        };
        if !line::is_whole(bytes) {
            return Err(Garbled);
        }
        self.hear(event);
        Ok(())
    }

    /// Waits until more can be taken. The server is not read before, and waits
    /// in turn; nothing is dropped.
    fn ready(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// An object is cut or garbled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbled;

/// A watch to come.
pub struct Watch<'a> {
    client: Client,
    question: Question<'a>,
    offers: Offers,
    course: Course,
    /// Whether a stream that has ended is followed by one that begins anew.
    is_anew: bool,
}

impl<'a> Watch<'a> {
    /// A watch of what a question asks for. All watches of a server share what
    /// it offers.
    pub fn new(client: Client, question: Question<'a>, offers: Offers, pace: Pace) -> Self {
        Self { client, question, offers, course: Course::new(pace), is_anew: false }
    }

    /// The same for what is so little that it is read again whenever a stream
    /// has ended. Nothing is listed then, so whoever may watch needs no right
    /// to list, as long as the server begins watches with lists.
    #[must_use]
    pub fn anew(mut self) -> Self {
        self.is_anew = true;
        self
    }

    /// Lists and watches until it is told to stop.
    ///
    /// Nothing ends it but that: whatever goes wrong is waited for. It stops
    /// between two events, so the listener has heard each of them whole.
    pub async fn run(mut self, listener: &mut impl Listener, stop: impl Future<Output = ()>) {
        select! {
            biased;
            () = stop => {}
            () = self.go_on(listener) => {}
        }
    }

    /// One state after the other; never ends.
    async fn go_on(&mut self, listener: &mut impl Listener) {
        let mut history = self.offers.history();
        let mut wait = Duration::ZERO;
        loop {
            let step = async {
                if !wait.is_zero() {
                    sleep(wait).await;
                }
                self.step(listener).await
            };
            let input = select! {
                input = step => input,
                // Whoever could tell is a part of this.
                Ok(()) = history.changed() => Input::Replaced,
            };
            match &input {
                Input::NotOffered => self.offers.refuse_watch_list(),
                Input::Newest(newest) if self.course.is_behind(newest) => {
                    self.offers.replace_history();
                    history.mark_unchanged();
                }
                _ => {}
            }
            wait = self.takes(input, listener);
        }
    }

    /// What the state asks for, to its end.
    async fn step(&mut self, listener: &mut impl Listener) -> Input {
        match self.course.state() {
            State::Listing { .. } | State::Refused { .. } => {
                if self.offers.watch_list() && (self.is_anew || self.course.may_stream()) {
                    self.stream(listener).await
                } else {
                    self.pages(listener).await
                }
            }
            State::Watching { .. } => self.stream(listener).await,
            State::Resuming { .. } if self.is_anew => Input::Again,
            State::Resuming { .. } => match newest(&self.client, &self.question).await {
                Ok(version) => Input::Newest(version),
                Err(refusal) => Input::Failed(Failure::from(&refusal)),
            },
        }
    }

    /// Something happened: says how long to wait.
    fn takes(&mut self, input: Input, listener: &mut impl Listener) -> Duration {
        let turn = self.course.takes(input, Instant::now(), chance());
        match &turn.tell {
            Some(Tell::Uncovered(trouble)) => listener.hear(Event::Uncovered(trouble)),
            Some(Tell::Recovered) => listener.hear(Event::Recovered),
            None => {}
        }
        turn.wait
    }

    /// Reads everything in pages.
    async fn pages(&mut self, listener: &mut impl Listener) -> Input {
        listener.hear(Event::ListBegins);
        let question = Question { at_least: self.at_least(), ..self.question };
        match list_to(&self.client, &question, &mut Pages(listener)).await {
            Ok(listed) => {
                let (version, sweep) = (listed.resource_version, listed.sweep);
                listener.hear(Event::ListEnds { version: &version, sweep });
                Input::Listed { version, sweep }
            }
            Err(refusal) => Input::Failed(Failure::from(&refusal)),
        }
    }

    /// How new the next list must be.
    fn at_least(&self) -> AtLeast<'_> {
        match self.course.state() {
            State::Listing { start } | State::Refused { start } => match start {
                Start::AsAsked => self.question.at_least,
                Start::NotOlderThan(version) => AtLeast::Version(version),
                Start::Now => AtLeast::Now,
            },
            State::Watching { version } | State::Resuming { version } => AtLeast::Version(version),
        }
    }

    /// Reads a stream to its end: one that begins with a list if one is due, or
    /// one that goes on after a version.
    async fn stream(&mut self, listener: &mut impl Listener) -> Input {
        let (uri, what) = (self.uri(), what(&self.question));
        let ask = Ask { uri: &uri, accept: accept(self.question.content), what: &what };
        let mut answer = match ask.send(&self.client).await {
            Ok(answer) => answer,
            Err(refusal) => return self.refused(&refusal, Said::AtTheDoor),
        };
        self.takes(Input::Opened, listener);
        if self.course.is_listing() {
            listener.hear(Event::ListBegins);
        }
        let (mut lines, mut said) = (Lines::default(), Said::First);
        loop {
            let silence = self.course.pace().silence;
            // A list may be silent for as long as others are, whoever sends it.
            let silence =
                if self.course.is_listing() { silence.min(ask::SILENCE) } else { silence };
            let chunk = match answer.chunk_within(silence).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return self.ended(ask),
                Err(ListError::Stalled { .. }) => return self.fell_silent(),
                Err(error) => return self.refused(&error.into(), Said::Later),
            };
            let fed = lines.feed(chunk.as_ref(), |line| {
                let heard = self.hears(line, said, ask, listener);
                said = Said::Later;
                heard
            });
            match fed {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(input)) => return input,
                Err(_) => {
                    let error = ask.malformed(SplitError::ItemTooLarge);
                    return self.refused(&error.into(), Said::Later);
                }
            }
            listener.ready().await;
        }
    }

    /// Takes one line of a stream.
    fn hears(
        &mut self,
        line: &[u8],
        said: Said,
        ask: Ask<'_>,
        listener: &mut impl Listener,
    ) -> ControlFlow<Input> {
        for line in Line::readings(line) {
            if let Ok(heard) = self.tells(line, said, ask, listener) {
                return heard;
            }
        }
        let error = ask.malformed(SplitError::NotAnObject);
        ControlFlow::Break(self.refused(&error.into(), Said::Later))
    }

    /// Tells what a line may say.
    fn tells(
        &mut self,
        Line { kind, object, version }: Line<'_>,
        said: Said,
        ask: Ask<'_>,
        listener: &mut impl Listener,
    ) -> Result<ControlFlow<Input>, Garbled> {
        match (kind, self.course.is_listing()) {
            (Kind::Error, _) => {
                let refusal = ask::refusal_within(&object, ask.what);
                return Ok(ControlFlow::Break(self.refused(&refusal, said)));
            }
            (Kind::InitialEnd, true) => {
                let sweep = Sweep::Yes;
                listener.hear(Event::ListEnds { version: &version, sweep });
                self.takes(Input::Listed { version, sweep }, listener);
                // Who names no version cannot be followed, which is known by now.
                if self.course.is_listing() {
                    return Ok(ControlFlow::Break(Input::NotOffered));
                }
                return Ok(ControlFlow::Continue(()));
            }
            // Only who does not know such lists sends any other before their end.
            (Kind::Bookmark, true) => return Ok(ControlFlow::Break(Input::NotOffered)),
            (Kind::Bookmark | Kind::InitialEnd, false) => {
                if self.course.is_ahead_of(&version) {
                    return Ok(ControlFlow::Break(Input::Ended));
                }
                listener.hear(Event::Bookmark(&version));
            }
            (Kind::Added, true) => listener.hear_unread(Event::Item(&object))?,
            (Kind::Added | Kind::Modified, _) => listener.hear_unread(Event::Changed(&object))?,
            (Kind::Deleted, _) => listener.hear_unread(Event::Gone(&object))?,
        }
        self.course.moves_to(&version);
        Ok(ControlFlow::Continue(()))
    }

    fn refused(&self, refusal: &Refusal, said: Said) -> Input {
        if self.course.is_listing() {
            return Input::of_initial(refusal, said);
        }
        Input::Failed(Failure::from(refusal))
    }

    fn ended(&self, ask: Ask<'_>) -> Input {
        if self.course.is_listing() {
            let refusal = Refusal::from(ask.malformed(SplitError::Truncated));
            return Input::Interrupted(Failure::from(&refusal));
        }
        Input::Ended
    }

    /// A server that knows nothing of lists in streams sends what there is, and
    /// never says that this was all.
    fn fell_silent(&self) -> Input {
        if self.course.is_listing() { Input::NotOffered } else { Input::Silent }
    }

    /// Path and query of the next stream.
    fn uri(&self) -> String {
        let (path, selectors) = (path(&self.question), selectors(&self.question));
        let seconds = between(self.course.pace().session, chance()).as_secs().max(1);
        let uri = format!(
            "{path}?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}{selectors}"
        );
        let version = match self.at_least() {
            AtLeast::Now => "",
            AtLeast::Cached => "0",
            AtLeast::Version(version) => version,
        };
        let version = encoded(version);
        if self.course.is_listing() {
            format!(
                "{uri}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={version}"
            )
        } else {
            format!("{uri}&resourceVersion={version}")
        }
    }
}

/// The types of a stream's objects, best first. They are not those of a list:
/// a server takes those for a watch, too, and then ends it at its first event.
fn accept(content: Content) -> &'static str {
    match content {
        Content::Whole => "application/json",
        Content::Metadata => {
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        }
    }
}

/// A listener who is read a list in pages.
struct Pages<'a, L>(&'a mut L);

impl<L: Listener> Reader for Pages<'_, L> {
    fn hears(&mut self, heard: Heard<'_>) {
        self.0.hear(match heard {
            Heard::Item(item) => Event::Item(item),
            Heard::Again => Event::ListBegins,
        });
    }

    fn ready(&mut self) -> impl Future<Output = ()> + Send {
        self.0.ready()
    }
}
