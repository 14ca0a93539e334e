//! Writes CTAs to the trace: repairs exit masks, ties async copies to their waits, and counts
//! everything.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use warpmem_trace::{
    Barrier, CtaBuilder, KernelInfo, Kind, MemoryOp, OpClass, Reg, Registers, Space, TraceWriter,
    WARP_SIZE, WarpAssembler,
};

use super::code::{Code, FIRST_UNUSED};
use super::cta::Cta;
use super::header::Header;
use super::line::Line;
use crate::error::ImportError;
use crate::options::EmptyMasks;
use crate::packed::Expander;
use crate::sass::opcode;
use crate::sass::operation::Op;
use crate::sectors::sectors;
use crate::summary::{ImportSummary, KernelCounts};

/// Writes the CTAs of kernel after kernel.
pub struct Assembler {
    empty_masks: EmptyMasks,
    warp: WarpAssembler,
    cta: CtaBuilder,
    copies: AsyncGroups,
    /// Compute instructions of the kernel.
    compute: [u64; OpClass::COUNT],
    pub summary: ImportSummary,
}

/// The origin of a kernel.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub path: &'a Path,
    /// Position in the list, from 1.
    pub number: u64,
}

/// A kernel that is being written.
pub struct OpenKernel {
    path: PathBuf,
    header: Header,
    begun: bool,
    codes: Vec<Code>,
    /// Executions of each code.
    executions: Vec<u64>,
    counts: KernelCounts,
}

impl OpenKernel {
    /// Opens a kernel. One without a name gets its file's.
    pub fn new(Source { path, number }: Source<'_>, header: Header) -> OpenKernel {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = header.name.clone().unwrap_or_else(|| file.clone());
        OpenKernel {
            path: path.to_path_buf(),
            header,
            begun: false,
            codes: Vec::new(),
            executions: Vec::new(),
            counts: KernelCounts { number, name, file, ..KernelCounts::default() },
        }
    }

    /// Removes from the mask of every exit the lanes that execute a later instruction: some tracers
    /// record the mask before predication. No other mask may change here, because an address block
    /// is read back with the mask it was parsed with, and only exits never have one.
    fn repair_exits(&mut self, lines: &mut [Line]) {
        let mut later = 0;
        for line in lines.iter_mut().rev() {
            let gone_on = line.mask & later;
            if gone_on != 0 && self.codes[line.code as usize].decoded.op == Op::Exit {
                line.mask &= !later;
                self.counts.repaired_exits += 1;
                self.counts.repaired_lanes += u64::from(gone_on.count_ones());
            }
            later |= line.mask;
        }
    }
}

impl Assembler {
    pub fn new(empty_masks: EmptyMasks) -> Assembler {
        Assembler {
            empty_masks,
            warp: WarpAssembler::new(),
            cta: CtaBuilder::new(),
            copies: AsyncGroups::default(),
            compute: [0; OpClass::COUNT],
            summary: ImportSummary::default(),
        }
    }

    /// Writes a CTA; `new_codes` are the codes that appear for the first time.
    pub fn cta(
        &mut self,
        writer: &mut TraceWriter,
        kernel: &mut OpenKernel,
        mut cta: Cta,
        new_codes: Vec<Code>,
    ) -> Result<(), ImportError> {
        kernel.codes.extend(new_codes);
        kernel.executions.resize(kernel.codes.len(), 0);
        if !kernel.begun {
            self.begin(writer, kernel, &cta)?;
        }
        self.cta.begin(cta.block);
        let mut addresses = Expander::new(&cta.addresses);
        let mut rest = &mut cta.lines[..];
        for span in &cta.warps {
            let lines;
            (lines, rest) = rest.split_at_mut(span.lines);
            kernel.repair_exits(lines);
            self.cta.begin_warp(span.warp);
            for &line in &*lines {
                self.line(kernel, line, &mut addresses);
            }
            self.copies.clear();
            self.warp.finish(writer.dictionary(), &mut self.cta);
        }
        debug_assert!(addresses.is_empty(), "address blocks and lines are out of step");
        kernel.counts.warps += cta.warps.len() as u64;
        kernel.counts.ctas += 1;
        writer.cta(&self.cta)?;
        Ok(())
    }

