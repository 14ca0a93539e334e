//! Writes gathered kernels to the trace.

use std::path::Path;

use warpmem_trace::{
    CtaBuilder, KernelInfo, Kind, OpClass, Registers, Space, TraceWriter, WARP_SIZE, WarpAssembler,
};

use super::rows::{CtaRows, Rows, Steps};
use super::{Action, Assumptions, Code, CodeRegisters, Launch, MOST_WARPS};
use crate::error::ImportError;
use crate::sass::opcode::base_name;
use crate::sectors::sectors;
use crate::summary::{ImportSummary, KernelCounts};

/// Writes gathered kernels one by one.
pub struct Assembler {
    assumptions: Assumptions,
    warp: WarpAssembler,
    cta: CtaBuilder,
    pub summary: ImportSummary,
    assumed: Assumed,
}

/// Counts of assumptions about missing input.
#[derive(Default)]
struct Assumed {
    /// Instructions without a PC.
    pcs: u64,
    /// Loads and atomics without registers.
    uses: u64,
    /// Warps without an exit at their end.
    exits: u64,
    /// Kernels without a block size.
    blocks: u64,
    /// Kernels with fewer CTAs than their grid.
    partial: u64,
    /// Kernels with renumbered warps.
    renumbered: u64,
    highest_warp: u32,
}

/// Bytes between the assigned PCs of two codes without one.
const PC_STEP: u64 = 16;

impl Assembler {
    pub fn new(assumptions: Assumptions) -> Assembler {
        Assembler {
            assumptions,
            warp: WarpAssembler::new(),
            cta: CtaBuilder::new(),
            summary: ImportSummary::default(),
            assumed: Assumed::default(),
        }
    }

    /// Writes a kernel read from `path`, its `number`th, from 1.
    pub fn kernel(
        &mut self,
        writer: &mut TraceWriter,
        (path, number): (&Path, usize),
        launch: Launch,
        rows: Rows,
    ) -> Result<(), ImportError> {
        let (ctas, codes) = rows.into_ctas();
        let numbering = self.numbering(path, &launch, &ctas)?;
        let is_partial = launch.grid.is_some_and(|grid| (ctas.len() as u64) < product(grid));
        self.assumed.partial += u64::from(is_partial);
        writer.begin_kernel(KernelInfo {
            name: launch.name.clone(),
            stream: launch.stream,
            grid: launch.grid.unwrap_or_default(),
            block: numbering.block,
            registers_per_thread: launch.registers,
            shared_bytes: launch.shared_bytes,
            sm_version: 0,
            cluster: None,
        })?;
        let counts = KernelCounts {
            number: number as u64,
            name: launch.name,
            file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            ..KernelCounts::default()
        };
        let mut kernel = OpenKernel { executions: vec![0; codes.len()], codes, counts };
        for cta in ctas {
            self.cta.begin(cta.block);
            for (place, (&number, steps)) in cta.warps.iter().enumerate() {
                let number = if numbering.is_new { place as u32 } else { number };
                self.cta.begin_warp(number);
                self.steps(steps, &mut kernel);
                self.warp.finish(writer.dictionary(), &mut self.cta);
            }
            kernel.counts.warps += cta.warps.len() as u64;
            kernel.counts.ctas += 1;
            writer.cta(&self.cta)?;
        }
        writer.end_kernel()?;
        self.count(kernel);
        Ok(())
    }

    /// Returns the summary, with a note on each assumption.
    pub fn finish(mut self) -> ImportSummary {
        let notes = self.assumed.notes(self.assumptions);
        self.summary.notes.splice(0..0, notes);
        self.summary
    }

