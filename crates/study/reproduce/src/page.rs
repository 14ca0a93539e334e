//! A page written by hand with parts that results renew.

use crate::error::{Error, Result};
use warpmem_support::parts::with_part;

/// Replaces the parts of a page, given by name and content.
///
/// # Errors
/// If the page lacks a part.
pub fn renewed(page: &str, parts: &[(String, String)]) -> Result<String> {
    let mut text = page.to_owned();
    for (name, content) in parts {
        let missing = || Error::NoPart { part: name.clone() };
        text = with_part(&text, name, &format!("{}\n", content.trim_end())).ok_or_else(missing)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_and_the_rest_stays() {
        let page = "a\n<!-- generated: x -->\nold\n<!-- end of generated: x -->\nb\n";
        let part = |name: &str| vec![(name.to_owned(), "new\n".to_owned())];
        let expected = page.replace("old", "new");
        assert_eq!(renewed(page, &part("x")).unwrap(), expected);
        assert_eq!(renewed(&expected, &part("x")).unwrap(), expected);
        let error = renewed(page, &part("y")).unwrap_err().to_string();
        assert!(error.contains("`<!-- generated: y -->`"), "{error}");
    }
}