    /// Begins the kernel in the trace. If the header has no block size, the warps of the first CTA
    /// give the threads per CTA.
    fn begin(
        &mut self,
        writer: &mut TraceWriter,
        kernel: &mut OpenKernel,
        first: &Cta,
    ) -> Result<(), ImportError> {
        kernel.begun = true;
        let header = &kernel.header;
        let file = &kernel.counts.file;
        self.summary.notes.extend(header.notes.iter().map(|note| format!("{file}: {note}")));
        let block = header.block.unwrap_or_else(|| {
            let warps = first.warps.iter().map(|span| span.warp + 1).max().unwrap_or(1);
            let threads = warps * WARP_SIZE as u32;
            self.summary.notes.push(format!("{file}: no block size; {threads} threads assumed"));
            [threads, 1, 1]
        });
        writer.begin_kernel(KernelInfo {
            name: kernel.counts.name.clone(),
            stream: header.stream,
            grid: header.grid.unwrap_or_default(),
            block,
            registers_per_thread: header.registers,
            shared_bytes: header.shared_bytes,
            sm_version: header.sm_version,
            cluster: None,
        })?;
        Ok(())
    }

    /// Ends the kernel in the trace and adds its counts to the summary.
    pub fn end(&mut self, writer: &mut TraceWriter, kernel: OpenKernel) -> Result<(), ImportError> {
        let OpenKernel { path, header, begun, codes, executions, counts } = kernel;
        if !begun {
            return Err(ImportError::file(&path, "no thread block in it"));
        }
        writer.end_kernel()?;
        self.note_missing_ctas(&header, &counts);
        self.count_codes(&header, &counts.file, &codes, &executions);
        for (class, instructions) in OpClass::ALL.into_iter().zip(std::mem::take(&mut self.compute))
        {
            self.summary.add_compute(class, instructions);
        }
        let summary = &mut self.summary;
        summary.ctas += counts.ctas;
        summary.warps += counts.warps;
        summary.warp_instructions += counts.warp_instructions;
        summary.thread_instructions += counts.thread_instructions;
        summary.repaired_exits += counts.repaired_exits;
        summary.repaired_lanes += counts.repaired_lanes;
        summary.kernels.push(counts);
        Ok(())
    }

    fn note_missing_ctas(&mut self, header: &Header, counts: &KernelCounts) {
        let Some(grid) = header.grid else { return };
        let launched = grid.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
        if launched != counts.ctas {
            let (file, ctas) = (&counts.file, counts.ctas);
            self.summary.notes.push(format!("{file}: {ctas} of the grid's {launched} CTAs"));
        }
    }

    fn count_codes(&mut self, header: &Header, file: &str, codes: &[Code], executions: &[u64]) {
        let mut foreign = BTreeSet::new();
        let summary = &mut self.summary;
        for (code, &count) in codes.iter().zip(executions) {
            let name = opcode::base_name(&code.opcode);
            *summary.opcodes.entry(name.to_string()).or_default() += count;
            if !code.decoded.known {
                *summary.unknown_opcodes.entry(code.opcode.to_string()).or_default() += count;
            }
            if !code.decoded.of_architecture {
                foreign.insert(name);
            }
            if matches!(code.decoded.op, Op::Memory { .. }) && !code.addressed {
                let names = &mut summary.memory_without_addresses;
                *names.entry(code.opcode.to_string()).or_default() += count;
            }
        }
        if !foreign.is_empty() {
            let names = foreign.into_iter().collect::<Vec<_>>().join(", ");
            let sm = header.sm_version;
            summary.notes.push(format!("{file}: opcodes that sm_{sm} does not have: {names}"));
        }
    }

