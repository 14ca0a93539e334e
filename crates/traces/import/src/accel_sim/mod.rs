//! Text traces of Accel-Sim's NVBit tracer: import and export.
//!
//! A kernel file is inflated by [`crate::input`] on one thread, parsed into CTAs by [`kernel`] on
//! another, and written to the trace by [`assemble`] on the caller's thread. Several files are in
//! flight at once; their kernels are written in list order, and compressed on one more thread.

mod address;
mod ahead;
mod assemble;
mod code;
mod cta;
mod event;
mod export;
mod grouped;
mod header;
mod kernel;
mod line;
mod list;
mod raw;
mod tracez;

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread::Scope;

use warpmem_trace::TraceWriter;

pub use self::export::{ExportOptions, ExportSummary, export_accel_sim};

use self::ahead::Received;
use self::assemble::{Assembler, OpenKernel, Source};
use self::event::Event;
use self::list::{Command, List};
use super::error::ImportError;
use super::input;
use super::options::ImportOptions;
use super::output;
use super::progress::Progress;
use super::summary::ImportSummary;
use warpmem_support::files::input::Rereadable;

/// Imports a kernel list, a folder that holds one, or a single kernel file, grouped or raw,
/// compressed or not, into the trace `output`. A kernel file may be a pipe.
///
/// # Errors
/// When a file is missing, damaged or malformed, naming file and line; when the trace cannot be
/// written; when `progress` stops it. No output remains then.
pub fn import_accel_sim(
    input: &Path,
    output: &Path,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let source = Rereadable::of(input).map_err(ImportError::io("read", input))?;
    let imported = import(&source, output, options, progress);
    imported.map_err(|error| error.of_original(source.place(), input))
}

fn import(
    source: &Rereadable,
    output: &Path,
    options: &ImportOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let (input, place) = (source.given(), source.place());
    let list = list::read(place)?;
    if source.is_copy() && list.commands != [Command::Kernel(place.to_path_buf())] {
        let what = "a kernel list from a pipe has no folder with its kernel files; name its file";
        return Err(ImportError::file(input, what));
    }
    let commands = selected(&list, options.kernels.as_ref())?;
    let files: Vec<&Path> = commands.iter().filter_map(|command| kernel_path(command)).collect();
    let bytes_in = total_bytes(&files)?;
    progress.total(bytes_in);

    output::check(output, &files)?;
    let source = ("Accel-Sim trace", input);
    let mut writer = output::create(output, source, &options.command, &options.writer)?;
    let mut assembler = Assembler::new(options.empty_masks);
    let first = options.kernels.as_ref().map_or(1, |kernels| *kernels.start());
    std::thread::scope(|scope| -> Result<(), ImportError> {
        let mut ahead = Ahead::new(scope, &files, options.jobs.max(1), progress);
        let mut done = 0;
        for command in &commands {
            match command {
                Command::Memcpy { address, bytes } => {
                    assembler.summary.memcpys += 1;
                    writer.memcpy(*address, *bytes);
                }
                Command::Kernel(path) => {
                    let events = ahead.next();
                    let kernel = Source { path, number: (first + done) as u64 };
                    write_kernel(kernel, events, &mut assembler, &mut writer, progress)?;
                    done += 1;
                    progress.kernel(done, files.len());
                }
            }
        }
        Ok(())
    })?;
    let written = writer.finish()?;
    let mut summary = assembler.summary;
    summary.bytes_in = bytes_in;
    summary.bytes_out = written.file_bytes;
    summary.notes.extend(list.notes);
    Ok(summary)
}

/// Returns the commands up to the last kernel of `range`, without the kernels outside it. Copies
/// before an omitted kernel stay: their data remain for later kernels.
fn selected(
    list: &List,
    range: Option<&RangeInclusive<usize>>,
) -> Result<Vec<Command>, ImportError> {
    let Some(range) = range else { return Ok(list.commands.clone()) };
    let kernels = list.commands.iter().filter(|command| kernel_path(command).is_some()).count();
    let (first, last) = (*range.start(), *range.end());
    if first == 0 || first > last || last > kernels {
        let path = list.path.clone();
        return Err(ImportError::KernelRange { path, first, last, kernels });
    }
    let mut selected = Vec::new();
    let mut number = 0;
    for command in &list.commands {
        let is_kernel = kernel_path(command).is_some();
        number += usize::from(is_kernel);
        if !is_kernel || range.contains(&number) {
            selected.push(command.clone());
        }
        if number == last {
            break;
        }
    }
    Ok(selected)
}

fn kernel_path(command: &Command) -> Option<&Path> {
    match command {
        Command::Kernel(path) => Some(path),
        Command::Memcpy { .. } => None,
    }
}

