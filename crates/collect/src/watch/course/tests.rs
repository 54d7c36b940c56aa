//! Every turn that a watch may take, as sentences.

use super::*;

/// A watch in time that does not pass by itself.
struct Story {
    course: Course,
    now: Instant,
}

fn trouble(sort: Sort) -> Trouble {
    match sort {
        Sort::Standing => Trouble::Forbidden("no".to_owned()),
        Sort::Passing | Sort::Gone | Sort::Garbled => Trouble::Unreachable("no".to_owned()),
    }
}

fn failure(sort: Sort) -> Failure {
    Failure { sort, retry_after: None, trouble: trouble(sort) }
}

fn listed(version: &str) -> Input {
    Input::Listed { version: version.to_owned(), sweep: Sweep::Yes }
}

fn refusal(code: u16) -> Refusal {
    let what = || "pods".to_owned();
    Refusal::from(match code {
        401 => ListError::Unauthorized { what: what(), message: String::new() },
        403 => ListError::Forbidden { what: what(), message: String::new() },
        404 => ListError::NotServed { what: what() },
        410 => ListError::TooOld { what: what() },
        429 => ListError::Throttled { what: what() },
        code => ListError::Server { what: what(), code, message: String::new() },
    })
}

/// The state in few letters.
fn short(state: &State) -> String {
    let start = |start: &Start| match start {
        Start::AsAsked => "as asked".to_owned(),
        Start::NotOlderThan(version) => format!("at least {version}"),
        Start::Now => "now".to_owned(),
    };
    match state {
        State::Listing { start: from } => format!("listing, {}", start(from)),
        State::Watching { version } => format!("watching after {version}"),
        State::Resuming { version } => format!("resuming after {version}"),
        State::Refused { start: from } => format!("refused, {}", start(from)),
    }
}

impl Story {
    fn begins() -> Self {
        Self { course: Course::new(Pace::default()), now: Instant::now() }
    }

    /// A watch that has listed up to version 7 and has a stream.
    fn watches() -> Self {
        let mut story = Self::begins();
        story.takes(listed("7"));
        story.takes(Input::Opened);
        story
    }

    fn takes(&mut self, input: Input) -> Turn {
        self.course.takes(input, self.now, 1.0)
    }

    fn after(&mut self, seconds: u64) -> &mut Self {
        self.now += Duration::from_secs(seconds);
        self
    }

    #[track_caller]
    fn check(
        &mut self,
        input: Input,
        state: &str,
        millis: u64,
        tell: impl Into<Option<Tell>>,
    ) -> &mut Self {
        let turn = self.takes(input);
        assert_eq!(short(self.course.state()), state);
        assert_eq!(turn, Turn { wait: Duration::from_millis(millis), tell: tell.into() });
        self
    }
}

fn uncovered(trouble: Trouble) -> Tell {
    Tell::Uncovered(trouble)
}

#[test]
fn what_is_listed_is_watched_from_the_version_of_the_list() {
    let mut story = Story::begins();
    assert_eq!(short(story.course.state()), "listing, as asked");
    story.check(listed("7"), "watching after 7", 0, None);
    story.course.moves_to("9");
    assert_eq!(short(story.course.state()), "watching after 9");
}

#[test]
fn versions_never_go_back_and_what_has_none_changes_nothing() {
    let mut story = Story::watches();
    for (heard, expected) in [("8", "8"), ("3", "8"), ("", "8"), ("10", "10")] {
        story.course.moves_to(heard);
        assert_eq!(short(story.course.state()), format!("watching after {expected}"));
    }
    assert!(story.course.is_ahead_of("9"));
    assert!(!story.course.is_ahead_of("10"));
    assert!(!story.course.is_ahead_of("a word"));
}

#[test]
fn a_list_that_may_not_sweep_is_followed_by_another() {
    let input = Input::Listed { version: "7".to_owned(), sweep: Sweep::No };
    Story::begins().check(input, "listing, now", 800, None);
}

