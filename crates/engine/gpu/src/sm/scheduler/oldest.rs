//! Oldest-first warp scheduling.

use super::gto::oldest;
use super::{WarpEntry, WarpScheduler, WarpView};
use warpmem_params::PolicyInfo;
use warpmem_sim::WarpSlot;

const INFO: PolicyInfo = PolicyInfo {
    name: "oldest",
    summary: "issues from the oldest ready warp",
    source: "common baseline; the second half of gto",
    params: Vec::new,
};

pub(super) const ENTRY: WarpEntry = WarpEntry { info: INFO, build: |_, _| Ok(Box::new(Oldest)) };

struct Oldest;

impl WarpScheduler for Oldest {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        Some(oldest(candidates, view.ages))
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::pick;
    use super::*;

    #[test]
    fn an_older_warp_issues_as_soon_as_it_is_ready() {
        let view = WarpView { ages: &[7, 3, 9, 1], ..WarpView::default() };
        let order = [0b0101, 0b0111, 0b1111, 0b0100].map(|ready| pick(&mut Oldest, ready, &view));
        assert_eq!(order, [0, 1, 3, 2].map(Some));
    }
}
