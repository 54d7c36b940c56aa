//! Which watches there have to be.
//!
//! Pure: what targets need and what we may read come in, and which watches
//! stand where, for whom, comes out. Those that run are compared with it by
//! whoever runs them.

use std::collections::{BTreeMap, BTreeSet};

use kollect_inventory::TargetKey;

use crate::{
    discovery::{Resource, Scope},
    list::Content,
    rights::{Answer, Right},
};

/// Up to so many namespaces of a kind are watched each by itself.
const MANY: usize = 20;
/// A kind that is watched everywhere goes on being so down to this many, lest
/// one namespace more or less turns everything over.
const FEW: usize = 10;

/// What a target needs of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Need<'a> {
    pub(crate) target: &'a TargetKey,
    pub(crate) resource: &'a Resource,
    /// One that is empty is for kinds without namespaces.
    pub(crate) namespaces: BTreeSet<String>,
    /// Whether it can want no others than it names.
    pub(crate) is_bounded: bool,
    /// What the server can be asked to select by.
    pub(crate) selector: String,
    pub(crate) content: Content,
}

/// Where a watch stands: a resource, in one namespace or everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Post {
    pub(crate) right: Right,
}

impl Post {
    fn of(resource: &Resource, namespace: Option<&str>) -> Self {
        Self { right: Right::of(resource, namespace) }
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.right.namespace.as_deref()
    }

    /// Whether two posts are of one resource.
    fn is_beside(&self, resource: &Resource) -> bool {
        let Right { group, version, plural, .. } = &self.right;
        (group, version, plural) == (&resource.group, &resource.version, &resource.plural)
    }
}

/// What a watch is asked for, and for whom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Duty {
    pub(crate) resource: Resource,
    pub(crate) selector: String,
    pub(crate) content: Content,
    pub(crate) users: BTreeMap<TargetKey, BTreeSet<String>>,
}

/// Which watches there have to be, and what is in the way of others.
#[derive(Debug, Default)]
pub(crate) struct WatchSet {
    pub(crate) posts: BTreeMap<Post, Duty>,
    /// What may not be read, and why; by target and namespace.
    pub(crate) refused: BTreeMap<(TargetKey, String), Answer>,
    /// The rights that decide it.
    pub(crate) matter: BTreeSet<Right>,
}

impl WatchSet {
    /// What the needs come to. `rights` says what is known of a right, and
    /// `runs` whether a post is manned.
    pub(crate) fn of<'r>(
        needs: &[Need<'_>],
        rights: impl Fn(&Right) -> Option<&'r Answer>,
        runs: &BTreeSet<Post>,
    ) -> Self {
        let mut by_resource: BTreeMap<Right, Vec<&Need<'_>>> = BTreeMap::new();
        for need in needs.iter().filter(|need| !need.namespaces.is_empty()) {
            by_resource.entry(Right::of(need.resource, None)).or_default().push(need);
        }
        let mut set = Self::default();
        for needs in by_resource.values() {
            set.add(needs, &rights, runs);
        }
        set
    }

    /// Adds the posts of one resource.
    fn add<'r>(
        &mut self,
        needs: &[&Need<'_>],
        rights: &impl Fn(&Right) -> Option<&'r Answer>,
        runs: &BTreeSet<Post>,
    ) {
        let Some(resource) = needs.first().map(|need| need.resource) else { return };
        let everywhere = Post::of(resource, None);
        if wants_everything(needs, resource, runs.contains(&everywhere)) {
            self.matter.insert(everywhere.right.clone());
            match rights(&everywhere.right) {
                Some(Answer::Allowed) => return self.man(everywhere, needs),
                None | Some(Answer::Failed(_)) if runs.contains(&everywhere) => {
                    return self.man(everywhere, needs);
                }
                Some(refused) if resource.scope == Scope::Cluster => {
                    return self.refuse(needs, "", refused);
                }
                // Until it is known, what runs goes on, and nothing else is asked.
                None => return self.keep(needs, resource, runs),
                // Who may not read everything may still read some of it.
                Some(_) => {}
            }
        }
        let namespaces: BTreeSet<_> = needs.iter().flat_map(|need| &need.namespaces).collect();
        for namespace in namespaces {
            let post = Post::of(resource, Some(namespace));
            self.matter.insert(post.right.clone());
            match rights(&post.right) {
                Some(Answer::Allowed) => self.man(post, needs),
                None | Some(Answer::Failed(_)) if runs.contains(&post) => self.man(post, needs),
                None => {}
                Some(refused) => self.refuse(needs, namespace, refused),
            }
        }
    }

    /// Keeps the posts of a resource that are manned.
    fn keep(&mut self, needs: &[&Need<'_>], resource: &Resource, runs: &BTreeSet<Post>) {
        for post in runs.iter().filter(|post| post.is_beside(resource)) {
            self.man(post.clone(), needs);
        }
    }

    fn man(&mut self, post: Post, needs: &[&Need<'_>]) {
        let here = |namespace: &String| post.namespace().is_none_or(|own| own == namespace);
        let mut users = BTreeMap::new();
        let mut selectors = BTreeSet::new();
        let mut content = Content::Metadata;
        for need in needs {
            let namespaces: BTreeSet<_> =
                need.namespaces.iter().filter(|namespace| here(namespace)).cloned().collect();
            if namespaces.is_empty() {
                continue;
            }
            users.insert(need.target.clone(), namespaces);
            selectors.insert(need.selector.as_str());
            if need.content == Content::Whole {
                content = Content::Whole;
            }
        }
        let Some(resource) = needs.first().map(|need| need.resource.clone()) else { return };
        // The server selects only what all of them want.
        let selector = match selectors.iter().collect::<Vec<_>>()[..] {
            [one] => (*one).to_owned(),
            _ => String::new(),
        };
        if !users.is_empty() {
            self.posts.insert(post, Duty { resource, selector, content, users });
        }
    }

    fn refuse(&mut self, needs: &[&Need<'_>], namespace: &str, answer: &Answer) {
        for need in needs.iter().filter(|need| need.namespaces.contains(namespace)) {
            let place = (need.target.clone(), namespace.to_owned());
            self.refused.insert(place, answer.clone());
        }
    }
}

/// Whether one watch of everything serves better than one for each namespace.
fn wants_everything(needs: &[&Need<'_>], resource: &Resource, runs: bool) -> bool {
    if resource.scope == Scope::Cluster || needs.iter().any(|need| !need.is_bounded) {
        return true;
    }
    let namespaces: BTreeSet<_> = needs.iter().flat_map(|need| &need.namespaces).collect();
    if runs { namespaces.len() >= FEW } else { namespaces.len() > MANY }
}

#[cfg(test)]
mod tests;
