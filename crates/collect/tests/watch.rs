//! Watches of a server that fails on demand, compared with a fresh list.

mod watch {
    #[cfg(test)]
    mod door;
    #[cfg(test)]
    mod support;
    mod endings;
    mod refusals;
    mod histories;
    mod storms;
}
