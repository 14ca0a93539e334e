//! Round robin by a stride.

use super::{WarpEntry, WarpScheduler, WarpView};
use crate::registry::{ParamInfo, PolicyInfo};
use serde::Deserialize;

const INFO: PolicyInfo = PolicyInfo {
    name: "strided",
    summary: "round robin that goes on by a stride after each issue",
    source: "an example",
    params: &[ParamInfo {
        name: "stride",
        default: "2",
        unit: "warp slots",
        range: "1 to 63",
        summary: "from the warp that issued last to the first that is looked at",
    }],
};

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    stride: u32,
}

impl Default for Params {
    fn default() -> Params {
        Params { stride: 2 }
    }
}

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |_, params| {
        let Params { stride } = params.parse(&INFO)?;
        Ok(Box::new(Strided { stride: stride.clamp(1, 63), next: 0 }) as _)
    },
};

struct Strided {
    stride: u32,
    /// Slot at which the search begins.
    next: u32,
}

impl WarpScheduler for Strided {
    fn pick(&mut self, candidates: u64, _: &WarpView) -> u32 {
        let pick = (candidates.rotate_right(self.next).trailing_zeros() + self.next) % 64;
        self.next = (pick + self.stride) % 64;
        pick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_by_the_stride() {
        let mut strided = Strided { stride: 2, next: 0 };
        let view = WarpView { ages: &[] };
        let order: Vec<u32> = (0..4).map(|_| strided.pick(0b1_1111, &view)).collect();
        assert_eq!(order, [0, 2, 4, 0]);
    }
}
