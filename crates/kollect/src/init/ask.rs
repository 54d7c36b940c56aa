//! The questions of `kollect init`, for a person at a terminal.
//!
//! Line by line and without any trick of terminals, so that it works in all
//! of them and over everything that carries lines.

use std::io::{self, BufRead, Write};

use kollect_collect::{Resource, Scope};

use crate::args::init::SinkChoice;

/// A list that is longer does not help anybody.
const MOST_SHOWN: usize = 40;

/// Somebody who answers.
pub(super) struct Talk<R, W> {
    answers: R,
    questions: W,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the answer was cut off; nothing was written")]
    Ended,
    #[error("could not ask")]
    Broken(#[from] io::Error),
}

impl<R: BufRead, W: Write> Talk<R, W> {
    pub(super) fn new(answers: R, questions: W) -> Self {
        Self { answers, questions }
    }

    /// Asks for kinds until all are known: `means` says whether they are.
    pub(super) fn kinds<E: std::fmt::Display>(
        &mut self,
        offered: &[&Resource],
        means: impl Fn(&[String]) -> Result<(), E>,
    ) -> Result<Vec<String>, NoAnswer> {
        writeln!(self.questions, "The cluster serves {} kinds that can be listed.", offered.len())?;
        writeln!(
            self.questions,
            "Which do you want to collect? Names or numbers with commas between them;\n\
             /word shows the kinds that hold the word, / shows all."
        )?;
        loop {
            let line = self.line("kinds")?;
            if let Some(word) = line.strip_prefix('/') {
                self.show(offered, word.trim())?;
                continue;
            }
            let words = listed(&line).map(|word| match word.parse::<usize>() {
                Ok(number) => match number.checked_sub(1).and_then(|at| offered.get(at)) {
                    Some(resource) => resource.full_name(),
                    None => word.to_owned(),
                },
                Err(_) => word.to_owned(),
            });
            let words: Vec<_> = words.collect();
            match means(&words) {
                Ok(()) => return Ok(words),
                Err(error) => writeln!(self.questions, "{error}")?,
            }
        }
    }

    /// Asks for namespaces; none means all.
    pub(super) fn namespaces(&mut self) -> Result<Vec<String>, NoAnswer> {
        writeln!(self.questions, "From which namespaces? Names with commas; nothing means all.")?;
        let line = self.line("namespaces")?;
        Ok(listed(&line).map(str::to_owned).collect())
    }

    /// Asks for a sink; the first is the one for people without a wish.
    pub(super) fn sink(&mut self, choices: &[SinkChoice]) -> Result<SinkChoice, NoAnswer> {
        let names: Vec<_> = choices.iter().map(|choice| choice.name()).collect();
        let usual = names.first().copied().unwrap_or_default();
        writeln!(
            self.questions,
            "Where shall copies be kept? One of {}; nothing means {usual}.",
            names.join(", ")
        )?;
        loop {
            let line = self.line("sink")?;
            let wanted = if line.is_empty() { usual } else { &line };
            match choices.iter().find(|choice| choice.name() == wanted) {
                Some(choice) => return Ok(*choice),
                None => writeln!(self.questions, "there is no {wanted:?} among them")?,
            }
        }
    }

    /// Asks for the address of a repository.
    pub(super) fn endpoint(&mut self) -> Result<String, NoAnswer> {
        writeln!(self.questions, "At which address is the repository?")?;
        loop {
            let line = self.line("address")?;
            if !line.is_empty() {
                return Ok(line);
            }
        }
    }

