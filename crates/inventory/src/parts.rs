//! Cuts a document into parts that each stay below a limit.

use crate::{
    envelope::{self, Header},
    row::{self, Row},
};

/// A row that is too large for any part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the row {row} needs a document of {needed} bytes, and {limit} are allowed")]
pub struct TooLarge {
    /// The row, as `namespace/name`.
    pub row: String,
    /// How large its part would be.
    pub needed: usize,
    /// How large a part may be.
    pub limit: usize,
}

/// One part: its header and its rows in canonical order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub header: Header<'a>,
    pub rows: Vec<Row>,
}

impl Part<'_> {
    /// The part as a document.
    pub fn encode(&self) -> Vec<u8> {
        envelope::encode(&self.header, &self.rows)
    }
}

/// Divides rows over as few parts as filling one after the other gives.
///
/// If everything fits there is one part without numbers. Otherwise rows are
/// taken in the order of their JSON text, and a part is measured as if its
/// numbers were the largest that could occur, so that the cut does not depend
/// on how many parts come out. Linear: no row is encoded or measured twice.
pub fn parts<'a>(
    header: &Header<'a>,
    mut rows: Vec<Row>,
    limit: usize,
) -> Result<Vec<Part<'a>>, TooLarge> {
    let whole = Measure::new(header, None);
    let sizes = rows.iter().map(|row| row.as_json().len());
    if whole.of(rows.len(), sizes.sum()) <= limit {
        row::sort(&mut rows);
        return Ok(vec![Part { header: header.clone(), rows }]);
    }
    rows.sort_unstable_by(|a, b| a.as_json().cmp(b.as_json()));
    let measure = Measure::new(header, Some((rows.len(), rows.len())));
    let mut cuts: Vec<Vec<Row>> = Vec::new();
    let mut current: Vec<Row> = Vec::new();
    let mut size = 0;
    for row in rows {
        let length = row.as_json().len();
        let alone = measure.of(1, length);
        if alone > limit {
            let identity = row.identity();
            let row = format!("{}/{}", identity.namespace, identity.name);
            return Err(TooLarge { row, needed: alone, limit });
        }
        if !current.is_empty() && measure.of(current.len() + 1, size + length) > limit {
            cuts.push(std::mem::take(&mut current));
            size = 0;
        }
        size += length;
        current.push(row);
    }
    cuts.push(current);
    let total = cuts.len();
    let part = |(at, mut rows): (usize, Vec<Row>)| {
        row::sort(&mut rows);
        Part { header: Header { part: Some((at + 1, total)), ..header.clone() }, rows }
    };
    Ok(cuts.into_iter().enumerate().map(part).collect())
}

/// How large a document would be, without writing it.
struct Measure {
    /// Everything but the rows, their commas and their number.
    fixed: usize,
}

impl Measure {
    fn new(header: &Header<'_>, part: Option<(usize, usize)>) -> Self {
        let mut front = Vec::new();
        let header = Header { part, ..header.clone() };
        envelope::write_front(&header, &"0".repeat(64), 0, &mut front);
        Self { fixed: front.len() - 1 + b"]}".len() }
    }

    fn of(&self, count: usize, bytes: usize) -> usize {
        let digits = count.checked_ilog10().map_or(1, |log| log as usize + 1);
        self.fixed + digits + bytes + count.saturating_sub(1)
    }
}