#[test]
fn a_list_without_a_version_cannot_be_watched_from() {
    let mut story = Story::begins();
    let turn = story.takes(listed(""));
    assert_eq!(short(story.course.state()), "refused, now");
    assert!(matches!(turn.tell, Some(Tell::Uncovered(Trouble::Unusable(_)))), "{turn:?}");
}

#[test]
fn a_cut_stream_is_resumed_after_longer_and_longer_waits() {
    let mut story = Story::watches();
    for millis in [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000] {
        story.check(Input::Failed(failure(Sort::Passing)), "resuming after 7", millis, None);
        story.check(Input::Newest("7".to_owned()), "watching after 7", 0, None);
    }
}

#[test]
fn two_minutes_of_health_forgive_what_was_before() {
    let mut story = Story::watches();
    for _ in 0..5 {
        story.takes(Input::Failed(failure(Sort::Passing)));
    }
    story.takes(Input::Newest("7".to_owned()));
    story.takes(Input::Opened);
    let cut = || Input::Failed(failure(Sort::Passing));
    story.after(119).check(cut(), "resuming after 7", 25_600, None);
    story.takes(Input::Newest("7".to_owned()));
    story.takes(Input::Opened);
    story.after(120).check(cut(), "resuming after 7", 800, None);
}

#[test]
fn a_stream_that_ends_in_good_order_goes_on_at_once_but_not_all_the_time() {
    let mut story = Story::watches();
    story.after(300).check(Input::Ended, "resuming after 7", 0, None);
    story.takes(Input::Newest("8".to_owned()));
    story.takes(Input::Opened);
    story.check(Input::Ended, "resuming after 7", 1600, None);
}

#[test]
fn what_is_read_anew_needs_no_version_and_worries_nobody() {
    let mut story = Story::watches();
    story.after(300).check(Input::Ended, "resuming after 7", 0, None);
    story.check(Input::Again, "listing, now", 0, None);
    story.check(listed("9"), "watching after 9", 0, None);
}

#[test]
fn a_silent_stream_is_resumed_at_once() {
    Story::watches().after(90).check(Input::Silent, "resuming after 7", 0, None);
}

#[test]
fn a_server_that_is_behind_has_another_history() {
    let mut story = Story::watches();
    story.takes(Input::Silent);
    let newest = Input::Newest("6".to_owned());
    story.check(newest, "listing, now", 0, Some(uncovered(Trouble::Replaced)));
    story.check(listed("6"), "watching after 6", 0, Some(Tell::Recovered));
}

#[test]
fn a_version_that_is_gone_is_listed_again_at_once_but_not_all_the_time() {
    let mut story = Story::watches();
    let gone = || Input::Failed(failure(Sort::Gone));
    story.check(gone(), "listing, at least 7", 0, None);
    story.check(listed("9"), "watching after 9", 0, None);
    story.check(gone(), "listing, at least 9", 1600, None);
}

#[test]
fn who_is_busy_is_given_the_time_it_asks_for_and_not_a_day() {
    let mut story = Story::watches();
    let busy = |seconds| {
        let retry_after = Some(Duration::from_secs(seconds));
        Input::Failed(Failure { retry_after, ..failure(Sort::Passing) })
    };
    story.check(busy(7), "resuming after 7", 7800, None);
    story.check(busy(86_400), "resuming after 7", 301_600, None);
}

#[test]
fn who_is_refused_knows_nothing_and_asks_rarely() {
    let mut story = Story::watches();
    let refused = || Input::Failed(failure(Sort::Standing));
    let told = Some(uncovered(trouble(Sort::Standing)));
    story.check(refused(), "refused, at least 7", 30_000, told);
    // It is told once.
    for millis in [60_000, 120_000, 240_000, 300_000, 300_000] {
        story.check(refused(), "refused, at least 7", millis, None);
    }
    story.check(listed("9"), "watching after 9", 0, Some(Tell::Recovered));
}

#[test]
fn another_trouble_is_told_again() {
    let mut story = Story::begins();
    story.takes(Input::Failed(failure(Sort::Standing)));
    let absent = Trouble::NotServed("no".to_owned());
    let input = Input::Failed(Failure { trouble: absent.clone(), ..failure(Sort::Standing) });
    story.check(input, "refused, as asked", 60_000, Some(uncovered(absent)));
}

