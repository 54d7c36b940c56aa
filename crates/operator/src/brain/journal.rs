//! Says once what has become worse or better.
//!
//! A target that fails for an hour is one line at its beginning and one at its
//! end, however often somebody looks at it.

use std::collections::BTreeMap;

use kollect_inventory::schedule::ErrorClass;
use kollect_sinks::{PairKey, PairState, Phase, SinkKey};
use kollect_validate::Kind;

use super::{copies::Copies, say::Saying};
use crate::{
    objects::Name,
    plan::{Plan, Trouble},
};

/// Something that may be in trouble.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Target(Kind, Name),
    Inventory(Kind, Name),
    Copy(Kind, Name, SinkKey),
    /// A sink, for all who write to it.
    Sink(SinkKey),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    reason: String,
    class: Option<ErrorClass>,
    message: String,
}

/// How somebody is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// That is being found out.
    Unclear,
    Well,
    Wrong(Fault),
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Worse(Subject, Fault),
    Better(Subject),
}

/// What is wrong, as it was said last.
#[derive(Debug, Default)]
pub(super) struct Journal(BTreeMap<Subject, Fault>);

impl Journal {
    /// Takes a look at everything, and says what has changed.
    pub(super) fn look(&mut self, plan: &Plan, said: &[Saying], copies: &Copies) {
        let mut now = BTreeMap::new();
        for (kind, name, saying) in said.iter().filter_map(Saying::of_target) {
            let state = match saying.degraded() {
                Some((reason, message)) => {
                    let (reason, message) = (reason.to_owned(), message.to_owned());
                    State::Wrong(Fault { reason, class: None, message })
                }
                None if saying.is("Ready") => State::Well,
                None => State::Unclear,
            };
            now.insert(Subject::Target(kind, name), state);
        }
        for (key, inventory) in &plan.inventories {
            let (kind, name) = (inventory.object.kind(), Name::of(&inventory.object));
            for pair in &inventory.pairs {
                let pair = PairKey { inventory: key.clone(), sink: pair.sink.clone() };
                let state = if copies.is_left_alone(&pair.sink) {
                    wrong(&Trouble::new("CircuitOpen", "it has failed again and again"), None)
                } else {
                    State::Well
                };
                now.insert(Subject::Sink(pair.sink.clone()), state);
                let state = of_copy(copies.state(&pair).as_ref());
                now.insert(Subject::Copy(kind, name.clone(), pair.sink), state);
            }
            let state = inventory.trouble.as_ref().map_or(State::Well, |one| wrong(one, None));
            now.insert(Subject::Inventory(kind, name), state);
        }
        for entry in self.turn(now) {
            entry.say();
        }
    }

    /// What has changed. Of whom nothing is known now, what was known stays;
    /// who is gone is forgotten.
    fn turn(&mut self, now: BTreeMap<Subject, State>) -> Vec<Entry> {
        self.0.retain(|subject, _| now.contains_key(subject));
        let mut entries = Vec::new();
        for (subject, state) in now {
            match state {
                State::Unclear => {}
                State::Well => {
                    if self.0.remove(&subject).is_some() {
                        entries.push(Entry::Better(subject));
                    }
                }
                State::Wrong(fault) => {
                    // The words may change with every try; that is no news.
                    let is_known = self.0.get(&subject).is_some_and(|before| {
                        (&before.reason, before.class) == (&fault.reason, fault.class)
                    });
                    if !is_known {
                        self.0.insert(subject.clone(), fault.clone());
                        entries.push(Entry::Worse(subject, fault));
                    }
                }
            }
        }
        entries
    }
}

fn wrong(Trouble { reason, message }: &Trouble, class: Option<ErrorClass>) -> State {
    State::Wrong(Fault { reason: (*reason).to_owned(), class, message: message.clone() })
}

/// How a copy is.
fn of_copy(state: Option<&Result<PairState, Trouble>>) -> State {
    match state {
        None => State::Unclear,
        Some(Err(trouble)) if trouble.reason == "Progressing" => State::Unclear,
        Some(Err(trouble)) => wrong(trouble, Some(ErrorClass::Terminal)),
        Some(Ok(state)) => match &state.phase {
            Phase::Starting | Phase::Progressing(_) => State::Unclear,
            Phase::Exported => State::Well,
            Phase::Partial { total, .. } => {
                let message = format!("the sink refuses {total} rows");
                wrong(&Trouble::new("PartiallySynced", message), None)
            }
            Phase::Failed { class, message, .. } => {
                wrong(&Trouble::new("ExportFailed", message.clone()), Some(*class))
            }
        },
    }
}

