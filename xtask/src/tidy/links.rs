//! Links of a page that lead nowhere.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Kind, Source, kind};

/// Findings in all pages: a link within the repository leads to a file or a
/// folder that is there, and to a heading that it has.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let texts: BTreeMap<_, _> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let folders: BTreeSet<_> = texts.keys().flat_map(|path| folders(path)).collect();
    let pages = sources.iter().filter(|source| kind(&source.path) == Kind::Markdown);
    let mut findings = Vec::new();
    for Source { path, text } in pages {
        for (link, number) in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let Some(target) = resolve(path, file) else {
                findings.push(Finding::new(path, number, format!("`{link}` leads out of here")));
                continue;
            };
            let page = texts.get(target.as_str());
            if page.is_none() && !folders.contains(target.as_str()) {
                findings.push(Finding::new(path, number, format!("`{link}` leads nowhere")));
            } else if !anchor.is_empty() && !page.is_some_and(|page| has(page, anchor)) {
                let text = format!("`{link}` leads to a heading that is not there");
                findings.push(Finding::new(path, number, text));
            }
        }
    }
    findings
}

/// Every folder that a file is below.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Lines that are no program text.
fn prose(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut is_code = false;
    text.lines().zip(1..).filter(move |(line, _)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Where links and pictures of a page lead, as far as that is in the repository.
fn links(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    for (line, number) in prose(text) {
        let parts = line.split("](").skip(1).chain(line.split("src=\"").skip(1));
        let ends = parts.filter_map(|part| part.split([')', '"', ' ']).next());
        let ours = ends.filter(|link| !link.contains("://") && !link.starts_with("mailto:"));
        found.extend(ours.map(|link| (link, number)));
    }
    found
}

/// The path from the root that a link on a page means; none if it climbs out.
fn resolve(page: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a page has a place of this name: a heading, or one that it was given.
fn has(page: &str, anchor: &str) -> bool {
    let given = format!("<a id=\"{anchor}\">");
    let is_it = |line: &str| {
        let title = line.trim_start_matches('#');
        title.len() < line.len() && slug(title.trim()) == anchor
    };
    page.contains(&given) || prose(page).any(|(line, _)| is_it(line))
}

/// What a heading is called in links.
fn slug(title: &str) -> String {
    let known = title.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    known.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_page(text: &str, expected: &[&str]) {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let guide = "# The `Synced` word?\n<a id=\"x-1\"></a>\n```\n# no heading\n```\n";
        let sources = [source("docs/a.md", text), source("docs/guide/b.md", guide)];
        let found = check(&sources).into_iter().map(|finding| finding.text);
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_link_leads_to_a_file_a_folder_or_a_heading() {
        check_page("[a](guide/b.md) [b](guide) [c](../docs/guide/b.md#x-1)", &[]);
        check_page("# Own\n[a](guide/b.md#the-synced-word) [b](#own)", &[]);
        check_page("[a](https://example.org/x) ![b](guide/b.md)", &[]);
        check_page("```\n[a](nowhere.md)\n```", &[]);
    }

    #[test]
    fn what_leads_nowhere_is_found() {
        check_page("[a](b.md)", &["`b.md` leads nowhere"]);
        check_page("![a](b.svg)", &["`b.svg` leads nowhere"]);
        check_page("[a](../../b.md)", &["`../../b.md` leads out of here"]);
        let text = "`guide/b.md#no-heading` leads to a heading that is not there";
        check_page("[a](guide/b.md#no-heading)", &[text]);
    }
}
