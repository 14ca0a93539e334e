//! `open`: a row stays open until another is needed.

use super::{PageEntry, PagePolicy};
use warpmem_params::PolicyInfo;

const INFO: PolicyInfo = PolicyInfo {
    name: "open",
    summary: "a row stays open until another is needed",
    source: "baseline",
    params: Vec::new,
};

pub(super) const ENTRY: PageEntry = PageEntry { info: INFO, build: |_, _| Ok(Box::new(Open)) };

struct Open;

impl PagePolicy for Open {
    fn closes_idle_rows(&self) -> bool {
        false
    }
}
