//! How the fields of types are numbered in protobuf, and which of them are said
//! when they are empty: read from the Go types that the server is built from.
//!
//! A field is recorded as its name in JSON, its type, and `?` if an empty one
//! is not said. A `-` instead of a name means that its fields stand among those
//! of the type around it.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

/// Where types stand: the start of their names, the module, and the file in it.
const PACKAGES: &[(&str, &str, &str)] = &[
    ("io.k8s.api.core.v1", "k8s.io/api", "core/v1/types.go"),
    ("io.k8s.api.apps.v1", "k8s.io/api", "apps/v1/types.go"),
    ("io.k8s.api.batch.v1", "k8s.io/api", "batch/v1/types.go"),
    ("io.k8s.api.autoscaling.v1", "k8s.io/api", "autoscaling/v1/types.go"),
    ("io.k8s.api.autoscaling.v2", "k8s.io/api", "autoscaling/v2/types.go"),
    ("io.k8s.api.policy.v1", "k8s.io/api", "policy/v1/types.go"),
    ("io.k8s.api.networking.v1", "k8s.io/api", "networking/v1/types.go"),
    ("io.k8s.api.discovery.v1", "k8s.io/api", "discovery/v1/types.go"),
    ("io.k8s.api.storage.v1", "k8s.io/api", "storage/v1/types.go"),
    ("io.k8s.api.scheduling.v1", "k8s.io/api", "scheduling/v1/types.go"),
    ("io.k8s.api.rbac.v1", "k8s.io/api", "rbac/v1/types.go"),
    ("io.k8s.api.coordination.v1", "k8s.io/api", "coordination/v1/types.go"),
    ("io.k8s.api.events.v1", "k8s.io/api", "events/v1/types.go"),
    ("io.k8s.api.authorization.v1", "k8s.io/api", "authorization/v1/types.go"),
    ("io.k8s.api.authentication.v1", "k8s.io/api", "authentication/v1/types.go"),
    (META, "k8s.io/apimachinery", "pkg/apis/meta/v1/types.go"),
];

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const CORE: &str = "io.k8s.api.core.v1";

/// Types that have a spelling of their own in JSON.
const SPECIAL: &[(&str, &str)] = &[
    ("intstr.IntOrString", "int-or-string"),
    ("resource.Quantity", "quantity"),
    ("runtime.RawExtension", "raw"),
    ("metav1.Time", "time"),
    ("metav1.MicroTime", "time"),
    ("metav1.FieldsV1", "raw"),
    ("types.UID", "string"),
    ("types.NodeName", "string"),
];

/// Sent by clients beside the kinds.
const SHARED: [&str; 2] = ["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", SCALE];
const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// Every declared type, by its full name, as it is written.
struct Types(BTreeMap<String, Declared>);

enum Declared {
    Struct(Vec<Field>),
    /// Another name for a type.
    Name(String),
}

struct Field {
    number: String,
    /// In JSON; empty if its fields stand among those around it.
    name: String,
    /// As it is written in Go, with its pointer.
    go: String,
    is_left_out_empty: bool,
}

/// The numbers of the fields of these types and of all that they are made of.
pub(super) fn gather(roots: &[String]) -> Result<Map<String, Value>> {
    let types = Types::read()?;
    let mut found = BTreeMap::new();
    // Definitions are only ever sent as JSON.
    let kinds = roots.iter().map(String::as_str).filter(|root| !root.contains("apiextensions"));
    for root in kinds.chain(SHARED) {
        types.take(root, &mut found)?;
    }
    Ok(found.into_iter().collect())
}

impl Types {
    fn read() -> Result<Self> {
        let mut types = BTreeMap::new();
        for (package, module, file) in PACKAGES {
            let path = module_directory(module)?.join(file);
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            declarations(package, &text, &mut types);
        }
        Ok(Self(types))
    }

    fn take(&self, name: &str, found: &mut BTreeMap<String, Value>) -> Result<()> {
        if found.contains_key(name) {
            return Ok(());
        }
        let Some(Declared::Struct(fields)) = self.0.get(name) else {
            bail!("there is no Go type for {name}");
        };
        let package = name.rsplit_once('.').map_or("", |(package, _)| package);
        // Types may hold themselves.
        found.insert(name.to_owned(), Value::Null);
        let mut recorded = Map::new();
        for Field { number, name, go, is_left_out_empty } in fields {
            let is_pointer = go.starts_with('*');
            let kind = self.kind(package, go.trim_start_matches('*'))?;
            let is_plain = matches!(kind.as_str(), "string" | "int" | "bool");
            let mark = if *is_left_out_empty && !is_pointer && is_plain { " ?" } else { "" };
            let shown = if name.is_empty() { "-" } else { name };
            recorded.insert(number.clone(), Value::from(format!("{shown} {kind}{mark}")));
            let inner = kind.trim_start_matches("list:").trim_start_matches("map:");
            if inner.starts_with("io.k8s.") {
                self.take(inner, found)?;
            }
        }
        found.insert(name.to_owned(), Value::Object(recorded));
        Ok(())
    }

