//! JSON for people: one member a line, two spaces a level.

/// Lays out canonical JSON over lines, with a line break at its end.
///
/// Texts and numbers are copied as they are; empty lists and objects stay on
/// one line.
pub(super) fn indented(canonical: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(canonical.len() * 3 / 2);
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut escaped = false;
    let mut bytes = canonical.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            out.push(byte);
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                let closing = bytes.next_if(|next| matches!(next, b'}' | b']'));
                out.extend(closing);
                if closing.is_none() {
                    depth += 1;
                    new_line(depth, &mut out);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(depth, &mut out);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(depth, &mut out);
            }
            b':' => out.extend_from_slice(b": "),
            byte => {
                in_text = byte == b'"';
                out.push(byte);
            }
        }
    }
    out.push(b'\n');
    out
}

fn new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', 2 * depth));
}
