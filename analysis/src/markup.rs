//! Tables for papers and pages: LaTeX with the rules of booktabs, and Markdown of GitHub.

use polars::prelude::DataFrame;
use warpmem_comparison::digits;

use crate::error::Result;
use crate::text::{column_to_strings, unit};

/// A column of a table in markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkupColumn {
    pub title: String,
    /// Unit, empty without one.
    pub unit: String,
    /// Whether it is aligned at the right.
    pub is_number: bool,
}

/// Formats rows as a LaTeX `tabular` with the rules of the package booktabs. Texts are escaped.
pub fn latex(columns: &[MarkupColumn], rows: &[Vec<String>]) -> String {
    let align = |column: &MarkupColumn| if column.is_number { 'r' } else { 'l' };
    let aligns: String = columns.iter().map(align).collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let titles = columns.iter().map(|column| escaped_latex(&column.title)).collect();
    let mut text =
        format!("% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{aligns}}}\n\\toprule\n");
    text.push_str(&line(titles));
    if columns.iter().any(|column| !column.unit.is_empty()) {
        let unit = |column: &MarkupColumn| match column.unit.as_str() {
            "" => String::new(),
            unit => format!("({})", escaped_latex(unit)),
        };
        text.push_str(&line(columns.iter().map(unit).collect()));
    }
    text.push_str("\\midrule\n");
    for row in rows {
        text.push_str(&line(row.iter().map(|cell| escaped_latex(cell)).collect()));
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

/// Formats rows as a Markdown table in GitHub's syntax. Texts are escaped.
pub fn markdown(columns: &[MarkupColumn], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
        format!("|{cells}\n")
    };
    let title = |column: &MarkupColumn| match column.unit.as_str() {
        "" => escaped_markdown(&column.title),
        unit => format!("{} ({})", escaped_markdown(&column.title), escaped_markdown(unit)),
    };
    let rule = |column: &MarkupColumn| if column.is_number { "---:" } else { "---" }.to_owned();
    let mut text = line(&mut columns.iter().map(title));
    text.push_str(&line(&mut columns.iter().map(rule)));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(|cell| escaped_markdown(cell))));
    }
    text
}

/// Formats a frame as [`latex`], with the digits of a terminal table.
///
/// # Errors
/// If a column is of a type that tables do not hold.
pub fn table_to_latex(frame: &DataFrame) -> Result<String> {
    let (columns, rows) = shown(frame)?;
    Ok(latex(&columns, &rows))
}

/// Formats a frame as [`markdown`], with the digits of a terminal table.
///
/// # Errors
/// If a column is of a type that tables do not hold.
pub fn table_to_markdown(frame: &DataFrame) -> Result<String> {
    let (columns, rows) = shown(frame)?;
    Ok(markdown(&columns, &rows))
}

fn shown(frame: &DataFrame) -> Result<(Vec<MarkupColumn>, Vec<Vec<String>>)> {
    let columns = frame.columns().iter().map(|column| MarkupColumn {
        title: column.name().to_string(),
        unit: unit(column.name()).unwrap_or_default().to_owned(),
        is_number: column.dtype().is_primitive_numeric(),
    });
    let cells =
        frame.columns().iter().map(|column| column_to_strings(column, digits(column.name())));
    let cells = cells.collect::<Result<Vec<_>>>()?;
    let row = |row: usize| cells.iter().map(|column| column[row].clone()).collect();
    Ok((columns.collect(), (0..frame.height()).map(row).collect()))
}

/// Escapes text so that it has no meaning in LaTeX; characters beyond ASCII that a default font
/// encoding lacks become commands.
fn escaped_latex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '–' => out.push_str("--"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '±' => out.push_str("$\\pm$"),
            '≤' => out.push_str("$\\leq$"),
            'µ' => out.push_str("\\textmu{}"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    // A minus sign of a number is not a hyphen.
    match out.strip_prefix('-') {
        Some(rest) if rest.parse::<f64>().is_ok() => format!("$-${rest}"),
        _ => out,
    }
}

/// Escapes text so that it has no meaning in Markdown or HTML.
pub fn escaped_markdown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use polars::prelude::df;

    #[test]
    fn frames_are_tables_of_latex_and_markdown() {
        let frame = df!(
            "trace" => ["bfs_level", "a|b & 50 %"],
            "row_hit_rate" => [Some(0.5), None],
            "energy_nj" => [-1.5, 20.0],
        );
        let frame = frame.expect("columns of one length");
        let latex = table_to_latex(&frame).expect("plain columns");
        let expected = "% \\usepackage{booktabs}
\\begin{tabular}{lrr}
\\toprule
trace & row\\_hit\\_rate & energy\\_nj \\\\
 & (\\%) &  \\\\
\\midrule
bfs\\_level & 50.0 & $-$1.500 \\\\
a\\textbar{}b \\& 50 \\% & -- & 20.00 \\\\
\\bottomrule
\\end{tabular}
";
        assert_eq!(latex, expected);
        let markdown = table_to_markdown(&frame).expect("plain columns");
        let expected = "| trace | row\\_hit\\_rate (%) | energy\\_nj |
| --- | ---: | ---: |
| bfs\\_level | 50.0 | -1.500 |
| a\\|b & 50 % | – | 20.00 |
";
        assert_eq!(markdown, expected.replace(" & ", " &amp; "));
    }

    #[test]
    fn text_has_no_meaning_in_either_language() {
        assert_eq!(
            escaped_latex("x^2_{~}\\n"),
            "x\\textasciicircum{}2\\_\\{\\textasciitilde{}\\}\\textbackslash{}n"
        );
        assert_eq!(escaped_latex("-mesh"), "-mesh");
        assert_eq!(escaped_markdown("a|b_c*<i>`&\n"), "a\\|b\\_c\\*&lt;i&gt;\\`&amp; ");
    }
}