fn total_bytes(files: &[&Path]) -> Result<u64, ImportError> {
    files.iter().try_fold(0, |total, path| Ok(total + input::bytes_of(path)?))
}

/// Files in flight, in list order.
struct Ahead<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    files: std::vec::IntoIter<PathBuf>,
    progress: &'env dyn Progress,
    jobs: usize,
    started: VecDeque<Received>,
}

impl<'scope, 'env> Ahead<'scope, 'env> {
    fn new(
        scope: &'scope Scope<'scope, 'env>,
        files: &[&Path],
        jobs: usize,
        progress: &'env dyn Progress,
    ) -> Ahead<'scope, 'env> {
        let files: Vec<PathBuf> = files.iter().map(|path| path.to_path_buf()).collect();
        Ahead { scope, files: files.into_iter(), progress, jobs, started: VecDeque::new() }
    }

    /// Returns the events of the next file, and starts reading further files up to the limit.
    fn next(&mut self) -> Received {
        while self.started.len() < self.jobs
            && let Some(path) = self.files.next()
        {
            self.started.push_back(start(self.scope, path, self.progress));
        }
        self.started.pop_front().unwrap_or_else(|| ahead::channel().1)
    }
}

/// Starts reading, inflating and parsing a file.
fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    path: PathBuf,
    progress: &'env dyn Progress,
) -> Received {
    let (events, received) = ahead::channel();
    scope.spawn(move || match tracez::is_tracez(&path) {
        Ok(true) => tracez::parse(&path, progress, &events),
        Ok(false) => {
            let (out, blocks) = sync_channel(input::BLOCKS_AHEAD);
            let inflated = path.clone();
            scope.spawn(move || input::pump(&inflated, progress, &out));
            kernel::parse(&path, blocks, &events);
        }
        Err(error) => kernel::report(Err(error), &events),
    });
    received
}

fn write_kernel(
    source: Source<'_>,
    events: Received,
    assembler: &mut Assembler,
    writer: &mut TraceWriter,
    progress: &dyn Progress,
) -> Result<(), ImportError> {
    let mut open = None;
    for event in events {
        if progress.cancelled() {
            return Err(ImportError::Cancelled);
        }
        match (event?, &mut open) {
            (Event::Header(header), open) => *open = Some(OpenKernel::new(source, *header)),
            (Event::Cta(cta, codes), Some(kernel)) => {
                assembler.cta(writer, kernel, cta, codes)?;
            }
            (Event::End { text_bytes }, _) => assembler.summary.text_bytes += text_bytes,
            (Event::Cta(..), None) => {}
        }
    }
    match open {
        Some(kernel) => assembler.end(writer, kernel),
        None => Err(ImportError::file(source.path, "its reader thread stopped unexpectedly")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(kernel: &str) -> Result<ImportSummary, ImportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel-1");
        std::fs::write(&path, kernel).unwrap();
        import_accel_sim(&path, &folder.path().join("k.wmt"), &ImportOptions::default(), &())
    }

    /// Returns a file of one warp, raw and grouped, each with the number of lines before the first
    /// instruction.
    fn files(instructions: &[&str]) -> [(String, u64); 2] {
        let header = "-kernel name = k\n-block dim = (32,1,1)\n-accelsim tracer version = 3\n";
        let raw: String = instructions.iter().map(|line| format!("0 0 0 0 {line}\n")).collect();
        let grouped = format!(
            "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = {}\n{}\n#END_TB\n",
            instructions.len(),
            instructions.join("\n"),
        );
        [(format!("{header}{raw}"), 3), (format!("{header}{grouped}"), 7)]
    }

    const LOAD: &str = "0010 1 1 R4 LDG.E 1 R2 4 0 0x0";

    #[test]
    fn an_exit_with_addresses_is_an_error_at_its_line() {
        for (file, before) in files(&["0000 1 0 EXIT 0 4 0 0x80", LOAD]) {
            let error = import(&file).unwrap_err();
            let ImportError::Line { line, expected, .. } = &error else { panic!("{error}") };
            assert_eq!(*line, before + 1, "{error}");
            assert!(expected.contains("width 0 of an EXIT"), "{error}");
        }
    }

    #[test]
    fn repaired_exits_keep_addresses_aligned_with_their_lines() {
        let no_memory = "0008 3 1 R2 MOV 0 4 1 0x80 4";
        for (file, _) in files(&["0000 3 0 EXIT 0 0", no_memory, LOAD, "0020 3 0 EXIT 0 0"]) {
            let summary = import(&file).unwrap();
            assert_eq!((summary.repaired_exits, summary.exits), (1, 2));
            assert_eq!(summary.address_modes, [1, 0, 0]);
        }
    }
}
