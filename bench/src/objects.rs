//! The objects that are measured, as a server sends them.

use serde_json::Value;

/// A kind of object, and where its lists are that grow with it.
pub(crate) struct Sample {
    pub(crate) kind: &'static str,
    /// Where the specification of its pods is.
    pub(crate) pods: &'static str,
    text: &'static str,
    /// The lists that hold nearly all of its bytes.
    lists: &'static [&'static str],
}

pub(crate) const SAMPLES: [Sample; 2] = [
    Sample {
        kind: "deployment",
        pods: "$.spec.template.spec",
        text: include_str!("../objects/deployment.json"),
        lists: &[
            "/metadata/managedFields",
            "/spec/template/spec/containers",
            "/spec/template/spec/volumes",
            "/status/conditions",
        ],
    },
    Sample {
        kind: "pod",
        pods: "$.spec",
        text: include_str!("../objects/pod.json"),
        lists: &[
            "/metadata/managedFields",
            "/spec/containers",
            "/spec/tolerations",
            "/spec/volumes",
            "/status/conditions",
            "/status/containerStatuses",
        ],
    },
];

impl Sample {
    /// The bytes, without the blanks between them and in the server's order.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut quoted = false;
        let mut escaped = false;
        let is_kept = |byte: &u8| {
            quoted ^= *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            quoted || !byte.is_ascii_whitespace()
        };
        self.text.bytes().filter(is_kept).collect()
    }

    /// The bytes of the same object with so many times the elements in its
    /// lists. Its fields are in the order of their names, so that it is to be
    /// compared with others that were made here.
    pub(crate) fn grown(&self, times: usize) -> anyhow::Result<Vec<u8>> {
        let mut object: Value = serde_json::from_str(self.text)?;
        for list in self.lists {
            let Some(Value::Array(items)) = object.pointer_mut(list) else {
                anyhow::bail!("a {} has no {list}", self.kind);
            };
            *items = std::iter::repeat_n(&*items, times).flatten().cloned().collect();
        }
        Ok(serde_json::to_vec(&object)?)
    }
}