#[test]
fn a_list_that_fails_covers_nothing_while_a_watch_that_resumes_does() {
    let mut story = Story::begins();
    let failed = || Input::Failed(failure(Sort::Passing));
    let told = Some(uncovered(trouble(Sort::Passing)));
    story.check(failed(), "listing, as asked", 800, told);
    story.check(failed(), "listing, as asked", 1600, None);
    story.check(listed("7"), "watching after 7", 0, Some(Tell::Recovered));
    story.check(failed(), "resuming after 7", 3200, None);
    story.check(failed(), "resuming after 7", 6400, None);
}

#[test]
fn what_cannot_be_read_twice_after_the_same_version_is_listed_around() {
    let mut story = Story::watches();
    let garbled = || Input::Failed(failure(Sort::Garbled));
    story.check(garbled(), "resuming after 7", 800, None);
    story.takes(Input::Newest("8".to_owned()));
    story.course.moves_to("8");
    story.check(garbled(), "resuming after 8", 1600, None);
    story.takes(Input::Newest("8".to_owned()));
    story.check(garbled(), "listing, at least 8", 3200, None);
}

#[test]
fn a_list_in_a_stream_that_is_cut_is_read_in_pages_and_the_next_is_not() {
    let mut story = Story::begins();
    assert!(story.course.may_stream());
    let cut = Input::Interrupted(failure(Sort::Passing));
    story.check(cut, "listing, as asked", 800, None);
    assert!(!story.course.may_stream());
    story.takes(listed("7"));
    assert!(story.course.may_stream());
}

#[test]
fn who_does_not_offer_lists_in_streams_is_asked_for_pages_at_once() {
    let mut story = Story::begins();
    story.check(Input::NotOffered, "listing, as asked", 0, None);
    assert!(!story.course.may_stream());
}

#[test]
fn everything_is_listed_once_more_after_half_a_day() {
    let mut story = Story::watches();
    story.after(12 * 3600).takes(Input::Ended);
    story.check(Input::Newest("8".to_owned()), "watching after 7", 0, None);
    story.after(2 * 3600).takes(Input::Ended);
    story.check(Input::Newest("8".to_owned()), "listing, at least 7", 0, None);
}

#[test]
fn failures_are_sorted_by_what_can_be_done_about_them() {
    for (code, sort) in [
        (400, Sort::Standing),
        (401, Sort::Standing),
        (403, Sort::Standing),
        (404, Sort::Standing),
        (405, Sort::Standing),
        (410, Sort::Gone),
        (429, Sort::Passing),
        (500, Sort::Passing),
        (503, Sort::Passing),
        (504, Sort::Passing),
    ] {
        assert_eq!(Failure::from(&refusal(code)).sort, sort, "{code}");
    }
}

#[test]
fn a_refusal_of_lists_in_streams_is_told_from_others() {
    use Said::{AtTheDoor, First, Later};

    let short = |input| match input {
        Input::NotOffered => "not offered",
        Input::Interrupted(_) => "interrupted",
        Input::Failed(_) => "failed",
        _ => "something else",
    };
    for (code, said, expected) in [
        (400, AtTheDoor, "not offered"),
        (422, AtTheDoor, "not offered"),
        (500, AtTheDoor, "interrupted"),
        (429, AtTheDoor, "interrupted"),
        (403, AtTheDoor, "failed"),
        (404, AtTheDoor, "failed"),
        (500, First, "not offered"),
        (410, First, "interrupted"),
        (429, First, "interrupted"),
        (500, Later, "interrupted"),
        (401, Later, "failed"),
    ] {
        let input = Input::of_initial(&refusal(code), said);
        assert_eq!(short(input), expected, "{code} {said:?}");
    }
    let ahead = Refusal { ahead: true, ..refusal(504) };
    assert_eq!(short(Input::of_initial(&ahead, First)), "interrupted");
}
