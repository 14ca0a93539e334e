//! Pages written by hand with generated parts, each between two comments.

/// Returns a generated part with its enclosing comments. `content` ends with a newline.
pub fn part(name: &str, content: &str) -> String {
    let (begin, end) = marks(name);
    format!("{begin}\n{content}{end}\n")
}

/// Replaces the content of the part called `name`; none if the page has no such part. `content` ends
/// with a newline.
pub fn with_part(page: &str, name: &str, content: &str) -> Option<String> {
    let (begin, end) = marks(name);
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{content}{end}{after}"))
}

fn marks(name: &str) -> (String, String) {
    (format!("<!-- generated: {name} -->"), format!("<!-- end of generated: {name} -->"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_part_keeps_the_rest() {
        let text = format!("before\n{}after\n", part("names", "old\n"));
        let changed = format!("before\n{}after\n", part("names", "new\n"));
        assert_eq!(with_part(&text, "names", "new\n").unwrap(), changed);
        assert_eq!(with_part(&text, "others", ""), None);
    }
}
