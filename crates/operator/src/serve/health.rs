//! Whether the operator is alive, and whether it has begun.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use http::{StatusCode, request::Parts};
use kollect_sinks::Clock;
use tokio::sync::watch;

use super::{Answer, Page, Port, serve, text};
use crate::{
    lease::Standing,
    vitals::{Progress, Vitals},
};

/// The work comes round every second, or something is wrong that only a new
/// start can mend.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);
/// So many names are shown.
const MOST_NAMES: usize = 20;

/// What is known about the process.
#[derive(Debug)]
pub struct Health {
    pub clock: Arc<dyn Clock>,
    pub vitals: Arc<Vitals>,
    /// Where it stands among several, if it competes with them.
    pub standing: Option<watch::Receiver<Standing>>,
}

impl Health {
    /// Answers `/healthz` and `/readyz` for as long as it is polled.
    pub async fn serve(self, port: Port) {
        serve(port, None, Arc::new(self)).await;
    }
}

#[async_trait]
impl Page for Health {
    async fn answer(&self, asked: &Parts) -> Answer {
        let checks = match asked.uri.path().trim_end_matches('/') {
            "/healthz" => vec![liveness(self.vitals.silence(self.clock.moment()))],
            "/readyz" => {
                let standing = self.standing.as_ref().map(|standing| standing.borrow().clone());
                readiness(standing.as_ref(), &self.vitals.progress())
            }
            _ => return text(StatusCode::NOT_FOUND, "there are /healthz and /readyz\n"),
        };
        let is_verbose = asked.uri.query().is_some_and(|query| {
            query.split('&').any(|one| one == "verbose" || one.starts_with("verbose="))
        });
        let (status, body) = page(&checks, is_verbose);
        text(status, body)
    }
}

/// Something that has to be so, and why it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    name: &'static str,
    fault: Option<String>,
}

/// Whether the work comes round.
fn liveness(silence: Option<Duration>) -> Check {
    let late = silence.filter(|silence| *silence > LONGEST_SILENCE);
    let fault = late.map(|late| format!("the work has not come round for {} s", late.as_secs()));
    Check { name: "loop", fault }
}

/// Whether everything has been looked at once; a follower has nothing to look
/// at as long as it knows its leader.
fn readiness(standing: Option<&Standing>, progress: &Progress) -> Vec<Check> {
    let lease = |fault| Check { name: "lease", fault };
    match standing {
        Some(Standing::Asking(why)) => {
            let why = why.as_deref().unwrap_or("nobody has answered yet");
            return vec![lease(Some(format!("it is not known who has it: {why}")))];
        }
        Some(Standing::Following { .. }) => return vec![lease(None)],
        Some(Standing::Leading) | None => {}
    }
    let (kinds, targets) = match progress {
        Progress::NotBegun => {
            let fault = Some("nothing has been asked for yet".to_owned());
            (fault.clone(), fault)
        }
        Progress::Listing(kinds) => {
            let fault = Some("our own kinds come first".to_owned());
            (Some(format!("not listed: {}", shown(kinds, "; "))), fault)
        }
        Progress::Reading(targets) => {
            (None, Some(format!("not read yet: {}", shown(targets, ", "))))
        }
        Progress::Done => (None, None),
    };
    let lease = standing.map(|_| lease(None)).into_iter();
    let rest = [Check { name: "kinds", fault: kinds }, Check { name: "targets", fault: targets }];
    lease.chain(rest).collect()
}

/// The first of some names, and how many more there are.
fn shown(names: &[String], between: &str) -> String {
    let first: Vec<_> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    let text = first.join(between);
    match names.len().saturating_sub(MOST_NAMES) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// What is wrong is said to everybody, and what is well to those who ask.
fn page(checks: &[Check], is_verbose: bool) -> (StatusCode, String) {
    let is_well = checks.iter().all(|check| check.fault.is_none());
    if is_well && !is_verbose {
        return (StatusCode::OK, "ok".to_owned());
    }
    let line = |check: &Check| match &check.fault {
        None => format!("[+]{} ok\n", check.name),
        Some(why) => format!("[-]{}: {why}\n", check.name),
    };
    let lines: String = checks.iter().map(line).collect();
    let (status, end) = if is_well {
        (StatusCode::OK, "all checks passed\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "some checks failed\n")
    };
    (status, lines + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(standing: Option<&Standing>, progress: &Progress) -> String {
        page(&readiness(standing, progress), true).1
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_loop_that_does_not_come_round_is_dead() {
        let second = Duration::from_secs;
        assert_eq!(liveness(None).fault, None, "nobody works");
        assert_eq!(liveness(Some(second(60))).fault, None);
        let fault = "the work has not come round for 61 s";
        assert_eq!(liveness(Some(second(61))).fault.as_deref(), Some(fault));
    }

    #[test]
    fn what_has_not_been_looked_at_is_named() {
        let kinds = names(&["KollectTarget: the server does not know it", "KollectScope"]);
        assert_eq!(
            ready(None, &Progress::Listing(kinds)),
            "[-]kinds: not listed: KollectTarget: the server does not know it; KollectScope\n\
             [-]targets: our own kinds come first\nsome checks failed\n"
        );
        assert_eq!(
            ready(Some(&Standing::Leading), &Progress::Reading(names(&["shop/web", "all"]))),
            "[+]lease ok\n[+]kinds ok\n[-]targets: not read yet: shop/web, all\nsome checks failed\n"
        );
        assert_eq!(ready(None, &Progress::Done), "[+]kinds ok\n[+]targets ok\nall checks passed\n");
    }

    #[test]
    fn a_follower_is_ready_when_it_knows_whom_it_follows() {
        let standing = Standing::Following { holder: "other".to_owned() };
        assert_eq!(ready(Some(&standing), &Progress::NotBegun), "[+]lease ok\nall checks passed\n");
        let standing = Standing::Asking(Some("the server answered 403".to_owned()));
        assert_eq!(
            ready(Some(&standing), &Progress::NotBegun),
            "[-]lease: it is not known who has it: the server answered 403\nsome checks failed\n"
        );
    }

    #[test]
    fn what_is_wrong_is_said_to_everybody() {
        let well = Check { name: "loop", fault: None };
        assert_eq!(page(std::slice::from_ref(&well), false), (StatusCode::OK, "ok".to_owned()));
        let (status, body) = page(&readiness(None, &Progress::NotBegun), false);
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(body.starts_with("[-]kinds: nothing has been asked for yet\n"), "{body}");
    }

    #[test]
    fn many_names_are_counted() {
        let many: Vec<_> = (0..25).map(|number| format!("t{number}")).collect();
        assert!(shown(&many, ", ").ends_with("t18, t19 and 5 more"));
        assert_eq!(shown(&names(&["a", "b"]), ", "), "a, b");
    }
}
