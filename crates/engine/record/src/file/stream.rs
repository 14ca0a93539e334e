//! A table with a file per run, written by its own thread during simulation.

use super::{Chunk, Field, TableFile};
use crate::column::Column;
use crate::metrics::run_key_columns;
use crate::{ResultsError, RunKey};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::{mem, panic};

/// A row of a streamed table.
pub(crate) trait StreamedRow: Sized + Send + 'static {
    /// Name of the table.
    const TABLE: &'static str;
    /// Rows of a full row group. A recorder holds one group and those queued for the writer.
    const GROUP_ROWS: usize;

    /// Returns the columns after the key columns.
    fn columns() -> Vec<Column<Self>>;
}

/// Row groups queued for the writer. Together with the groups being filled and written, they bound
/// the memory of a stream.
const WAITING_GROUPS: usize = 1;

/// Collects rows into row groups for the writer.
pub(crate) struct Stream<R> {
    rows: Vec<R>,
    groups: SyncSender<Group<R>>,
    /// Written groups return empty for reuse, so that a long run does not allocate.
    emptied: Receiver<Vec<R>>,
    writer: JoinHandle<Result<(), ResultsError>>,
}

enum Group<R> {
    Full(Vec<R>),
    /// The last rows of the run, before the footer. A writer that never receives them writes no footer.
    Last(Vec<R>),
}

impl<R: StreamedRow> Stream<R> {
    /// Creates the file at `path` and starts its writer.
    pub(crate) fn create(path: &Path, key: &RunKey) -> Result<Stream<R>, ResultsError> {
        let (groups, incoming) = sync_channel(WAITING_GROUPS);
        let (outgoing, emptied) = channel();
        let mut file = StreamFile::create(path, key.clone())?;
        let writer = thread::spawn(move || {
            for group in incoming {
                match group {
                    Group::Full(mut rows) => {
                        file.write(&rows)?;
                        rows.clear();
                        // After the end of the run the receiver is gone.
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
        Ok(Stream { rows: Vec::with_capacity(R::GROUP_ROWS), groups, emptied, writer })
    }

    pub(crate) fn push(&mut self, row: R) {
        self.rows.push(row);
        if self.rows.len() == R::GROUP_ROWS {
            self.hand_over();
        }
    }

    /// Writes the remaining rows and the footer.
    pub(crate) fn finish(self) -> Result<(), ResultsError> {
        // A failed writer accepts no more groups; the join returns its error.
        let _ = self.groups.send(Group::Last(self.rows));
        drop(self.groups);
        self.writer.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    }

    fn hand_over(&mut self) {
        let fresh = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(R::GROUP_ROWS));
        // A failed writer accepts no more groups; `finish` returns its error.
        let _ = self.groups.send(Group::Full(mem::replace(&mut self.rows, fresh)));
    }
}

/// The file and the encoded key columns of its row groups.
struct StreamFile<R> {
    file: TableFile,
    key: RunKey,
    key_columns: Vec<Column<RunKey>>,
    columns: Vec<Column<R>>,
    full_head: Option<Vec<Chunk>>,
}

impl<R: StreamedRow> StreamFile<R> {
    fn create(path: &Path, key: RunKey) -> Result<StreamFile<R>, ResultsError> {
        let (key_columns, columns) = (run_key_columns(), R::columns());
        let mut fields = Field::all(&key_columns);
        fields.extend(Field::all(&columns));
        let file = TableFile::create(path, R::TABLE, &fields)?;
        Ok(StreamFile { file, key, key_columns, columns, full_head: None })
    }

    fn write(&mut self, rows: &[R]) -> Result<(), ResultsError> {
        if rows.is_empty() {
            return Ok(());
        }
        if rows.len() != R::GROUP_ROWS {
            let head = self.file.constant(&self.key_columns, &self.key, rows.len())?;
            return self.file.write_after(&head, &self.columns, rows);
        }
        let head = match self.full_head.take() {
            Some(head) => head,
            None => self.file.constant(&self.key_columns, &self.key, R::GROUP_ROWS)?,
        };
        self.file.write_after(&head, &self.columns, rows)?;
        self.full_head = Some(head);
        Ok(())
    }
}
