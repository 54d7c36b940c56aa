//! Where things go in a destination.

pub mod template;
pub mod path;
pub mod tree;
pub mod ownership;
pub mod manifest;

use kollect_api::{
    Filename, Format, GroupInPath, LayoutContent, LayoutMode, ObjectFormat, SnapshotSinkSpec,
    SnapshotType,
};
use kollect_inventory::Identity;

use self::{
    path::{Edition, PathError},
    template::{Template, TemplateError},
};
use crate::{encode::Content, schema::Schema};

const DOCUMENT: &str = "inventory/{namespace}/{name}{extension}";
const OBJECT: &str = "{cluster}/{sourceNamespace}/{kind}/{sourceName}{extension}";

/// The files of a view at a destination: which, where, and what they hold.
///
/// Everything that a user may leave out has been decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    mode: LayoutMode,
    content: Content,
    format: Format,
    cluster: String,
    document: Template,
    object: Template,
    index: Option<Template>,
    spelling: Spelling,
}

/// How values are spelled in the path of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spelling {
    longest_segment: usize,
    kind: Kind,
    group: Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lowercase,
    AsIs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Shown,
    Dropped,
}

/// Why a layout cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A template is invalid; the field is that of the sink.
    #[error("{field} cannot be used")]
    Template { field: &'static str, source: TemplateError },
    /// A tree is asked for in a format that has no files for single rows.
    #[error("a tree of files cannot be written as {0:?}")]
    Format(Format),
}

impl Layout {
    /// Decides the layout of a sink for a view.
    ///
    /// What the sink leaves open follows from the profiles of the view and
    /// never from its rows, so that it holds for an empty view too: if there
    /// are profiles and all embed the object under one key, each object gets a
    /// file with its manifest; otherwise there is one document.
    pub fn resolve(sink: &SnapshotSinkSpec, schema: &Schema) -> Result<Self, LayoutError> {
        let layout = sink.common.layout.clone().unwrap_or_default();
        let embedded = Embedded::of(schema);
        let mode = layout.mode.unwrap_or(match embedded {
            Embedded::Always(_) => LayoutMode::PerResource,
            Embedded::Sometimes(_) | Embedded::Never => LayoutMode::Document,
        });
        let content = match (layout.content, &embedded) {
            (Some(LayoutContent::Manifest), _) => Content::Manifest { key: embedded.key() },
            (Some(LayoutContent::Attributes), _) => Content::Attributes,
            (None, Embedded::Always(_)) if mode != LayoutMode::Document => {
                Content::Manifest { key: embedded.key() }
            }
            (Some(LayoutContent::Item) | None, _) => Content::Item,
        };
        let format = effective_format(sink);
        if mode != LayoutMode::Document && matches!(format, Format::Parquet | Format::Csv) {
            return Err(LayoutError::Format(format));
        }
        let index = layout.index.unwrap_or_default();
        let indexed =
            mode != LayoutMode::Document && index.enabled.unwrap_or(mode == LayoutMode::Split);
        let document = |field, text: Option<&str>| {
            Template::document(text.unwrap_or(DOCUMENT))
                .map_err(|source| LayoutError::Template { field, source })
        };
        let index_template = document("layout.index.pathTemplate", index.path_template.as_deref())?;
        Ok(Self {
            mode,
            content,
            format,
            cluster: cluster_or_default(sink.common.cluster.as_deref()),
            document: document("pathTemplate", sink.common.path_template.as_deref())?,
            object: Template::object(layout.path_template.as_deref().unwrap_or(OBJECT))
                .map_err(|source| LayoutError::Template { field: "layout.pathTemplate", source })?,
            index: indexed.then_some(index_template),
            spelling: Spelling::of(&layout.filename.unwrap_or_default()),
        })
    }

    /// One document, or a tree of files.
    pub fn mode(&self) -> LayoutMode {
        self.mode
    }

    /// What a file for one row holds.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// How everything is written; a tree never as Parquet or CSV.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The name of the cluster in paths and indexes; never blank.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Everything about the layout that decides paths and bytes, as a text
    /// that stays the same from one version of the program to the next.
    pub fn describe(&self) -> String {
        let Self { mode, content, format, cluster, document, object, index, spelling } = self;
        let Spelling { longest_segment, kind, group } = spelling;
        let mode = match mode {
            LayoutMode::Document => "document",
            LayoutMode::PerResource => "perResource",
            LayoutMode::Split => "split",
        };
        let content = match content {
            Content::Item => "item".to_owned(),
            Content::Attributes => "attributes".to_owned(),
            Content::Manifest { key } => format!("manifest {key:?}"),
        };
        let kind = matches!(kind, Kind::Lowercase);
        let group = matches!(group, Group::Shown);
        let index = index.as_ref().map(Template::source);
        format!(
            "{mode}\n{content}\n{}\n{cluster:?}\n{:?}\n{:?}\n{index:?}\n\
             {longest_segment} {kind} {group}\n",
            extension(*format),
            document.source(),
            object.source(),
        )
    }