impl Entry {
    fn say(&self) {
        match self {
            Self::Worse(Subject::Target(kind, name), fault) => {
                let Fault { reason, message, .. } = fault;
                let said = match reason.as_str() {
                    "AccessCheckFailed" => "access check failed",
                    "ExtractionFailed" => "extract attributes failed",
                    _ => "target degraded",
                };
                let Name { namespace, name } = name;
                let controller = controller(*kind);
                let (target, error) = (name, message);
                tracing::warn!(controller, namespace, name, target, reason, error, "{said}");
            }
            Self::Better(Subject::Target(kind, Name { namespace, name })) => {
                let controller = controller(*kind);
                let target = name;
                tracing::info!(controller, namespace, name, target, "target recovered");
            }
            Self::Worse(Subject::Inventory(kind, Name { namespace, name }), fault) => {
                let Fault { reason, message: error, .. } = fault;
                let (controller, inventory) = (controller(*kind), name);
                tracing::warn!(
                    controller,
                    namespace,
                    name,
                    inventory,
                    reason,
                    error,
                    "inventory degraded"
                );
            }
            Self::Better(Subject::Inventory(kind, Name { namespace, name })) => {
                let (controller, inventory) = (controller(*kind), name);
                tracing::info!(controller, namespace, name, inventory, "inventory recovered");
            }
            Self::Worse(Subject::Copy(kind, name, sink), fault) => {
                worse_copy(*kind, name, sink, fault);
            }
            Self::Worse(Subject::Sink(SinkKey { namespace, name, .. }), fault) => {
                let (reason, sink) = (fault.reason.as_str(), format!("{namespace}/{name}"));
                tracing::warn!(namespace, name, sink, reason, "sink circuit breaker open");
            }
            Self::Better(Subject::Sink(SinkKey { namespace, name, .. })) => {
                let sink = format!("{namespace}/{name}");
                tracing::info!(namespace, name, sink, "sink circuit breaker closed");
            }
            Self::Better(Subject::Copy(kind, Name { namespace, name }, sink)) => {
                let (controller, inventory) = (controller(*kind), name);
                let sink = format!("{}/{}", sink.namespace, sink.name);
                tracing::info!(controller, namespace, name, inventory, sink, "export recovered");
            }
        }
    }
}

fn worse_copy(kind: Kind, Name { namespace, name }: &Name, sink: &SinkKey, fault: &Fault) {
    let Fault { reason, class, message: error } = fault;
    let (controller, inventory) = (controller(kind), name);
    let sink = format!("{}/{}", sink.namespace, sink.name);
    let error_class = class.map(|class| match class {
        ErrorClass::Transient => "transient",
        ErrorClass::Terminal => "terminal",
    });
    let said = if reason == "PartiallySynced" { "export incomplete" } else { "export failed" };
    tracing::warn!(
        controller,
        namespace,
        name,
        inventory,
        sink,
        reason,
        error_class,
        error,
        "{said}"
    );
}

/// What upstream calls whoever reconciles a kind.
fn controller(kind: Kind) -> String {
    kind.name().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str) -> Subject {
        Subject::Target(Kind::Target, Name::new("shop", name))
    }

    fn fault(reason: &str, message: &str) -> Fault {
        Fault { reason: reason.to_owned(), class: None, message: message.to_owned() }
    }

    #[test]
    fn what_stays_as_it_is_is_said_once() {
        let mut journal = Journal::default();
        let mut turn = |state: State| journal.turn(BTreeMap::from([(subject("web"), state)]));
        assert_eq!(turn(State::Well), [], "that all is well goes without saying");
        let first = fault("ScopeForbidden", "3 rows");
        assert_eq!(turn(State::Wrong(first.clone())), [Entry::Worse(subject("web"), first)]);
        assert_eq!(turn(State::Wrong(fault("ScopeForbidden", "4 rows"))), []);
        assert_eq!(turn(State::Unclear), []);
        let other = fault("InvalidSpec", "4 rows");
        assert_eq!(turn(State::Wrong(other.clone())), [Entry::Worse(subject("web"), other)]);
        assert_eq!(turn(State::Well), [Entry::Better(subject("web"))]);
        assert_eq!(turn(State::Well), []);
    }

    #[test]
    fn who_is_gone_is_forgotten() {
        let mut journal = Journal::default();
        let wrong = || State::Wrong(fault("InvalidSpec", "no such kind"));
        let failed = || BTreeMap::from([(subject("web"), wrong())]);
        assert_eq!(journal.turn(failed()).len(), 1);
        assert_eq!(journal.turn(BTreeMap::new()), []);
        assert_eq!(journal.turn(failed()).len(), 1, "another of the same name is another");
    }

    #[test]
    fn a_copy_that_is_on_its_way_is_neither_good_nor_bad() {
        let state = |phase| Ok(PairState { phase, ..PairState::default() });
        assert_eq!(of_copy(None), State::Unclear);
        assert_eq!(of_copy(Some(&state(Phase::Starting))), State::Unclear);
        let more = Phase::Progressing("more to come".to_owned());
        assert_eq!(of_copy(Some(&state(more))), State::Unclear);
        assert_eq!(of_copy(Some(&state(Phase::Exported))), State::Well);
        let trouble = Err(Trouble::new("SinkNotFound", "there is none"));
        let class = Some(ErrorClass::Terminal);
        let expected = Fault { class, ..fault("SinkNotFound", "there is none") };
        assert_eq!(of_copy(Some(&trouble)), State::Wrong(expected));
    }
}
