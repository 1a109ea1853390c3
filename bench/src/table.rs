//! Rows of text as a table. The first column and the last one are words, the others numbers.

/// Columns padded to one width, for a terminal.
#[must_use]
pub fn padded(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let words = column == 0 || column + 1 == columns;
            if words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// The first row is the head.
#[must_use]
pub fn markdown(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        text += &format!("| {} |\n", row.join(" | "));
        if number == 0 {
            text += &format!("|---|{}---|\n", "--:|".repeat(row.len().saturating_sub(2)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        [["", "plain", "goal"], ["median", "1", "-"]]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec()
    }

    #[test]
    fn numbers_stand_on_the_right() {
        assert_eq!(padded(&rows()), "        plain  goal\nmedian      1  -\n");
    }

    #[test]
    fn the_first_row_is_the_head() {
        let expected = "|  | plain | goal |\n|---|--:|---|\n| median | 1 | - |\n";
        assert_eq!(markdown(&rows()), expected);
    }
}
