//! Text printed by `mem_trace`, an example of NVBit, and by tools derived from it.

mod line;

use std::path::Path;

use rustc_hash::FxHashMap;
use warpmem_trace::{Kind, Space, TraceWriter, WARP_SIZE};

use self::line::{Access, Id, KernelLine, Line};
use crate::error::{Expected, ImportError};
use crate::gather::{Action, Assembler, Code, MAX_BYTES, Row, Rows};
use crate::input;
use crate::options::MemTraceOptions;
use crate::output;
use crate::progress::Progress;
use crate::sass::opcode::{self, Decoded};
use crate::sass::operation::Op;
use crate::summary::ImportSummary;

/// Imports a log of `mem_trace`, compressed or not, into the trace `output`. Lines of other origin
/// are skipped.
///
/// # Errors
/// When the log cannot be read, a line of the tool is malformed, or the trace cannot be written;
/// when `progress` stops it. No output remains then.
pub fn import_mem_trace(
    input: &Path,
    output: &Path,
    options: &MemTraceOptions,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    let source = ("mem_trace log", input);
    let writer = output::create(output, source, &options.command, &options.writer)?;
    let bytes_in = input::bytes_of(input)?;
    progress.total(bytes_in);
    let mut log = Log::new(options);
    let text_bytes = input::for_each_line(input, progress, |number, line| {
        log.take(line).map_err(|expected| expected.at(input, number, line))
    })?;
    let mut summary = log.write(input, writer, progress)?;
    (summary.bytes_in, summary.text_bytes) = (bytes_in, text_bytes);
    Ok(summary)
}

/// The kernels of a log.
struct Log<'a> {
    options: &'a MemTraceOptions,
    kernels: Vec<Kernel>,
    /// Index of the last kernel of each id.
    places: FxHashMap<Id, usize>,
    /// The kernel launched last.
    current: Option<usize>,
    /// Memory of all rows, bytes.
    bytes: u64,
    opcodes: FxHashMap<Box<str>, Decoded>,
    odd: Odd,
}

struct Kernel {
    line: KernelLine,
    rows: Rows,
}

/// Counts of omitted lines and of assumptions.
#[derive(Default)]
struct Odd {
    other_lines: u64,
    inactive_lanes: u64,
    without_lanes: u64,
    generic: u64,
    shared_halves: u64,
    unknown: FxHashMap<Box<str>, u64>,
}

