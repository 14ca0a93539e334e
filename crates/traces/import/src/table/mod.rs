//! Tables with one row per warp instruction: CSV, JSON lines and Parquet.
//!
//! The formats differ in their cells only; [`row`] interprets the cells, and `docs/import.md`
//! documents the columns and their defaults.

mod column;
mod csv;
mod jsonl;
mod parquet;
mod row;

use std::path::Path;

use rustc_hash::FxHashSet;
use warpmem_params::{did_you_mean, nearest};
use warpmem_trace::TraceWriter;

pub use self::csv::import_csv;
pub use self::jsonl::import_jsonl;
pub use self::parquet::import_parquet;

use self::column::{Cells, Column, Wrong};
use self::row::Instruction;
use crate::error::{ImportError, Place};
use crate::gather::{Assembler, Launch, MAX_BYTES, Row, Rows};
use crate::options::TableOptions;
use crate::output;
use crate::progress::Progress;
use crate::summary::ImportSummary;

/// Reads the rows of a table and writes each kernel once it is complete.
struct Table<'a> {
    path: &'a Path,
    options: &'a TableOptions,
    progress: &'a dyn Progress,
    writer: TraceWriter,
    assembler: Assembler,
    kernel: Option<Kernel>,
    /// An instruction that may have further lanes, and the position of its last row.
    pending: Option<(Instruction, Place)>,
    /// Labels of the written kernels.
    written: FxHashSet<String>,
    rows: u64,
    /// Rows without a value, by column with a default.
    defaulted: [u64; Column::COUNT],
}

/// The kernel whose rows are being read.
struct Kernel {
    label: String,
    launch: Launch,
    rows: Rows,
}

/// Defaults of columns that most tables have.
const DEFAULTS: [(Column, &str); 5] = [
    (Column::Kernel, "all are of one launch"),
    (Column::Cta, "CTA 0"),
    (Column::Warp, "warp 0"),
    (Column::Op, "loads"),
    (Column::Bytes, "4 bytes for each lane"),
];

/// Rows between checks for cancellation.
const ROWS_BETWEEN_CHECKS: u64 = 4096;

