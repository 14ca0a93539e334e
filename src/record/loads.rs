//! The `loads` table of one run, written on a thread of its own while the run goes on.

use super::file::{Chunk, Field, GROUP_ROWS, TableFile};
use super::tables::{load_columns, load_key_columns};
use super::{Column, LoadRow, LoadSink, ResultsError, RunKey};
use std::mem;
use std::panic;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Row groups that may wait for the writer; with the one being filled and the one being written they
/// bound the memory of a recorder (6 MB each).
const WAITING_GROUPS: usize = 1;

/// Collects load rows into row groups and hands them to the writer.
pub(super) struct LoadRecorder {
    rows: Vec<LoadRow>,
    groups: SyncSender<Group>,
    /// Written groups come back emptied, so that a long run allocates no more.
    emptied: Receiver<Vec<LoadRow>>,
    writer: JoinHandle<Result<(), ResultsError>>,
}

enum Group {
    Full(Vec<LoadRow>),
    /// The run is over: write this and the footer. A writer that never gets it leaves no footer.
    Last(Vec<LoadRow>),
}

impl LoadRecorder {
    /// Creates the file at `path` and starts its writer.
    pub(super) fn create(path: &Path, key: &RunKey) -> Result<LoadRecorder, ResultsError> {
        let (groups, incoming) = sync_channel(WAITING_GROUPS);
        let (outgoing, emptied) = channel();
        let mut file = LoadFile::create(path, key.clone())?;
        let writer = thread::spawn(move || {
            for group in incoming {
                match group {
                    Group::Full(mut rows) => {
                        file.write(&rows)?;
                        rows.clear();
                        // Nobody takes it back once the run is over.
                        let _ = outgoing.send(rows);
                    }
                    Group::Last(rows) => {
                        file.write(&rows)?;
                        return file.file.close();
                    }
                }
            }
            Ok(())
        });
        Ok(LoadRecorder { rows: Vec::with_capacity(GROUP_ROWS), groups, emptied, writer })
    }

    /// Writes what is left and the footer.
    pub(super) fn finish(self) -> Result<(), ResultsError> {
        // A writer that failed takes no more groups; its error says why.
        let _ = self.groups.send(Group::Last(self.rows));
        drop(self.groups);
        self.writer.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    }

    fn hand_over(&mut self) {
        let fresh = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(GROUP_ROWS));
        // A writer that failed takes no more groups; `finish` returns its error.
        let _ = self.groups.send(Group::Full(mem::replace(&mut self.rows, fresh)));
    }
}

impl LoadSink for LoadRecorder {
    fn load(&mut self, row: &LoadRow) {
        self.rows.push(*row);
        if self.rows.len() == GROUP_ROWS {
            self.hand_over();
        }
    }
}

/// The file, and what all its row groups begin with.
struct LoadFile {
    file: TableFile,
    key: RunKey,
    key_columns: Vec<Column<RunKey>>,
    columns: Vec<Column<LoadRow>>,
    full_head: Option<Vec<Chunk>>,
}

impl LoadFile {
    fn create(path: &Path, key: RunKey) -> Result<LoadFile, ResultsError> {
        let (key_columns, columns) = (load_key_columns(), load_columns());
        let mut fields = Field::all(&key_columns);
        fields.extend(Field::all(&columns));
        let file = TableFile::create(path, "loads", &fields)?;
        Ok(LoadFile { file, key, key_columns, columns, full_head: None })
    }

    fn write(&mut self, rows: &[LoadRow]) -> Result<(), ResultsError> {
        if rows.is_empty() {
            return Ok(());
        }
        if rows.len() != GROUP_ROWS {
            let head = self.file.constant(&self.key_columns, &self.key, rows.len())?;
            return self.file.write_after(&head, &self.columns, rows);
        }
        let head = match self.full_head.take() {
            Some(head) => head,
            None => self.file.constant(&self.key_columns, &self.key, GROUP_ROWS)?,
        };
        self.file.write_after(&head, &self.columns, rows)?;
        self.full_head = Some(head);
        Ok(())
    }
}
