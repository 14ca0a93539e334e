//! The recorder of a run during simulation: the tables with a file per run.

use super::files::at;
use crate::file::{Stream, StreamedRow};
use crate::{ResultsError, RunKey};
use serde::{Deserialize, Serialize};
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use warpmem_gpu::results::{IntervalRow, LoadRow, RequestRow, RequestSample, RunSink, Wanted};

/// Names of the tables with a file per run.
pub(crate) const STREAMED: [&str; 3] = [LoadRow::TABLE, RequestRow::TABLE, IntervalRow::TABLE];

/// The streams recorded in addition to the counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// A row per load: by far the largest table of a run.
    pub loads: bool,
    /// Length of an interval, core cycles.
    pub intervals: Option<NonZeroU64>,
    pub requests: Option<RequestSample>,
}

impl Recorded {
    /// Whether everything in `asked` is recorded, in the same way.
    pub fn covers(&self, asked: &Recorded) -> bool {
        (self.loads || !asked.loads)
            && (asked.intervals.is_none() || self.intervals == asked.intervals)
            && (asked.requests.is_none() || self.requests == asked.requests)
    }

    /// Returns the recorded tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &'static str> {
        let is_recorded = [self.loads, self.requests.is_some(), self.intervals.is_some()];
        STREAMED.into_iter().zip(is_recorded).filter_map(|(table, is)| is.then_some(table))
    }
}

/// A recorder of one run, fed with rows by the engine.
pub struct RunRecorder {
    pub(super) key: RunKey,
    /// Holds its files until it is finished.
    pub(super) folder: PathBuf,
    pub(super) recorded: Recorded,
    loads: Option<Stream<LoadRow>>,
    requests: Option<Stream<RequestRow>>,
    intervals: Option<Stream<IntervalRow>>,
}

impl RunRecorder {
    /// Creates `folder` with a file `TABLE.parquet` per recorded table.
    pub(super) fn create(
        folder: PathBuf,
        key: RunKey,
        recorded: Recorded,
    ) -> Result<RunRecorder, ResultsError> {
        fs::create_dir_all(&folder).map_err(at(&folder, "create directory"))?;
        Ok(RunRecorder {
            loads: create(&folder, &key, recorded.loads)?,
            requests: create(&folder, &key, recorded.requests.is_some())?,
            intervals: create(&folder, &key, recorded.intervals.is_some())?,
            key,
            folder,
            recorded,
        })
    }

    /// Writes the remaining rows.
    pub(super) fn close(&mut self) -> Result<(), ResultsError> {
        self.loads.take().map(Stream::finish).transpose()?;
        self.requests.take().map(Stream::finish).transpose()?;
        self.intervals.take().map(Stream::finish).transpose()?;
        Ok(())
    }
}

impl RunSink for RunRecorder {
    fn wanted(&self) -> Wanted {
        let Recorded { intervals, requests, .. } = self.recorded;
        Wanted { intervals, requests, warps: false }
    }

    fn load(&mut self, row: &LoadRow) {
        if let Some(loads) = &mut self.loads {
            loads.push(*row);
        }
    }

    fn request(&mut self, row: &RequestRow) {
        if let Some(requests) = &mut self.requests {
            requests.push(*row);
        }
    }

    fn interval(&mut self, row: &IntervalRow) {
        if let Some(intervals) = &mut self.intervals {
            intervals.push(row.clone());
        }
    }
}

fn create<R: StreamedRow>(
    folder: &Path,
    key: &RunKey,
    recorded: bool,
) -> Result<Option<Stream<R>>, ResultsError> {
    let path = folder.join(format!("{}.parquet", R::TABLE));
    recorded.then(|| Stream::create(&path, key)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_streams_must_include_those_asked_for() {
        let none = Recorded::default();
        let loads = Recorded { loads: true, ..none };
        let [thousand, ten] =
            [1000, 10].map(|n| Recorded { intervals: NonZeroU64::new(n), ..loads });
        let all = Recorded { requests: Some(RequestSample::ALL), ..thousand };
        assert!(all.covers(&all) && all.covers(&thousand) && all.covers(&none));
        assert!(!none.covers(&loads) && !loads.covers(&ten) && !thousand.covers(&all));
        assert!(!thousand.covers(&ten), "intervals of another length are not those");
    }
}
