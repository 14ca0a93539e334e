//! Copies from global to shared memory that bypass the registers (`cp.async`, `LDGSTS`).
//!
//! A warp commits the copies issued so far as a group, and waits until at most `n` groups are
//! outstanding. Data arrive in shared memory immediately: a kernel that reads before its wait sees
//! them too early, but never wrong.

use std::collections::VecDeque;

use super::Warp;

/// Outstanding copies of a warp.
#[derive(Debug, Default)]
pub struct Copies {
    /// Copies since the last commit.
    open: usize,
    /// Copies of each group, oldest first.
    groups: VecDeque<usize>,
}

impl Copies {
    pub fn issue(&mut self) {
        self.open += 1;
    }

    fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Removes groups until `outstanding` remain; returns their number of copies.
    fn wait(&mut self, outstanding: usize) -> usize {
        let complete = self.groups.len().saturating_sub(outstanding);
        self.groups.drain(..complete).sum()
    }
}

impl Warp {
    /// Commits the copies since the last commit as a group (`LDGDEPBAR`).
    pub fn commit_copies(&self) {
        self.issue_control(self.active(), &[]);
        if self.active() != 0 {
            self.copies.borrow_mut().commit();
        }
    }

    /// Waits until at most `outstanding` groups are outstanding (`DEPBAR.LE`).
    pub fn wait_copies(&self, outstanding: usize) {
        if self.active() != 0 {
            let complete = self.copies.borrow_mut().wait(outstanding);
            self.sync_point(|assembler| assembler.wait_async_first(complete));
        }
        self.issue_control(self.active(), &[]);
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::prelude::*;
    use crate::kernels::testing::{Kind, run};
    use warpmem_trace::CacheOp;

    /// Issues `groups` groups of one copy, waits until `outstanding` remain, and sums the data.
    fn copied(groups: u32, outstanding: usize) -> (Vec<f32>, Vec<(Kind, Option<u32>)>) {
        let run = run(|gpu| {
            let from = gpu.upload(&[[1f32, 2.0, 3.0, 4.0]; 128]);
            let out = gpu.zeros::<f32>(32);
            let launch = Launch { shared_bytes: 2048, ..grid_of("test", 1, 32, 8) };
            gpu.launch(&launch, async |w| {
                let (tile, lane) = (w.shared::<[f32; 4]>(128), w.lane());
                for group in 0..groups {
                    from.at(lane).offset(32 * group).copy_async(tile.at(lane).offset(32 * group));
                    w.commit_copies();
                }
                w.wait_copies(outstanding);
                w.barrier().await;
                let sum = tile.at(lane).load().part(3) + 1.0;
                out.store(lane, sum);
            })?;
            Ok(gpu.download(out))
        });
        let executed = run.warp(0);
        let copies = executed.iter().filter(|(i, _)| i.kind == Kind::AsyncCopy);
        assert!(copies.clone().all(|(i, _)| (i.width, i.cache_op) == (16, CacheOp::Global)));
        (run.result.clone(), copies.map(|(i, _)| (i.kind, i.use_distance)).collect())
    }

    #[test]
    fn copied_data_arrive_in_shared_memory() {
        assert_eq!(copied(1, 0).0, [5.0; 32]);
    }

    #[test]
    fn a_wait_depends_on_its_copies() {
        let waited = |groups, outstanding| -> Vec<bool> {
            copied(groups, outstanding).1.iter().map(|(_, distance)| distance.is_some()).collect()
        };
        assert_eq!(waited(3, 0), [true, true, true]);
        assert_eq!(waited(3, 1), [true, true, false]);
        assert_eq!(waited(3, 3), [false, false, false]);
    }
}