    /// Returns the block size, and whether warps need new numbers to lie within it.
    fn numbering(
        &mut self,
        path: &Path,
        launch: &Launch,
        ctas: &[CtaRows],
    ) -> Result<Numbering, ImportError> {
        let warps_of = |block| product(block).div_ceil(WARP_SIZE as u64) as usize;
        let most = launch.block.map_or(MOST_WARPS, warps_of);
        if let Some(cta) = ctas.iter().find(|cta| cta.warps.len() > most) {
            let ([x, y, z], warps) = (cta.block, cta.warps.len());
            let what = format!(
                "CTA ({x}, {y}, {z}) of {} has {warps} warps; {most} are the most: does the input \
                 tell the CTA of each row, and are its warps those of one launch?",
                launch.name
            );
            return Err(ImportError::file(path, what));
        }
        let numbers = ctas.iter().flat_map(|cta| cta.warps.keys());
        let highest = numbers.copied().max().unwrap_or(0);
        let is_new = highest as usize >= most;
        if is_new {
            self.assumed.renumbered += 1;
            self.assumed.highest_warp = self.assumed.highest_warp.max(highest);
        }
        let block = launch.block.unwrap_or_else(|| {
            self.assumed.blocks += 1;
            let fullest = ctas.iter().map(|cta| cta.warps.len() as u32).max().unwrap_or(1);
            let warps = if is_new { fullest } else { highest + 1 };
            [warps * WARP_SIZE as u32, 1, 1]
        });
        Ok(Numbering { block, is_new })
    }

    /// Assembles the instructions of a warp.
    fn steps(&mut self, bytes: &[u8], kernel: &mut OpenKernel) {
        let OpenKernel { codes, executions, counts } = kernel;
        let mut steps = Steps::new(bytes);
        let (mut lanes_seen, mut has_exited, mut last_pc) = (0, false, 0);
        let mut buffer = [0; WARP_SIZE];
        while let Some((id, mask, addresses)) = steps.next(codes, &mut buffer) {
            let code = &codes[id];
            executions[id] += 1;
            last_pc = code.pc.unwrap_or_else(|| {
                self.assumed.pcs += 1;
                PC_STEP * id as u64
            });
            self.step(code, last_pc, mask, addresses, counts);
            lanes_seen |= mask;
            has_exited = code.action == Action::Exit;
        }
        if !has_exited {
            self.assumed.exits += 1;
            let mask = if lanes_seen == 0 { u32::MAX } else { lanes_seen };
            self.exit(last_pc.wrapping_add(PC_STEP), mask, counts);
        }
    }

    fn step(
        &mut self,
        code: &Code,
        pc: u64,
        mask: u32,
        addresses: &[u64],
        counts: &mut KernelCounts,
    ) {
        match code.action {
            Action::Memory(_) => self.memory(code, pc, mask, addresses, counts),
            Action::Compute { class, count } => {
                let registers = CodeRegisters::of(code.registers.as_ref());
                self.compute(class, count, mask, registers, counts);
            }
            Action::Barrier(barrier) => {
                self.summary.barriers += 1;
                add(counts, 1, mask);
                self.warp.barrier(pc, barrier, mask);
            }
            Action::BarrierArrive(barrier) => {
                add(counts, 1, mask);
                self.warp.barrier_arrive(pc, barrier, mask);
            }
            Action::Fence => {
                self.summary.fences += 1;
                add(counts, 1, mask);
                self.warp.fence(pc, mask);
            }
            Action::Exit => self.exit(pc, mask, counts),
        }
    }

    fn memory(
        &mut self,
        code: &Code,
        pc: u64,
        mask: u32,
        addresses: &[u64],
        counts: &mut KernelCounts,
    ) {
        let Action::Memory(op) = code.action else { return };
        self.compute(OpClass::Integer, self.assumptions.gap, mask, CodeRegisters::of(None), counts);
        add(counts, 1, mask);
        self.summary.add_memory(op.kind, op.space, 1);
        if mask == 0 {
            *self.summary.without_lanes.entry("memory").or_default() += 1;
        }
        if op.space == Space::Global {
            self.summary.global_sectors += sectors(addresses, op.width);
        }
        let registers = CodeRegisters::of(code.registers.as_ref());
        self.warp.memory(pc, op, mask, registers, addresses);
        code.l2_policy.into_iter().for_each(|policy| self.warp.with_l2_policy(policy));
        if code.registers.is_none() && matches!(op.kind, Kind::Load | Kind::Atomic) {
            self.assumed.uses += 1;
            self.assumptions.use_distance.into_iter().for_each(|n| self.warp.used_after(n));
        }
    }

