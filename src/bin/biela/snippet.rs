//! Errors of a model with the line they are about, for a terminal. Elsewhere one line for each mistake, which editors read.

use std::fmt::Write as _;
use std::io::IsTerminal;

use biela::Error;

use crate::terminal::coloured;

/// Most characters of a line that are shown.
const WIDTH: usize = 100;

/// The sentence of an error; on a terminal with the lines of the text.
pub fn sentence(error: &Error) -> String {
    if !std::io::stderr().is_terminal() {
        return error.to_string();
    }
    let read = |file: &str| std::fs::read_to_string(file).ok();
    with_lines(error, coloured(), &read)
}

fn with_lines(error: &Error, colour: bool, read: &dyn Fn(&str) -> Option<String>) -> String {
    match error {
        Error::Mistakes { mistakes, more } => {
            let mut text = format!("{} mistakes", mistakes.len() + more);
            for mistake in mistakes {
                write!(text, "\n{}", with_lines(mistake, colour, read)).expect(FITS);
            }
            if *more > 0 {
                write!(text, "\nand {more} more").expect(FITS);
            }
            text
        }
        Error::Model {
            origin,
            line,
            column,
            ..
        } => {
            let shown = read(origin).and_then(|text| {
                let source = text.lines().nth(line - 1)?.replace('\t', " ");
                let first = (column - 1).saturating_sub(WIDTH - 20);
                let part: String = source.chars().skip(first).take(WIDTH).collect();
                let caret = " ".repeat(column - 1 - first);
                let (on, off) = if colour {
                    ("\x1b[1;31m", "\x1b[0m")
                } else {
                    ("", "")
                };
                Some(format!("\n{line:>6} | {part}\n       | {caret}{on}^{off}"))
            });
            format!("{error}{}", shown.unwrap_or_default())
        }
        other => other.to_string(),
    }
}

const FITS: &str = "a String takes everything";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_shown_with_a_caret_below_the_column() {
        let error = |line, column| Error::Model {
            origin: "m.toml".to_owned(),
            line,
            column,
            message: "wrong".to_owned(),
        };
        let read = |_: &str| Some("format = 1\nmas = 1.0\n".to_owned());
        assert_eq!(
            with_lines(&error(2, 1), false, &read),
            "m.toml:2:1: wrong\n     2 | mas = 1.0\n       | ^"
        );
        let both = Error::Mistakes {
            mistakes: vec![error(1, 10), error(2, 1)],
            more: 0,
        };
        let text = with_lines(&both, false, &read);
        assert!(
            text.starts_with(
                "2 mistakes\nm.toml:1:10: wrong\n     1 | format = 1\n       |          ^\n"
            ),
            "{text}"
        );
        // A text that cannot be read again, or has no such line.
        assert_eq!(with_lines(&error(9, 1), false, &read), "m.toml:9:1: wrong");
        assert_eq!(
            with_lines(&error(1, 1), false, &|_| None),
            "m.toml:1:1: wrong"
        );
    }
}