impl<'a> Log<'a> {
    fn new(options: &'a MemTraceOptions) -> Log<'a> {
        Log {
            options,
            kernels: Vec::new(),
            places: FxHashMap::default(),
            current: None,
            bytes: 0,
            opcodes: FxHashMap::default(),
            odd: Odd::default(),
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Expected> {
        match line::parse(line)? {
            Line::Launch(id, line) => {
                self.begin(id, *line);
                Ok(())
            }
            Line::Access(access) => self.access(&access),
            Line::Other => {
                self.odd.other_lines += 1;
                Ok(())
            }
        }
    }

    /// Begins a kernel, which receives all later accesses with its id.
    fn begin(&mut self, id: Id, mut line: KernelLine) -> usize {
        let place = self.kernels.len();
        if line.launch.name.is_empty() {
            line.launch.name = format!("kernel {}", place + 1);
        }
        self.kernels.push(Kernel { line, rows: Rows::new(self.options.assumptions.gap) });
        self.places.insert(id, place);
        self.current = Some(place);
        place
    }

    fn access(&mut self, access: &Access<'_>) -> Result<(), Expected> {
        // A truncated log may begin within a kernel.
        let place = match access.id.number {
            Some(_) => self.places.get(&access.id).copied(),
            None => self.current,
        };
        let place = place.unwrap_or_else(|| self.begin(access.id, KernelLine::default()));
        let wanted = self.options.kernels.as_ref();
        if wanted.is_some_and(|kernels| !kernels.contains(&(place + 1))) {
            return Ok(());
        }
        let decoded = self.decode(access.opcode);
        let action = Action::of(&decoded);
        let (mask, lanes) = self.lanes(action, &access.addresses);
        let addresses = match action {
            Action::Memory(_) => &lanes[..mask.count_ones() as usize],
            _ => &[],
        };
        if is_shared_half(action, addresses) {
            self.odd.shared_halves += 1;
            return Ok(());
        }
        self.note(access.opcode, &decoded);
        let kernel = &mut self.kernels[place];
        let entry = kernel.line.pc.unwrap_or(0);
        let pc = access.pc.map(|pc| pc.checked_sub(entry).unwrap_or(pc));
        let code =
            Code { opcode: access.opcode.into(), pc, action, registers: None, l2_policy: None };
        let before = kernel.rows.bytes();
        kernel.rows.push(Row { cta: access.cta, warp: access.warp, code, mask, addresses })?;
        self.bytes += kernel.rows.bytes() - before;
        if self.bytes > MAX_BYTES {
            return Err(
                "kernels that take at most 4 GiB in memory; import a part of them (--kernels)"
                    .into(),
            );
        }
        Ok(())
    }

    fn decode(&mut self, opcode: &str) -> Decoded {
        if let Some(&decoded) = self.opcodes.get(opcode) {
            return decoded;
        }
        const UNKNOWN_SM: u32 = 0;
        let decoded = opcode::decode(opcode.as_bytes(), UNKNOWN_SM);
        self.opcodes.insert(opcode.into(), decoded);
        decoded
    }

    /// Returns the active lanes and, at the front, their addresses. Instructions other than memory
    /// have all lanes and no address.
    fn lanes(&mut self, action: Action, all: &[u64; WARP_SIZE]) -> (u32, [u64; WARP_SIZE]) {
        let mut lanes = [0; WARP_SIZE];
        let Action::Memory(op) = action else { return (u32::MAX, lanes) };
        let has_offsets = matches!(op.space, Space::Shared | Space::Local);
        let (mut mask, mut active) = (0, 0);
        for (lane, &address) in all.iter().enumerate() {
            // Offset 0 is valid, and it is the first thread's.
            if address != 0 || has_offsets && lane == 0 {
                mask |= 1 << lane;
                lanes[active] = address;
                active += 1;
            }
        }
        self.odd.inactive_lanes += (WARP_SIZE - active) as u64;
        self.odd.without_lanes += u64::from(mask == 0);
        (mask, lanes)
    }

    fn note(&mut self, opcode: &str, decoded: &Decoded) {
        self.odd.generic += u64::from(matches!(decoded.op, Op::Memory { space: None, .. }));
        if !decoded.known {
            *self.odd.unknown.entry(opcode.into()).or_default() += 1;
        }
    }

    fn write(
        self,
        path: &Path,
        mut writer: TraceWriter,
        progress: &dyn Progress,
    ) -> Result<ImportSummary, ImportError> {
        let launched = self.kernels.len();
        check_range(path, self.options, launched)?;
        let numbered = self.kernels.into_iter().zip(1..);
        let kernels: Vec<_> = numbered.filter(|(kernel, _)| !kernel.rows.is_empty()).collect();
        if kernels.is_empty() {
            let what = "no memory instruction of mem_trace in it; expected lines such as `MEMTRACE: CTX 0x… - \
                        grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - 0x… …`";
            return Err(ImportError::file(path, what));
        }
        let mut assembler = Assembler::new(self.options.assumptions);
        let count = kernels.len();
        for (done, (Kernel { line, rows }, number)) in kernels.into_iter().enumerate() {
            if progress.cancelled() {
                return Err(ImportError::Cancelled);
            }
            assembler.kernel(&mut writer, (path, number), line.launch, rows)?;
            progress.kernel(done + 1, count);
        }
        let mut summary = assembler.finish();
        summary.bytes_out = writer.finish()?.file_bytes;
        let is_wanted = |number| self.options.kernels.as_ref().is_none_or(|k| k.contains(&number));
        let empty = (1..=launched).filter(|&number| is_wanted(number)).count() - count;
        summary.notes.extend(self.odd.notes(empty));
        summary.unknown_opcodes =
            self.odd.unknown.into_iter().map(|(opcode, n)| (opcode.into(), n)).collect();
        Ok(summary)
    }
}

fn check_range(path: &Path, options: &MemTraceOptions, kernels: usize) -> Result<(), ImportError> {
    let Some(range) = &options.kernels else { return Ok(()) };
    let (first, last) = (*range.start(), *range.end());
    if first == 0 || first > last || last > kernels {
        let path = path.to_path_buf();
        return Err(ImportError::KernelRange { path, first, last, kernels });
    }
    Ok(())
}

/// Returns whether these are the shared-memory addresses of an async copy, which the tool prints on
/// a separate line in addition to the global ones.
fn is_shared_half(action: Action, addresses: &[u64]) -> bool {
    const SHARED_MEMORY: u64 = 16 << 20;
    let Action::Memory(op) = action else { return false };
    op.kind == Kind::AsyncCopy && addresses.iter().all(|&address| address < SHARED_MEMORY)
}

impl Odd {
    fn notes(&self, empty_launches: usize) -> Vec<String> {
        let notes = [
            (
                self.inactive_lanes,
                "lanes with address 0",
                "taken as inactive, as a log has no masks; a lane that is not active may also show \
                 another lane's address",
            ),
            (self.without_lanes, "memory instructions without any address", "kept"),
            (self.generic, "memory instructions with generic addresses", "taken as global"),
            (self.shared_halves, "shared-memory addresses of async copies", "left out"),
            (empty_launches as u64, "launches without memory instructions", "left out"),
            (self.other_lines, "lines that are not mem_trace's", "skipped"),
        ];
        let counted = notes.into_iter().filter(|&(count, ..)| count > 0);
        counted.map(|(count, what, instead)| format!("{what}: {count}; {instead}")).collect()
    }
}
