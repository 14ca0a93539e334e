//! Former names of keys, accepted for one release.

use std::borrow::Cow;

/// Former and current names, of keys and of sections.
const RENAMED: [(&str, &str); 3] =
    [("llc", "l2"), ("clocks.llc_mhz", "clocks.l2_mhz"), ("policy.llc_queue", "policy.l2_queue")];

/// Returns the current name of `key`, which may be a former one: `l2.queue` for `llc.queue`.
pub fn current_key(key: &str) -> Cow<'_, str> {
    for (former, current) in RENAMED {
        match key.strip_prefix(former) {
            Some("") => return current.into(),
            Some(rest) if rest.starts_with('.') => return format!("{current}{rest}").into(),
            _ => {}
        }
    }
    key.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    #[test]
    fn former_keys_have_current_names() {
        assert_eq!(current_key("llc"), "l2");
        assert_eq!(current_key("llc.cache.ways"), "l2.cache.ways");
        assert_eq!(current_key("clocks.llc_mhz"), "clocks.l2_mhz");
        assert_eq!(current_key("policy.llc_queue"), "policy.l2_queue");
        assert_eq!(current_key("llcs.queue"), "llcs.queue");
    }

    #[test]
    fn current_keys_are_kept() {
        for key in Machine::keys() {
            assert_eq!(current_key(&key.path), key.path);
        }
    }
}