    /// Counts one instruction and appends it to the warp.
    fn line(&mut self, kernel: &mut OpenKernel, line: Line, addresses: &mut Expander<'_>) {
        let Line { code: id, mask } = line;
        let code = &kernel.codes[id as usize];
        // Cleared only for instructions with addresses: most have none.
        let mut lanes;
        let (mode, lanes) = match code.addressed {
            true => {
                lanes = [0; WARP_SIZE];
                let (mode, lanes) = addresses.next(mask, &mut lanes);
                (Some(mode), lanes)
            }
            false => (None, &[][..]),
        };
        if mask == 0 {
            *self.summary.without_lanes.entry(name_without_lanes(code)).or_default() += 1;
            if self.empty_masks == EmptyMasks::Drop {
                self.summary.dropped += 1;
                return;
            }
        }
        kernel.executions[id as usize] += 1;
        kernel.counts.warp_instructions += 1;
        kernel.counts.thread_instructions += u64::from(mask.count_ones());
        match (code.decoded.op, mode) {
            (Op::Memory { kind, space }, Some(mode)) => {
                self.summary.address_modes[mode as usize] += 1;
                self.memory(code, kind, space, mask, lanes, &kernel.header);
            }
            (Op::Memory { space, .. }, None) => {
                self.compute(class_without_addresses(space), code, mask);
            }
            // Predicated off for all lanes, a barrier or fence only takes its issue slot.
            (Op::Barrier | Op::Fence, _) if mask == 0 => {
                self.compute(OpClass::Control, code, mask);
            }
            (Op::Barrier, _) => {
                self.summary.barriers += 1;
                let barrier = Barrier::of_cta(barrier_id(code.immediate));
                self.warp.barrier(code.pc, barrier, mask);
            }
            (Op::Fence, _) => {
                self.summary.fences += 1;
                self.warp.fence(code.pc, mask);
            }
            (Op::Exit, _) => {
                self.summary.exits += 1;
                self.warp.exit(code.pc, mask);
            }
            (Op::AsyncCommit, _) => {
                self.copies.commit();
                self.compute(OpClass::Control, code, mask);
            }
            (Op::AsyncWait, _) => {
                let mut srcs = self.copies.wait(code.immediate);
                srcs.extend(&code.srcs);
                self.compute[OpClass::Control as usize] += 1;
                let registers = Registers { srcs: &srcs, ..code.registers() };
                self.warp.compute(OpClass::Control, mask, registers);
            }
            (Op::Compute(class), _) => self.compute(class, code, mask),
        }
    }

    fn compute(&mut self, class: OpClass, code: &Code, mask: u32) {
        self.compute[class as usize] += 1;
        self.warp.compute(class, mask, code.registers());
    }

    fn memory(
        &mut self,
        code: &Code,
        kind: Kind,
        space: Option<Space>,
        mask: u32,
        lanes: &[u64],
        header: &Header,
    ) {
        let (space, window) = space.map_or_else(|| resolve(lanes, header), |space| (space, 0));
        let mut moved;
        let lanes = match window {
            0 => lanes,
            _ => {
                moved = [0; WARP_SIZE];
                without_window(lanes, window, &mut moved)
            }
        };
        let decoded = &code.decoded;
        let (width, cache_op) = (decoded.width.into(), decoded.cache_op);
        let op = MemoryOp { kind, space, width, cache_op };
        let copy = (kind == Kind::AsyncCopy).then(|| [self.copies.start()]);
        let dests = copy.as_ref().map_or(&*code.dests, |copy| &copy[..]);
        let registers = Registers { dests, ..code.registers() };
        self.warp.memory(code.pc, op, mask, registers, lanes);
        self.summary.add_memory(kind, space, 1);
        if space == Space::Global {
            self.summary.global_sectors += sectors(lanes, width);
        }
    }
}

/// Returns the class name under which an instruction with no active lane is counted. A barrier or
/// fence is then control.
fn name_without_lanes(code: &Code) -> &'static str {
    match code.decoded.op {
        Op::Compute(class) => class.name(),
        Op::Memory { .. } if code.addressed => "memory",
        Op::Memory { space, .. } => class_without_addresses(space).name(),
        Op::Exit => "exit",
        Op::Barrier | Op::Fence | Op::AsyncCommit | Op::AsyncWait => OpClass::Control.name(),
    }
}

/// A constant load without addresses almost always hits its small cache and behaves like an integer
/// instruction; other accesses recorded without addresses cannot be replayed as memory.
fn class_without_addresses(space: Option<Space>) -> OpClass {
    match space {
        Some(Space::Constant) => OpClass::Integer,
        _ => OpClass::Other,
    }
}

