//! `--timeline`: a run over time as a Perfetto file.

use crate::cli::files::OutputFile;
use crate::cli::output::note;
use crate::files::staged;
use crate::gpu::results::RequestSample;
use crate::machine::Machine;
use crate::record::Recorded;
use crate::record::timeline::{Options, Timeline, Window, Written};
use anyhow::bail;
use clap::ValueHint;
use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::HumanCount;
use std::fs::File;
use std::io::BufWriter;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Timeline (described in docs/reports.md)")]
pub struct TimelineOptions {
    /// Write warps, loads, queues, banks and DRAM commands over time for Perfetto; .json, or .json.gz
    #[arg(long, value_name = "FILE", value_parser = parse_path, value_hint = ValueHint::FilePath)]
    timeline: Option<OutputFile>,
    /// Core cycles to show, as in `1000..5000`; either end may be left out
    #[arg(
        long,
        value_name = "A..B",
        default_value = "..",
        hide_default_value = true,
        requires = "timeline"
    )]
    timeline_window: Window,
    /// Most events to show; if there are more, the window ends earlier
    #[arg(long, value_name = "N", default_value = "1000000", requires = "timeline")]
    timeline_events: NonZeroUsize,
    /// Core cycles between points of the machine's counters; by default as --intervals, or 100
    #[arg(long, value_name = "N", requires = "timeline", conflicts_with = "intervals")]
    timeline_interval: Option<NonZeroU64>,
}

/// Default interval between points, core cycles.
const INTERVAL: NonZeroU64 = NonZeroU64::new(100).unwrap();

impl TimelineOptions {
    /// Returns the file to write, if a timeline is requested.
    pub fn path(&self) -> Option<&Path> {
        self.timeline.as_deref()
    }

    /// Starts a timeline, if one is requested in addition to what is `recorded`. Fails if it could
    /// not be written.
    pub fn start(
        &self,
        machine: &Machine,
        recorded: &Recorded,
    ) -> anyhow::Result<Option<Timeline>> {
        let Some(path) = &self.timeline else { return Ok(None) };
        if recorded.requests.is_some_and(|sample| sample != RequestSample::ALL) {
            bail!("a timeline needs every request: give `--requests all`, or omit one of the two");
        }
        staged::check(path)?;
        let interval = self.timeline_interval.or(recorded.intervals).unwrap_or(INTERVAL);
        let (window, events) = (self.timeline_window, self.timeline_events);
        Ok(Some(Timeline::new(machine, Options { window, events, interval })))
    }

    /// Writes the events of a run of `cycles` core cycles.
    pub fn finish(&self, timeline: Timeline, cycles: u64) -> anyhow::Result<()> {
        let Some(path) = &self.timeline else { return Ok(()) };
        let mut written = Written::default();
        staged::write(path, |partial| {
            written = fill(partial, timeline, cycles)?;
            Ok(())
        })?;
        note(&format!(
            "timeline: {} events in {}",
            HumanCount(written.events as u64),
            path.display()
        ));
        if let Some(what) = self.what_is_missing(written, cycles) {
            note(&format!("note: {what}"));
        }
        Ok(())
    }

    /// Describes the part of the window that the timeline lacks, or explains why it is empty.
    fn what_is_missing(&self, written: Written, cycles: u64) -> Option<String> {
        let (most, start) = (self.timeline_events, self.timeline_window.start());
        match (written.events, written.cut_at) {
            (0, Some(cycle)) => Some(format!(
                "the timeline is empty: more than {most} events begin at core cycle {cycle}, its start; give a larger --timeline-events"
            )),
            (0, None) => Some(format!(
                "the timeline is empty: the run ends at core cycle {}; give a --timeline-window that begins earlier than {}",
                HumanCount(cycles),
                HumanCount(start)
            )),
            (_, Some(cycle)) => Some(format!(
                "the timeline ends at core cycle {cycle}: it has reached the limit of --timeline-events"
            )),
            (_, None) => None,
        }
    }
}

fn fill(path: &Path, timeline: Timeline, cycles: u64) -> anyhow::Result<Written> {
    let mut file = BufWriter::new(File::create(path)?);
    let written = if is_compressed(path) {
        let mut encoder = GzEncoder::new(&mut file, Compression::fast());
        let written = timeline.write(cycles, &mut encoder)?;
        encoder.finish()?;
        written
    } else {
        timeline.write(cycles, &mut file)?
    };
    file.into_inner()?.sync_all()?;
    Ok(written)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// Parses the path of a file whose type Perfetto recognizes.
fn parse_path(text: &str) -> Result<OutputFile, String> {
    let is_known = text.ends_with(".json") || text.ends_with(".json.gz");
    is_known
        .then(|| PathBuf::from(text).into())
        .ok_or_else(|| "expected a name that ends in .json or .json.gz".to_owned())
}