    fn compute(
        &mut self,
        class: OpClass,
        count: u32,
        mask: u32,
        registers: Registers<'_>,
        counts: &mut KernelCounts,
    ) {
        self.summary.add_compute(class, count.into());
        add(counts, count.into(), mask);
        (0..count).for_each(|_| self.warp.compute(class, mask, registers));
    }

    fn exit(&mut self, pc: u64, mask: u32, counts: &mut KernelCounts) {
        self.summary.exits += 1;
        add(counts, 1, mask);
        self.warp.exit(pc, mask);
    }

    fn count(&mut self, OpenKernel { codes, executions, counts }: OpenKernel) {
        let summary = &mut self.summary;
        for (code, executions) in codes.iter().zip(executions) {
            let name = base_name(&code.opcode).to_owned();
            *summary.opcodes.entry(name).or_default() += executions * code.action.instructions();
        }
        summary.ctas += counts.ctas;
        summary.warps += counts.warps;
        summary.warp_instructions += counts.warp_instructions;
        summary.thread_instructions += counts.thread_instructions;
        summary.kernels.push(counts);
    }
}

/// Returns the CTAs of a grid or the threads of a block; saturates.
fn product(size: [u32; 3]) -> u64 {
    size.iter().fold(1, |all: u64, &n| all.saturating_mul(n.into()))
}

/// A kernel that is being written.
struct OpenKernel {
    codes: Vec<Code>,
    /// Executions of each code.
    executions: Vec<u64>,
    counts: KernelCounts,
}

/// The warps of a kernel's CTAs.
struct Numbering {
    block: [u32; 3],
    /// Whether warps are renumbered from 0 in the order of their numbers.
    is_new: bool,
}

fn add(counts: &mut KernelCounts, instructions: u64, mask: u32) {
    counts.warp_instructions += instructions;
    counts.thread_instructions += instructions * u64::from(mask.count_ones());
}

impl Assumed {
    fn notes(&self, Assumptions { use_distance, gap }: Assumptions) -> Vec<String> {
        let used = match use_distance {
            None => "each is never waited for".to_owned(),
            Some(0) => "each is waited for by its warp's next instruction".to_owned(),
            Some(n) => format!("each is waited for after {n} more instructions of its warp"),
        };
        let renumbered = format!(
            "they go up to {}, as if the hardware had numbered them; each CTA's are numbered from 0 in \
             their order",
            self.highest_warp
        );
        let gap = (gap > 0)
            .then(|| format!("integer instructions before each memory instruction (--gap): {gap}"));
        let counted = [
            (self.uses, "loads and atomics without registers", used + " (--use-distance)"),
            (
                self.pcs,
                "instructions without a PC",
                format!(
                    "those of a kernel that do the same share one, {PC_STEP} bytes from the next"
                ),
            ),
            (self.exits, "warps without an exit", "each exits after its last instruction".into()),
            (
                self.blocks,
                "kernels without a block size",
                "32 threads for each of a CTA's warps".into(),
            ),
            (
                self.partial,
                "kernels with fewer CTAs than their grid",
                "the CTAs that the input tells".into(),
            ),
            (self.renumbered, "kernels whose warp numbers are beyond the block's", renumbered),
        ];
        let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
        gap.into_iter()
            .chain(counted.map(|(count, what, instead)| format!("{what}: {count}; {instead}")))
            .collect()
    }
}
