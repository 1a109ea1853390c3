//! Tables of text with aligned columns.

use crate::terminal::harmless;

/// Lays out the head and the rows in columns that are two spaces apart. A cell takes one line and moves no cursor,
/// whoever wrote its text.
pub(super) fn table<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let rows = rows.into_iter().map(|row| row.map(|cell| shown(&cell)));
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn shown(cell: &str) -> String {
    harmless(cell).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_takes_one_line_and_moves_no_cursor() {
        let rows = [["a\u{1b}[2J", "b"], ["c\nd\te", "f"]].map(|row| row.map(str::to_owned));
        let expected = "\
ONE    TWO
a\u{fffd}[2J  b
c d e  f
";
        assert_eq!(table(["ONE", "TWO"], rows), expected);
    }
}
