//! Any bytes as a Helm release.

use std::{
    io::{self, Read, Write},
    sync::LazyLock,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use kollect_extract::{Plan, Verdict};
use serde_json::json;

use crate::plans;

/// What a release may unfold to.
const CEILING: u64 = 32 << 20;

static PLAN: LazyLock<Plan> = LazyLock::new(plans::of_releases);

/// Bytes are a release as they are, encoded as Helm does it, or packed as Helm
/// does it: each way there is a verdict, and what unfolds beyond the ceiling
/// is refused.
pub fn helm(input: &[u8]) {
    judge(input);
    let verdict = judge(STANDARD.encode(input).as_bytes());
    if unfolded(input) > CEILING {
        let refused = matches!(&verdict, Verdict::Fail(failure) if failure.to_string().ends_with("more than 32 MiB"));
        assert!(refused, "beyond the ceiling: {verdict:?}");
    }
    if let Ok(packed) = pack(input) {
        judge(STANDARD.encode(packed).as_bytes());
    }
}

/// The verdict on a Secret that holds this release.
fn judge(release: &[u8]) -> Verdict {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "sh.helm.release.v1.web.v7", "namespace": "shop", "uid": "u"},
        "data": {"release": STANDARD.encode(release)},
    });
    plans::judge(&PLAN, secret.to_string().as_bytes())
}

/// How much bytes unfold to, if they are packed and whole; counted to just
/// beyond the ceiling.
fn unfolded(bytes: &[u8]) -> u64 {
    io::copy(&mut GzDecoder::new(bytes).take(CEILING + 1), &mut io::sink()).unwrap_or(0)
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}