impl<'a> Table<'a> {
    fn create(
        path: &'a Path,
        output: &Path,
        options: &'a TableOptions,
        progress: &'a dyn Progress,
    ) -> Result<Table<'a>, ImportError> {
        Ok(Table {
            path,
            options,
            progress,
            writer: output::create(output, ("table", path), &options.command, &options.writer)?,
            assembler: Assembler::new(options.assumptions),
            kernel: None,
            pending: None,
            written: FxHashSet::default(),
            rows: 0,
            defaulted: [0; Column::COUNT],
        })
    }

    /// Adds the row at `place` of the file.
    fn row(&mut self, cells: &Cells<'_>, place: Place) -> Result<(), ImportError> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_BETWEEN_CHECKS) && self.progress.cancelled() {
            return Err(ImportError::Cancelled);
        }
        let path = self.path;
        let at = |wrong: Wrong| wrong.at(path, place);
        let label = cells[Column::Kernel as usize].label(Column::Kernel).map_err(at)?;
        let label = label.unwrap_or("0".into());
        if self.kernel.as_ref().is_none_or(|kernel| kernel.label != label) {
            self.end_kernel()?;
            self.begin_kernel(&label, cells).map_err(at)?;
        }
        let next = row::instruction(cells).map_err(at)?;
        self.count_defaults(cells, &next);
        match &mut self.pending {
            Some((pending, last)) if pending.is_continued_by(&next) => {
                pending.mask |= next.mask;
                pending.addresses.extend(next.addresses);
                *last = place;
                Ok(())
            }
            _ => {
                let last = self.pending.replace((next, place));
                last.map_or(Ok(()), |(instruction, place)| self.push(instruction, place))
            }
        }
    }

    fn begin_kernel(&mut self, label: &str, cells: &Cells<'_>) -> Result<(), Wrong> {
        if self.written.contains(label) {
            let expected = "the rows of a kernel one after the other: sort the rows by kernel, and keep \
                            the order of each kernel's";
            return Err(cells[Column::Kernel as usize].wrong(Column::Kernel, expected));
        }
        let launch = row::launch(label, cells)?;
        let rows = Rows::new(self.options.assumptions.gap);
        self.kernel = Some(Kernel { label: label.to_owned(), launch, rows });
        Ok(())
    }

    fn count_defaults(&mut self, cells: &Cells<'_>, row: &Instruction) {
        for (column, _) in DEFAULTS {
            // A SASS opcode implies the bytes.
            let is_assumed = column != Column::Bytes || row.is_plain_access();
            self.defaulted[column as usize] +=
                u64::from(is_assumed && cells[column as usize].is_empty());
        }
    }

    /// Adds a complete instruction.
    fn push(&mut self, instruction: Instruction, place: Place) -> Result<(), ImportError> {
        let Some(kernel) = &mut self.kernel else { return Ok(()) };
        let Instruction { cta, warp, code, mask, addresses, .. } = instruction;
        let row = Row { cta, warp, code, mask, addresses: &addresses };
        let pushed = kernel.rows.push(row);
        pushed.map_err(|expected| expected.in_table(self.path, place))?;
        if kernel.rows.bytes() > MAX_BYTES {
            let what = format!(
                "the rows of kernel {} take more than 4 GiB in memory; import fewer of its CTAs",
                kernel.label
            );
            return Err(ImportError::file(self.path, what));
        }
        Ok(())
    }

    fn end_kernel(&mut self) -> Result<(), ImportError> {
        if let Some((instruction, place)) = self.pending.take() {
            self.push(instruction, place)?;
        }
        let Some(Kernel { label, launch, rows }) = self.kernel.take() else { return Ok(()) };
        self.written.insert(label);
        let number = self.written.len();
        self.assembler.kernel(&mut self.writer, (self.path, number), launch, rows)?;
        self.progress.kernel(number, number);
        Ok(())
    }

    fn finish(mut self, bytes_in: u64, text_bytes: u64) -> Result<ImportSummary, ImportError> {
        self.end_kernel()?;
        if self.rows == 0 {
            return Err(ImportError::file(self.path, "no rows in it"));
        }
        let mut summary = self.assembler.finish();
        let defaulted = DEFAULTS.map(|(column, instead)| {
            (self.defaulted[column as usize], format!("rows without {}", column.name()), instead)
        });
        let defaulted = defaulted.into_iter().filter(|(rows, ..)| *rows > 0);
        let notes = defaulted.map(|(rows, what, instead)| format!("{what}: {rows}; {instead}"));
        summary.notes.splice(0..0, notes);
        summary.bytes_out = self.writer.finish()?.file_bytes;
        (summary.bytes_in, summary.text_bytes) = (bytes_in, text_bytes);
        Ok(summary)
    }
}

impl TableOptions {
    /// Returns the column of this name; `None` to ignore it.
    fn column(&self, name: &str) -> Result<Option<Column>, String> {
        if self.ignored_columns.iter().any(|ignored| ignored == name) {
            return Ok(None);
        }
        Column::find(name).map(Some).ok_or_else(|| {
            let meant = did_you_mean(nearest(name, Column::ALL.iter().map(|column| column.name())));
            format!(
                "unknown column `{name}`{meant}; known are {}; others can be ignored (--ignore-columns)",
                Column::names()
            )
        })
    }

    /// Returns the columns of a header.
    fn columns<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<Option<Column>>, String> {
        let columns: Vec<_> = names.map(|name| self.column(name)).collect::<Result<_, _>>()?;
        for (at, column) in columns.iter().enumerate() {
            if let Some(column) = column
                && columns[..at].contains(&Some(*column))
            {
                return Err(format!("column `{}` occurs twice", column.name()));
            }
        }
        let has_addresses =
            |column: &Option<Column>| matches!(column, Some(Column::Addresses | Column::Base));
        match columns.iter().any(has_addresses) {
            true => Ok(columns),
            false => {
                Err("no column `addresses` or `base`, so no row could access memory".to_owned())
            }
        }
    }
}
