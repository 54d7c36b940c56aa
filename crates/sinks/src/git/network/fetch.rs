//! How objects are asked for.

use std::fmt::Write as _;

use super::{
    AGENT,
    capabilities::Reading,
    packet::{FLUSH, PART, Packet, Packets, write},
};
use crate::git::{error::Fault, object::Id};

/// What to fetch.
pub(super) struct Wanted<'a> {
    pub(super) ids: &'a [Id],
    pub(super) known: Option<Id>,
    /// Whether history counts, and how much of it.
    pub(super) depth: Option<u32>,
    pub(super) files: Files,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    LeftOut,
    Sent,
}

/// What is fetched, in the words that the server understands.
pub(super) fn words(wanted: &Wanted<'_>, reading: &Reading) -> Vec<u8> {
    if reading.is_v2 { in_new_words(wanted, reading) } else { in_old_words(wanted, reading) }
}

/// Passes over everything before the pack.
pub(super) fn skip_to_pack(
    packets: &mut Packets<'_>,
    wanted: &Wanted<'_>,
    reading: &Reading,
) -> Result<(), Fault> {
    if reading.is_v2 { skip_parts(packets) } else { skip_answers(packets, wanted.depth.is_some()) }
}

/// What is fetched, in the second version of the protocol.
fn in_new_words(wanted: &Wanted<'_>, reading: &Reading) -> Vec<u8> {
    let mut words = Vec::new();
    write(b"command=fetch\n", &mut words);
    write(format!("{AGENT}\n").as_bytes(), &mut words);
    words.extend_from_slice(PART);
    let mut line = |text: &str| write(format!("{text}\n").as_bytes(), &mut words);
    line("no-progress");
    line("ofs-delta");
    if let Some(depth) = wanted.depth {
        line(&format!("deepen {depth}"));
    }
    if reading.filters && wanted.files == Files::LeftOut {
        line("filter blob:none");
    }
    wanted.ids.iter().for_each(|id| line(&format!("want {id}")));
    if let Some(known) = wanted.known {
        line(&format!("shallow {known}"));
        line(&format!("have {known}"));
    }
    line("done");
    words.extend_from_slice(FLUSH);
    words
}

/// The same in the first version.
fn in_old_words(wanted: &Wanted<'_>, reading: &Reading) -> Vec<u8> {
    // Files that are left out could not be had later.
    let filters = reading.filters && reading.single_objects && wanted.files == Files::LeftOut;
    let mut words = Vec::new();
    for (at, id) in wanted.ids.iter().enumerate() {
        let mut line = format!("want {id}");
        if at == 0 {
            line.push_str(" side-band-64k ofs-delta no-progress");
            let extras = [(wanted.depth.is_some(), " shallow"), (filters, " filter")];
            extras.iter().filter(|(is_there, _)| *is_there).for_each(|(_, one)| line.push_str(one));
            // Nothing can go wrong when a text is written to a text.
            let _written = write!(line, " {AGENT}");
        }
        line.push('\n');
        write(line.as_bytes(), &mut words);
    }
    if let Some(depth) = wanted.depth {
        if let Some(known) = wanted.known {
            write(format!("shallow {known}\n").as_bytes(), &mut words);
        }
        write(format!("deepen {depth}\n").as_bytes(), &mut words);
    }
    if filters {
        write(b"filter blob:none\n", &mut words);
    }
    words.extend_from_slice(FLUSH);
    if let Some(known) = wanted.known {
        write(format!("have {known}\n").as_bytes(), &mut words);
    }
    write(b"done\n", &mut words);
    words
}

/// Passes over the parts before the pack.
fn skip_parts(packets: &mut Packets<'_>) -> Result<(), Fault> {
    loop {
        match packets.next()? {
            Packet::Line(line) if line.strip_suffix(b"\n").unwrap_or(&line) == b"packfile" => {
                return Ok(());
            }
            Packet::Line(_) | Packet::Part => {}
            Packet::Flush | Packet::End => {
                return Err(Fault::protocol("the server sent no pack"));
            }
        }
    }
}

/// Passes over what the first version says before the pack: where history is
/// cut, up to a flush, and then whether it knows what we have.
fn skip_answers(packets: &mut Packets<'_>, is_cut: bool) -> Result<(), Fault> {
    let mut cut = is_cut;
    loop {
        match packets.next()? {
            Packet::Flush if cut => cut = false,
            Packet::Line(line) if !cut => {
                // An acknowledgement that others follow is not the last.
                let more = line.windows(9).any(|part| part == b" continue")
                    || line.windows(7).any(|part| part == b" common" || part == b" ready\n");
                if !more {
                    return Ok(());
                }
            }
            Packet::Line(_) => {}
            Packet::Flush | Packet::Part | Packet::End => {
                return Err(Fault::protocol("the server sent no pack"));
            }
        }
    }
}