/// Returns the barrier id. Hardware has 16 barriers; larger immediates are thread counts.
fn barrier_id(immediate: i64) -> u8 {
    u8::try_from(immediate).ok().filter(|&id| id < 16).unwrap_or(0)
}

/// Size of the windows that map shared and local memory into generic addresses, bytes.
const WINDOW: u64 = 16 << 20;

/// Returns the space of generic addresses, by the first active lane, and the window's base.
fn resolve(lanes: &[u64], header: &Header) -> (Space, u64) {
    let Some(&first) = lanes.first() else { return (Space::Global, 0) };
    let within = |base: &u64| first.checked_sub(*base).is_some_and(|offset| offset < WINDOW);
    if let Some(base) = header.shared_base.filter(within) {
        (Space::Shared, base)
    } else if let Some(base) = header.local_base.filter(within) {
        (Space::Local, base)
    } else {
        (Space::Global, 0)
    }
}

/// Converts to the addresses of `LDS` and `LDL`: offsets into the window.
fn without_window<'a>(lanes: &'a [u64], window: u64, moved: &'a mut [u64; WARP_SIZE]) -> &'a [u64] {
    for (moved, lane) in moved.iter_mut().zip(lanes) {
        *moved = lane.wrapping_sub(window);
    }
    &moved[..lanes.len()]
}

/// The outstanding async copies of a warp. Each is represented by a register that its copy writes
/// and the wait reads.
#[derive(Debug, Default)]
struct AsyncGroups {
    /// Copies issued, modulo the register numbers.
    started: u16,
    open: Vec<Reg>,
    closed: VecDeque<Vec<Reg>>,
}

impl AsyncGroups {
    /// Registers in rotation; beyond this number of outstanding copies the oldest are waited for
    /// early.
    const REGISTERS: u16 = 32 << 10;

    fn start(&mut self) -> Reg {
        let reg = Reg(FIRST_UNUSED + self.started);
        self.started = (self.started + 1) % AsyncGroups::REGISTERS;
        self.open.push(reg);
        reg
    }

    fn commit(&mut self) {
        self.closed.push_back(std::mem::take(&mut self.open));
    }

    /// Returns the copies that are complete when at most `groups` closed groups are outstanding.
    fn wait(&mut self, groups: i64) -> Vec<Reg> {
        let groups = usize::try_from(groups).unwrap_or(0);
        let arrived = self.closed.len().saturating_sub(groups);
        self.closed.drain(..arrived).flatten().collect()
    }

    fn clear(&mut self) {
        *self = AsyncGroups::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_addresses_belong_to_their_window() {
        let shared = 0x7f00_0200_0000;
        let local = 0x7f00_0000_0000;
        let header =
            Header { shared_base: Some(shared), local_base: Some(local), ..Header::default() };
        assert_eq!(resolve(&[shared + 4], &header), (Space::Shared, shared));
        assert_eq!(resolve(&[local + 4], &header), (Space::Local, local));
        assert_eq!(resolve(&[shared - 4], &header), (Space::Global, 0));
        assert_eq!(resolve(&[shared + WINDOW], &header), (Space::Global, 0));
        assert_eq!(resolve(&[local + 4], &Header::default()), (Space::Global, 0));
        assert_eq!(resolve(&[], &header), (Space::Global, 0));
        let mut moved = [0; WARP_SIZE];
        assert_eq!(without_window(&[shared + 4, shared], shared, &mut moved), [4, 0]);
    }

    #[test]
    fn a_wait_leaves_the_youngest_groups_outstanding() {
        let mut groups = AsyncGroups::default();
        let first = [groups.start(), groups.start()];
        groups.commit();
        let second = groups.start();
        groups.commit();
        let open = groups.start();
        assert_eq!(groups.wait(1), first);
        assert_eq!(groups.wait(1), []);
        assert_eq!(groups.wait(0), [second]);
        groups.commit();
        assert_eq!(groups.wait(0), [open]);
    }

    #[test]
    fn only_small_immediates_are_barrier_ids() {
        assert_eq!([0, 15, 16, 128, -1].map(barrier_id), [0, 15, 0, 0, 0]);
    }
}
