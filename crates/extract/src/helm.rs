//! Helm releases as Helm 3 stores them: a Secret whose `data.release` is
//! base64 of base64 of gzipped JSON.

use std::io::Read;

use base64::{Engine, engine::general_purpose::STANDARD};
use kollect_expr::Json;
use serde_json::Value;

/// A release may not unfold to more than this.
const CEILING: u64 = 32 << 20;

/// A release may not hold more values than this. Unfolded they take many times
/// the memory of their spelling, and a small Secret can spell millions.
const MOST_VALUES: usize = 1 << 20;

/// Parts of a release that never leave, alone or as a prefix.
const WITHHELD: [&str; 6] =
    ["manifest", "hooks", "chart.templates", "chart.files", "chart.values", "chart.raw"];

/// What a dotted field cannot hold; brackets would be a second way to a part.
const ODD: [char; 8] = ['[', ']', '{', '}', '\'', '"', ' ', '\t'];

/// Why there is no release to read from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HelmError {
    #[error("the object has no data.release")]
    Absent,
    #[error("data.release is not base64")]
    Encoding,
    #[error("the release cannot be unpacked")]
    Packing,
    #[error("the release unpacks to more than {} MiB", CEILING >> 20)]
    TooLarge,
    #[error("the release holds more than {MOST_VALUES} values")]
    TooMany,
    #[error("the release is not JSON")]
    Json,
}

/// A field of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field(Vec<String>);

impl Field {
    /// The field behind `helm:release.`; an error says why there is none, or
    /// why it may not leave.
    pub fn parse(path: &str) -> Result<Self, String> {
        let path = match path.trim() {
            "releaseName" => "name",
            "chartName" => "chart.metadata.name",
            "chartVersion" => "chart.metadata.version",
            "appVersion" => "chart.metadata.appVersion",
            "revision" => "version",
            "status" => "info.status",
            "lastDeployed" => "info.last_deployed",
            other => other,
        };
        if path.is_empty() {
            return Err(
                "a field of the release is missing, such as helm:release.chartVersion".to_owned()
            );
        }
        if path.split('.').any(|name| name.is_empty() || name.contains(ODD)) {
            return Err("must be names separated by single dots, such as helm:release.info.status"
                .to_owned());
        }
        let lower = path.to_lowercase();
        let withheld = WITHHELD.into_iter().find(|part| {
            lower == *part
                || lower.starts_with(&format!("{part}."))
                || part.starts_with(&format!("{lower}."))
        });
        match withheld {
            Some(part) if part.len() > path.len() => {
                Err(format!("holds {part}, which is never exported; name a field below it"))
            }
            Some(part) => Err(format!("the part {part} of a release is never exported")),
            None => Ok(Self(path.split('.').map(str::to_owned).collect())),
        }
    }

    /// Whether it is, or is part of, the values of the release.
    pub(crate) fn is_config(&self) -> bool {
        self.0.first().is_some_and(|first| first.eq_ignore_ascii_case("config"))
    }

    /// The value of the field; nothing if the release has none.
    pub(crate) fn value(&self, release: &Value) -> Option<Value> {
        self.0.iter().try_fold(release, |value, part| value.get(part)).cloned()
    }
}

/// Unpacks the release of a Secret.
pub(crate) fn decode(object: &Json<'_>) -> Result<Value, HelmError> {
    let data = object.get("data").and_then(|data| data.get("release"));
    let Some(Json::Text(text)) = data else { return Err(HelmError::Absent) };
    let outer = STANDARD.decode(text.as_bytes()).map_err(|_| HelmError::Encoding)?;
    // Helm encodes once more; what is not base64 is taken as it is.
    let inner = STANDARD.decode(&outer).unwrap_or(outer);
    let json = if inner.len() > 3 && inner.starts_with(&[0x1f, 0x8b, 0x08]) {
        unzip(&inner)?
    } else {
        inner
    };
    if values(&json) > MOST_VALUES {
        return Err(HelmError::TooMany);
    }
    serde_json::from_slice(&json).map_err(|_| HelmError::Json)
}

/// How many values JSON holds, at most.
fn values(json: &[u8]) -> usize {
    let mut count = 1;
    let mut in_text = false;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => drop(bytes.next()),
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

fn unzip(bytes: &[u8]) -> Result<Vec<u8>, HelmError> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(bytes)
        .take(CEILING + 1)
        .read_to_end(&mut out)
        .map_err(|_| HelmError::Packing)?;
    if out.len() as u64 > CEILING { Err(HelmError::TooLarge) } else { Ok(out) }
}