    /// Where the document goes; `part` is which part of how many, from one.
    ///
    /// Parquet has a path of its own, which query engines read as columns.
    pub fn document_path(
        &self,
        edition: &Edition,
        part: Option<(usize, usize)>,
    ) -> Result<String, PathError> {
        let suffix = part.map(path::part_suffix).unwrap_or_default();
        if self.format == Format::Parquet {
            return Ok(path::columnar(&self.cluster, edition, &suffix));
        }
        let path = self.render_document(&self.document, edition)?;
        Ok(path::with_suffix(&path, self.document.ending(extension(self.format)), &suffix))
    }

    /// Where the file for one object goes, unless another object wants to go
    /// there too; the tree settles that.
    pub fn object_path(
        &self,
        edition: &Edition,
        identity: &Identity<'_>,
    ) -> Result<String, PathError> {
        let values = path::Values { layout: self, edition };
        path::object(&self.object.render(|field| values.segment(field, identity)))
    }

    /// Where the index of the tree goes, if it has one.
    pub fn index_path(&self, edition: &Edition) -> Option<Result<String, PathError>> {
        self.index.as_ref().map(|template| self.render_document(template, edition))
    }

    /// The path with something before its extension.
    fn object_path_with(&self, path: &str, suffix: &str) -> String {
        path::with_suffix(path, self.object.ending(extension(self.format)), suffix)
    }

    fn render_document(&self, template: &Template, edition: &Edition) -> Result<String, PathError> {
        let values = path::Values { layout: self, edition };
        path::document(&template.render(|field| values.literal(field)))
    }
}

/// The format that a sink writes: `serialization.format`, else that of the
/// object store, else YAML for Git and directories and JSON for the others.
pub fn effective_format(sink: &SnapshotSinkSpec) -> Format {
    let chosen = sink.common.serialization.as_ref().and_then(|serialization| serialization.format);
    let of_store = sink.object_store.as_ref().and_then(|store| store.format);
    let of_store = of_store.map(|format| match format {
        ObjectFormat::Json => Format::Json,
        ObjectFormat::Parquet => Format::Parquet,
    });
    chosen.or(of_store).unwrap_or(match sink.sink_type {
        SnapshotType::S3 | SnapshotType::Gcs => Format::Json,
        SnapshotType::Git | SnapshotType::Gitlab | SnapshotType::File => Format::Yaml,
    })
}

/// What `{extension}` stands for.
pub fn extension(format: Format) -> &'static str {
    match format {
        Format::Json => ".json",
        Format::Yaml => ".yaml",
        Format::Ndjson => ".ndjson",
        Format::Parquet => ".parquet",
        Format::Csv => ".csv",
    }
}

/// The name of a cluster in paths and indexes.
fn cluster_or_default(cluster: Option<&str>) -> String {
    match cluster {
        Some(cluster) if !cluster.trim().is_empty() => cluster.to_owned(),
        _ => "default".to_owned(),
    }
}

/// Which profiles of a view embed the object, and under which key.
enum Embedded {
    /// All, under one key.
    Always(String),
    /// Some, or under different keys; the key that those share, if they do.
    Sometimes(Option<String>),
    /// None.
    Never,
}

impl Embedded {
    fn of(schema: &Schema) -> Self {
        let profiles = &schema.profiles;
        let mut keys: Vec<_> = profiles.iter().filter_map(|one| one.embeds.as_ref()).collect();
        let others = keys.len() < profiles.len();
        keys.sort_unstable();
        keys.dedup();
        match keys.as_slice() {
            [] => Self::Never,
            [key] if !others => Self::Always((*key).clone()),
            [key] => Self::Sometimes(Some((*key).clone())),
            _ => Self::Sometimes(None),
        }
    }

    fn key(&self) -> String {
        match self {
            Self::Always(key) | Self::Sometimes(Some(key)) => key.clone(),
            Self::Sometimes(None) | Self::Never => "resource".to_owned(),
        }
    }
}

impl Spelling {
    fn of(filename: &Filename) -> Self {
        let longest = filename.max_segment_length.and_then(|length| usize::try_from(length).ok());
        Self {
            longest_segment: longest.filter(|length| *length > 0).unwrap_or(63),
            kind: if filename.lowercase_kind.unwrap_or(true) {
                Kind::Lowercase
            } else {
                Kind::AsIs
            },
            group: match filename.group_in_path {
                Some(GroupInPath::Never) => Group::Dropped,
                Some(GroupInPath::Auto | GroupInPath::Always) | None => Group::Shown,
            },
        }
    }
}

#[cfg(test)]
mod tests;
