//! Path templates, taken apart once.

/// A template whose placeholders are all known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) pieces: Vec<Piece>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Field(Field),
}

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Cluster,
    Namespace,
    Name,
    Generation,
    Extension,
    TargetNamespace,
    TargetName,
    SourceNamespace,
    SourceName,
    Group,
    Kind,
    Uid,
}

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("it is blank")]
    Blank,
    #[error("it begins with a slash")]
    Absolute,
    #[error("it contains `..`")]
    Climbs,
    #[error("{{{0}}} is no placeholder")]
    Unknown(String),
    #[error("it lacks {0}, so different things would share a path")]
    Ambiguous(&'static str),
}

/// Placeholders of documents; those after them are for objects alone.
const DOCUMENT: [(&str, Field); 5] = [
    ("cluster", Field::Cluster),
    ("namespace", Field::Namespace),
    ("name", Field::Name),
    ("generation", Field::Generation),
    ("extension", Field::Extension),
];
const OBJECT: [(&str, Field); 7] = [
    ("targetNamespace", Field::TargetNamespace),
    ("targetName", Field::TargetName),
    ("sourceNamespace", Field::SourceNamespace),
    ("sourceName", Field::SourceName),
    ("group", Field::Group),
    ("kind", Field::Kind),
    ("uid", Field::Uid),
];

impl Template {
    /// The template as it was written.
    pub(super) fn source(&self) -> String {
        let name = |field: &Field| {
            let known = DOCUMENT.iter().chain(&OBJECT).find(|(_, known)| known == field);
            known.map_or("", |(name, _)| name)
        };
        let text = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Field(field) => format!("{{{}}}", name(field)),
        };
        self.pieces.iter().map(text).collect()
    }

    /// Reads the path of a document, which must name its inventory.
    pub(super) fn document(text: &str) -> Result<Self, TemplateError> {
        let template = Self::read(text, &DOCUMENT)?;
        match (template.has(Field::Namespace), template.has(Field::Name)) {
            _ if text.starts_with('/') => Err(TemplateError::Absolute),
            (false, _) => Err(TemplateError::Ambiguous("{namespace}")),
            (_, false) => Err(TemplateError::Ambiguous("{name}")),
            (true, true) => Ok(template),
        }
    }

    /// Reads the path of an object, which must tell objects apart.
    pub(super) fn object(text: &str) -> Result<Self, TemplateError> {
        let template = Self::read(text, &[&DOCUMENT[..], &OBJECT[..]].concat())?;
        if template.has(Field::SourceName) || template.has(Field::Uid) {
            Ok(template)
        } else {
            Err(TemplateError::Ambiguous("{sourceName} or {uid}"))
        }
    }

    /// What paths of the template end in: its extension with the dot, or
    /// nothing. A suffix goes before it.
    ///
    /// It is read off the template and not off a path, because names have dots
    /// too.
    pub(super) fn ending<'a>(&'a self, extension: &'a str) -> &'a str {
        match self.pieces.last() {
            Some(Piece::Field(Field::Extension)) => extension,
            Some(Piece::Literal(literal)) => {
                let name = literal.rsplit(['/', '\\']).next().unwrap_or_default();
                name.rfind('.').and_then(|dot| name.get(dot..)).unwrap_or_default()
            }
            _ => "",
        }
    }

    /// Fills in the placeholders.
    pub(super) fn render(&self, value: impl Fn(Field) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(literal) => literal.clone(),
            Piece::Field(field) => value(*field),
        };
        self.pieces.iter().map(piece).collect()
    }

    fn has(&self, field: Field) -> bool {
        self.pieces.contains(&Piece::Field(field))
    }

    fn read(text: &str, known: &[(&str, Field)]) -> Result<Self, TemplateError> {
        if text.trim().is_empty() {
            return Err(TemplateError::Blank);
        }
        if text.contains("..") {
            return Err(TemplateError::Climbs);
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            // A brace that is never closed stands for itself.
            let Some((name, after)) = after.split_once('}') else { break };
            let field = known.iter().find(|(known, _)| *known == name);
            let (_, field) = field.ok_or_else(|| TemplateError::Unknown(name.to_owned()))?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(Piece::Field(*field));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Self { pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(template: Result<Template, TemplateError>, expected: &str) {
        assert_eq!(template.unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_document_path_names_its_inventory() {
        assert!(Template::document("{cluster}/{namespace}-{name}.{generation}{extension}").is_ok());
        refused(Template::document(" "), "it is blank");
        refused(Template::document("/{namespace}/{name}"), "it begins with a slash");
        refused(Template::document("../{namespace}/{name}"), "it contains `..`");
        refused(Template::document("{namespace}/{name}/{uid}"), "{uid} is no placeholder");
        refused(
            Template::document("{namespace}.json"),
            "it lacks {name}, so different things would share a path",
        );
    }

    #[test]
    fn an_object_path_tells_objects_apart() {
        assert!(Template::object("{uid}").is_ok());
        refused(Template::object("{sourceName}/{nope}"), "{nope} is no placeholder");
        refused(
            Template::object("{kind}/{name}"),
            "it lacks {sourceName} or {uid}, so different things would share a path",
        );
    }

    #[test]
    fn the_extension_is_that_of_the_template() {
        for (template, ending) in [
            ("{namespace}/{name}{extension}", ".yaml"),
            ("{namespace}/{name}.tar.json", ".json"),
            ("{namespace}.{name}", ""),
            ("{namespace}/{name}.d/all", ""),
            ("{namespace}/{name}.{generation}", ""),
            ("{namespace}/{name}{", ""),
        ] {
            assert_eq!(Template::document(template).unwrap().ending(".yaml"), ending, "{template}");
        }
    }
}