    fn show(&mut self, offered: &[&Resource], word: &str) -> Result<(), NoAnswer> {
        let word = word.to_lowercase();
        let holds = |resource: &Resource| {
            resource.full_name().contains(&word)
                || resource.kind.to_lowercase().contains(&word)
                || resource.short_names.contains(&word)
        };
        let found = offered.iter().enumerate().filter(|(_, resource)| holds(resource));
        let found: Vec<_> = found.collect();
        let most = if word.is_empty() { usize::MAX } else { MOST_SHOWN };
        for (at, resource) in found.iter().take(most) {
            let scope = match resource.scope {
                Scope::Namespaced => "",
                Scope::Cluster => "  (in no namespace)",
            };
            writeln!(self.questions, "{:4}  {}{scope}", at + 1, resource.full_name())?;
        }
        match found.len() {
            0 => writeln!(self.questions, "no kind holds {word:?}")?,
            many if many > most => writeln!(self.questions, "      and {} more", many - most)?,
            _ => {}
        }
        Ok(())
    }

    fn line(&mut self, prompt: &str) -> Result<String, NoAnswer> {
        write!(self.questions, "{prompt}> ")?;
        self.questions.flush()?;
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(NoAnswer::Ended),
            _ => Ok(line.trim().to_owned()),
        }
    }
}

/// The words of an answer.
fn listed(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ' ', '\t']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(plural: &str, group: &str, scope: Scope) -> Resource {
        Resource::known((group, "v1"), plural.trim_end_matches('s'), plural, scope)
    }

    /// What is asked, and what is made of the answers.
    fn kinds(answers: &str) -> (Result<Vec<String>, NoAnswer>, String) {
        let all = [
            resource("pods", "", Scope::Namespaced),
            resource("nodes", "", Scope::Cluster),
            resource("certificates", "cert-manager.io", Scope::Namespaced),
        ];
        let offered: Vec<_> = all.iter().collect();
        let mut asked = Vec::new();
        let means = |words: &[String]| match words {
            [] => Err("no kind was named"),
            words if words.iter().any(|word| word == "widgets") => Err("there is no widget"),
            _ => Ok(()),
        };
        let chosen = Talk::new(answers.as_bytes(), &mut asked).kinds(&offered, means);
        (chosen, String::from_utf8(asked).unwrap())
    }

    #[test]
    fn names_and_numbers_are_taken() {
        assert_eq!(kinds("3, po\n").0.unwrap(), ["certificates.cert-manager.io", "po"]);
    }

    #[test]
    fn a_word_after_a_slash_shows_what_holds_it() {
        let (chosen, asked) = kinds("/cert\n/\n/zzz\n2\n");
        assert_eq!(chosen.unwrap(), ["nodes"]);
        let shown: Vec<_> = asked.lines().skip(3).collect();
        assert_eq!(
            shown,
            [
                "kinds>    3  certificates.cert-manager.io",
                "kinds>    1  pods",
                "   2  nodes  (in no namespace)",
                "   3  certificates.cert-manager.io",
                "kinds> no kind holds \"zzz\"",
                "kinds> ",
            ]
        );
    }

    #[test]
    fn what_means_nothing_is_said_and_asked_again() {
        let (chosen, asked) = kinds("\nwidgets\n99\npods\n");
        assert_eq!(chosen.unwrap(), ["99"]);
        assert!(asked.contains("no kind was named\nkinds> there is no widget\n"), "{asked}");
    }

    #[test]
    fn an_end_of_answers_is_no_answer() {
        assert!(matches!(kinds("/cert\n").0, Err(NoAnswer::Ended)));
    }

    #[test]
    fn nothing_means_all_namespaces_and_the_first_sink() {
        let mut asked = Vec::new();
        let mut talk =
            Talk::new("\nmars\n\nshop mall\nfile\n\nhttps://git\n".as_bytes(), &mut asked);
        let choices = [SinkChoice::Sqlite, SinkChoice::File];
        assert!(talk.namespaces().unwrap().is_empty());
        assert_eq!(talk.sink(&choices).unwrap(), SinkChoice::Sqlite);
        assert_eq!(talk.namespaces().unwrap(), ["shop", "mall"]);
        assert_eq!(talk.sink(&choices).unwrap(), SinkChoice::File);
        assert_eq!(talk.endpoint().unwrap(), "https://git");
        assert!(String::from_utf8(asked).unwrap().contains("there is no \"mars\" among them"));
    }
}
