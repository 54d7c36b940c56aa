//! A connection to a Git server, whatever it is made of.

use bytes::Bytes;

use crate::{git::error::Fault, progress::Progress};

/// What a server is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Service {
    /// Sends objects.
    Upload,
    /// Takes objects.
    Receive,
}

impl Service {
    pub(in crate::git) fn name(self) -> &'static str {
        match self {
            Self::Upload => "git-upload-pack",
            Self::Receive => "git-receive-pack",
        }
    }
}

/// A connection to a Git server. One conversation at a time goes over it.
pub(in crate::git) trait Wire {
    /// Begins a conversation: what the service says about itself comes next.
    fn begin(&mut self, service: Service) -> Result<(), Fault>;

    /// Whether something can be said without beginning a conversation.
    fn is_stateless(&self) -> bool;

    /// Says something: what the service answers comes next.
    fn say(&mut self, service: Service, words: &[Bytes]) -> Result<(), Fault>;

    /// The next piece of what the service says; nothing at the end.
    fn chunk(&mut self) -> Result<Option<Bytes>, Fault>;

    /// Ends the conversation, wherever it is.
    fn end(&mut self);

    /// Says for whom the next calls are made.
    fn attend(&mut self, progress: &Progress);
}
