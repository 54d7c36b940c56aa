//! A screen as a picture: text in columns on a dark ground, which stands well on
//! light pages and dark ones.

use super::terminal::{Cell, Frame, Style};

/// The size of a character, in pixels.
const WIDTH: usize = 8;
const HEIGHT: usize = 18;
/// What is left free at every side, and at the top for the bar of a window.
const MARGIN: usize = 16;
const BAR: usize = 28;

const GROUND: &str = "#14191f";
const TEXT: &str = "#d5dbe3";
const QUIET: &str = "#8290a0";
const STRONG: &str = "#ffffff";
/// The eight colours of a terminal.
const COLOURS: [&str; 8] =
    ["#5c6773", "#ff7b72", "#7ee081", "#f2c55c", "#79b8ff", "#d2a8ff", "#76d9e6", "#d5dbe3"];

/// A frame as SVG, without the empty rows at its end.
pub(super) fn drawn(frame: &Frame, columns: usize) -> String {
    let is_blank = |row: &Vec<Cell>| row.iter().all(|cell| cell.char == ' ');
    let rows = frame.iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1);
    let (width, height) = (columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN + BAR);
    let mut lines = vec![
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"kollect demo in a terminal\">"
        ),
        "<!-- Made by `cargo xtask picture` from a run of the demo; do not edit. -->".to_owned(),
        format!(
            "<rect width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"{GROUND}\" stroke=\"#303a45\"/>"
        ),
    ];
    for (at, colour) in ["#ff5f57", "#febc2e", "#28c840"].into_iter().enumerate() {
        let x = MARGIN + 6 + at * 20;
        lines.push(format!("<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{colour}\"/>"));
    }
    lines.push(
        "<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" \
         font-size=\"13\" xml:space=\"preserve\">"
            .to_owned(),
    );
    for (at, row) in frame.iter().take(rows).enumerate() {
        let y = BAR + MARGIN + at * HEIGHT + HEIGHT - 5;
        lines.extend(runs(row).into_iter().map(|run| run.drawn(y)));
    }
    lines.push("</g>\n</svg>\n".to_owned());
    lines.join("\n")
}

/// Characters that stand together and look alike.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    column: usize,
    style: Style,
    text: String,
}

/// The runs of a row. A gap of two blanks or more parts them, so that columns
/// stay where they are in any font.
fn runs(row: &[Cell]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut blanks = 2;
    for (column, cell) in row.iter().enumerate() {
        if cell.char == ' ' {
            blanks += 1;
            continue;
        }
        match runs.last_mut().filter(|run| blanks < 2 && run.style == cell.style) {
            Some(run) => {
                run.text.push_str(&" ".repeat(blanks));
                run.text.push(cell.char);
            }
            None => runs.push(Run { column, style: cell.style, text: cell.char.to_string() }),
        }
        blanks = 0;
    }
    runs
}

impl Run {
    fn drawn(&self, y: usize) -> String {
        let Self { column, style, text } = self;
        let (x, length) = (MARGIN + column * WIDTH, text.chars().count() * WIDTH);
        let fill = match style {
            Style { colour: Some(colour), .. } => {
                COLOURS.get(usize::from(*colour)).copied().unwrap_or(TEXT)
            }
            Style { is_strong: true, .. } => STRONG,
            Style { is_quiet: true, .. } => QUIET,
            Style { .. } => TEXT,
        };
        let weight = if style.is_strong { " font-weight=\"bold\"" } else { "" };
        format!(
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" fill=\"{fill}\"{weight}>{}</text>",
            escaped(text)
        )
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            char if char.is_control() => {}
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str, style: Style) -> Vec<Cell> {
        text.chars().map(|char| Cell { char, style }).collect()
    }

    #[test]
    fn columns_stay_where_they_are() {
        let found = runs(&row(" ab c   d", Style::default()));
        let run = |column, text: &str| Run { column, style: Style::default(), text: text.into() };
        assert_eq!(found, [run(1, "ab c"), run(8, "d")]);
    }

    #[test]
    fn what_looks_different_is_a_run_of_its_own() {
        let green = Style { colour: Some(2), ..Style::default() };
        let both = [row("a", Style::default()), row("b", green)].concat();
        assert_eq!(runs(&both).len(), 2);
        assert!(runs(&both)[1].drawn(10).contains("fill=\"#7ee081\""));
    }

    #[test]
    fn a_picture_ends_with_the_last_row_that_has_text_and_holds_no_markup() {
        let frame = vec![row("a<b&c", Style::default()), row("", Style::default())];
        let picture = drawn(&frame, 10);
        assert!(picture.contains(">a&lt;b&amp;c</text>"), "{picture}");
        assert!(picture.contains("viewBox=\"0 0 112 78\""), "{picture}");
        assert_eq!(picture.matches("<text").count(), 1);
    }
}
