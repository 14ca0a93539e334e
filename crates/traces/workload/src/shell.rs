//! Quotes words for a shell.

/// Returns a word quoted for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+%@^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_metacharacters_are_quoted() {
        assert_eq!(quoted("a/b-c_1.5=x,y:%@+^2"), "a/b-c_1.5=x,y:%@+^2");
        assert_eq!(quoted("fr-fcfs(row_hit_cap=4)"), "'fr-fcfs(row_hit_cap=4)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
