//! As much of a terminal as the demo needs: lines that are drawn anew in place.

/// How a character looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) is_strong: bool,
    pub(super) is_quiet: bool,
    /// One of the eight, if it was named.
    pub(super) colour: Option<u8>,
}

/// One character cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) char: char,
    pub(super) style: Style,
}

const BLANK: Cell =
    Cell { char: ' ', style: Style { is_strong: false, is_quiet: false, colour: None } };

/// What stands on a screen, row by row.
pub(super) type Frame = Vec<Vec<Cell>>;

/// A terminal that remembers what stood on its alternate screen.
#[derive(Debug)]
pub(super) struct Terminal {
    columns: usize,
    grid: Frame,
    at: (usize, usize),
    style: Style,
    is_alternate: bool,
    frames: Vec<Frame>,
}

impl Terminal {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            grid: vec![vec![BLANK; columns]; rows],
            at: (0, 0),
            style: Style::default(),
            is_alternate: false,
            frames: Vec::new(),
        }
    }

    /// Takes in what a program has written.
    pub(super) fn hear(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(char) = rest.next() {
            match char {
                '\x1b' if rest.as_str().starts_with('[') => {
                    rest.next();
                    let text = rest.as_str();
                    let Some(at) = text.find(is_final) else { return };
                    let (body, after) = text.split_at(at);
                    rest = after.chars();
                    if let Some(end) = rest.next() {
                        self.control(body, end);
                    }
                }
                '\r' => self.at.1 = 0,
                '\n' => self.at.0 += 1,
                char if !char.is_control() => self.put(char),
                _ => {}
            }
        }
    }

    /// What stood there, each time that the program had drawn it.
    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    fn put(&mut self, char: char) {
        if self.at.1 >= self.columns {
            self.at = (self.at.0 + 1, 0);
        }
        let (row, column) = self.at;
        let style = self.style;
        if let Some(cell) = self.grid.get_mut(row).and_then(|row| row.get_mut(column)) {
            *cell = Cell { char, style };
        }
        self.at.1 += 1;
    }

    fn control(&mut self, body: &str, end: char) {
        match (body, end) {
            ("?1049", 'h') => {
                self.is_alternate = true;
                self.clear_from(0, 0);
            }
            // A frame ends where the terminal may show it.
            ("?2026", 'l') if self.is_alternate => self.frames.push(self.grid.clone()),
            ("?1049", 'l') => self.is_alternate = false,
            (_, 'H') => {
                let mut numbers = body.split(';').map(|text| text.parse::<usize>().unwrap_or(1));
                let mut next = || numbers.next().unwrap_or(1).saturating_sub(1);
                self.at = (next(), next());
            }
            ("" | "0", 'K') => {
                let (row, column) = self.at;
                self.clear_row(row, column);
            }
            ("" | "0", 'J') => {
                let (row, column) = self.at;
                self.clear_from(row, column);
            }
            ("2", 'J') => self.clear_from(0, 0),
            (codes, 'm') => codes.split(';').for_each(|code| self.dress(code)),
            _ => {}
        }
    }

    fn clear_row(&mut self, row: usize, from: usize) {
        for cell in self.grid.get_mut(row).into_iter().flatten().skip(from) {
            *cell = BLANK;
        }
    }

    fn clear_from(&mut self, row: usize, column: usize) {
        self.clear_row(row, column);
        for below in row + 1..self.grid.len() {
            self.clear_row(below, 0);
        }
    }

    fn dress(&mut self, code: &str) {
        match code.parse::<u8>().unwrap_or(0) {
            0 => self.style = Style::default(),
            1 => self.style.is_strong = true,
            2 => self.style.is_quiet = true,
            22 => (self.style.is_strong, self.style.is_quiet) = (false, false),
            39 => self.style.colour = None,
            code @ 30..=37 => self.style.colour = Some(code - 30),
            code @ 90..=97 => self.style.colour = Some(code - 90),
            _ => {}
        }
    }
}

/// Whether a character ends a control sequence.
fn is_final(char: char) -> bool {
    ('@'..='~').contains(&char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, expected: &[&str]) {
        let mut terminal = Terminal::new(6, 3);
        terminal.hear(&format!("\x1b[?1049h{said}\x1b[?2026l\x1b[?1049l$ later"));
        let text = |row: &Vec<Cell>| {
            let row: String = row.iter().map(|cell| cell.char).collect();
            row.trim_end().to_owned()
        };
        let found: Vec<_> = terminal.frames()[0].iter().map(text).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_frame_is_drawn_over_the_one_before() {
        check("\x1b[Habc\x1b[K\r\ndef\x1b[K\x1b[J", &["abc", "def", ""]);
        check("\x1b[Habcdef\r\nxyz\x1b[Hno\x1b[K\x1b[J", &["no", "", ""]);
        check("\x1b[2;3Hx", &["", "  x", ""]);
        check("abcdefgh", &["abcdef", "gh", ""]);
    }

    #[test]
    fn what_is_written_after_the_screen_was_given_back_is_not_in_it() {
        check("a", &["a", "", ""]);
        let mut terminal = Terminal::new(6, 3);
        terminal.hear("no screen at all\x1b[?2026l");
        assert_eq!(terminal.frames(), &[] as &[Frame]);
    }

    #[test]
    fn colours_and_weights_are_kept() {
        let mut terminal = Terminal::new(4, 1);
        terminal.hear("\x1b[?1049h\x1b[1ma\x1b[0m\x1b[32mb\x1b[2mc\x1b[0md\x1b[?2026l");
        let styles: Vec<_> = terminal.frames()[0][0]
            .iter()
            .map(|cell| (cell.style.is_strong, cell.style.is_quiet, cell.style.colour))
            .collect();
        let green = Some(2);
        let expected = [
            (true, false, None),
            (false, false, green),
            (false, true, green),
            (false, false, None),
        ];
        assert_eq!(styles, expected);
    }
}
