//! Every command that our pages show, run as a reader would run it, and what
//! they say that it prints.
//!
//! A block of `sh` is run command by command, in a directory that has our
//! `deploy` and nothing else. A block without a language that follows in the
//! same section is what the commands before it print; `…` in it stands for
//! anything, alone on a line for any number of lines.

mod documented {
    #[cfg(test)]
    mod page;
    #[cfg(test)]
    mod world;
    #[cfg(test)]
    mod running;
    #[cfg(test)]
    mod manifests;
    #[cfg(test)]
    mod words;
}
