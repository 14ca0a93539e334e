//! Moves cells between the directory of a sweep and those of its shards, so that several processes
//! can run one plan whose results end in one directory.

use super::error::SweepError;
use super::execute::{Sweep, keys, mine};
use super::shard::Shard;
use std::collections::HashSet;
use std::path::Path;
use warpmem_record::{CellStore, RunKey, cell_names};

impl Sweep<'_> {
    /// Returns the run ids of the cells of the plan, or of a shard.
    pub fn run_ids(&self, shard: Option<Shard>) -> HashSet<&str> {
        let cells = mine(&self.cells, shard).into_iter();
        cells.map(|at| self.cells[at].cell.key.run_id()).collect()
    }

    /// Returns the number of cells of the plan, or of a shard, without results here.
    pub fn missing(&self, shard: Option<Shard>) -> usize {
        let finished = self.store.finished();
        let is_missing = |at: &usize| !finished.holds(&self.cells[*at].cell.key, self.recorded);
        mine(&self.cells, shard).iter().filter(|at| is_missing(at)).count()
    }

    /// Moves the finished cells of the plan from the directory of a shard.
    ///
    /// # Errors
    /// If a process is writing it ([`SweepError::is_in_use`]), or a cell cannot be read or moved.
    pub fn gather(&mut self, shard_directory: &Path) -> Result<(), SweepError> {
        let Sweep { cells, store, recorded, .. } = self;
        let names = cell_names(shard_directory)?;
        let keys: Vec<&RunKey> = keys(cells).filter(|key| names.contains(key.run_id())).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let mut from = CellStore::open(shard_directory, keys.iter().copied(), *recorded)?;
        Ok(store.take_from(&mut from, keys, *recorded)?)
    }

    /// Moves the finished cells of `shard` to its directory, so that its process does not repeat
    /// them.
    ///
    /// # Errors
    /// As [`Sweep::gather`].
    pub fn deal(&mut self, shard: Shard, shard_directory: &Path) -> Result<(), SweepError> {
        let mine = mine(&self.cells, Some(shard));
        let Sweep { cells, store, recorded, .. } = self;
        let keys = mine.into_iter().map(|at| &cells[at].cell.key);
        let keys: Vec<&RunKey> =
            keys.filter(|key| store.finished().holds(key, *recorded)).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let mut to = CellStore::open(shard_directory, keys.iter().copied(), *recorded)?;
        Ok(to.take_from(store, keys, *recorded)?)
    }
}