    /// A Go type as the reader of protobuf knows it.
    fn kind(&self, package: &str, go: &str) -> Result<String> {
        let meta = go.strip_prefix("metav1.").or((package == META).then_some(go));
        let qualified = meta.map_or_else(|| go.to_owned(), |name| format!("metav1.{name}"));
        if let Some((_, kind)) = SPECIAL.iter().find(|(known, _)| [go, &*qualified].contains(known))
        {
            return Ok((*kind).to_owned());
        }
        match go {
            "string" => return Ok("string".to_owned()),
            "bool" => return Ok("bool".to_owned()),
            "int32" | "int64" => return Ok("int".to_owned()),
            "[]byte" => return Ok("bytes".to_owned()),
            _ => {}
        }
        if let Some(item) = go.strip_prefix("[]") {
            return Ok(format!("list:{}", self.kind(package, item.trim_start_matches('*'))?));
        }
        if let Some((_, value)) = go.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            return Ok(format!("map:{}", self.kind(package, value)?));
        }
        let name = match go.split_once('.') {
            None => format!("{package}.{go}"),
            Some(("metav1", name)) => format!("{META}.{name}"),
            Some(("v1" | "corev1" | "apiv1", name)) => format!("{CORE}.{name}"),
            Some(_) => bail!("{package} uses {go}, which is not known here"),
        };
        match self.0.get(&name) {
            Some(Declared::Struct(_)) => Ok(name),
            // In protobuf a list with a name is a message with a list in it.
            Some(Declared::Name(other)) if other.starts_with("[]") => Ok("texts".to_owned()),
            Some(Declared::Name(other)) => {
                let package = name.rsplit_once('.').map_or("", |(package, _)| package);
                self.kind(package, other)
            }
            None => bail!("there is no Go type for {name}"),
        }
    }
}

fn declarations(package: &str, text: &str, types: &mut BTreeMap<String, Declared>) {
    let mut open: Option<(String, Vec<Field>)> = None;
    for line in text.lines() {
        if let Some((name, fields)) = &mut open {
            if line == "}" {
                types.insert(std::mem::take(name), Declared::Struct(std::mem::take(fields)));
                open = None;
            } else if let Some(field) = field(line) {
                fields.push(field);
            }
            continue;
        }
        let Some((name, rest)) = line.strip_prefix("type ").and_then(|it| it.split_once(' '))
        else {
            continue;
        };
        let name = format!("{package}.{name}");
        match rest {
            "struct {" => open = Some((name, Vec::new())),
            "struct{}" | "struct {}" => drop(types.insert(name, Declared::Struct(Vec::new()))),
            other => drop(types.insert(name, Declared::Name(other.to_owned()))),
        }
    }
}

/// A line as `Replicas *int32 \`json:"replicas,omitempty" protobuf:"varint,1,opt"\``.
fn field(line: &str) -> Option<Field> {
    let line = line.trim();
    if line.starts_with("//") {
        return None;
    }
    let (declared, tags) = line.split_once('`')?;
    let tag = |name: &str| {
        let (_, value) = tags.split_once(&format!("{name}:\""))?;
        value.split_once('"').map(|(value, _)| value)
    };
    let number = tag("protobuf")?.split(',').nth(1)?.to_owned();
    let (name, options) = tag("json")?.split_once(',').unwrap_or((tag("json")?, ""));
    Some(Field {
        number,
        name: name.to_owned(),
        go: declared.split_whitespace().last()?.to_owned(),
        is_left_out_empty: options.contains("omitempty"),
    })
}

/// Where the sources of a module are kept that the servers are built from.
fn module_directory(module: &str) -> Result<PathBuf> {
    let mut go = Command::new("go");
    go.args(["list", "-m", "-f", "{{.Dir}}", module]);
    let output = go.current_dir(crate::repository().join("testenv")).output();
    let output = output.context("the Go that builds the servers is needed, and cannot be run")?;
    let directory = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || directory.is_empty() {
        bail!(
            "the sources of {module} are not there: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(directory.into())
}
