//! The instructions of a warp with the names of their registers, which the trace does not keep.

use std::ops::{Deref, DerefMut};

use warpmem_trace::{
    CtaBuilder, Dictionary, KernelInfo, MemoryOp, OpClass, Reg, Registers, TraceError, TraceSink,
    WarpAssembler as Assembler,
};

use crate::{Image, Launch, Limits, Run, TraceRecorder};

use super::Machine;

/// An instruction of a warp.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Class, destination registers, and source registers.
    Compute(OpClass, Vec<u16>, Vec<u16>),
    /// Operation, mask, addresses.
    Memory(MemoryOp, u32, Vec<u64>),
}

/// Assembler that also lists the compute and memory instructions of its warps.
#[derive(Default)]
pub struct WarpAssembler {
    assembler: Assembler,
    events: Vec<Event>,
}

impl WarpAssembler {
    pub fn compute(&mut self, class: OpClass, mask: u32, registers: Registers<'_>) {
        let numbers = |registers: &[Reg]| registers.iter().map(|register| register.0).collect();
        let [writes, reads] = [registers.dests, registers.srcs].map(numbers);
        self.events.push(Event::Compute(class, writes, reads));
        self.assembler.compute(class, mask, registers);
    }

    pub fn memory(
        &mut self,
        pc: u64,
        op: MemoryOp,
        mask: u32,
        registers: Registers<'_>,
        addresses: &[u64],
    ) {
        self.events.push(Event::Memory(op, mask, addresses.to_vec()));
        self.assembler.memory(pc, op, mask, registers, addresses);
    }

    pub fn rename(&mut self, registers: Registers<'_>) {
        self.assembler.rename(registers);
    }
}

impl Deref for WarpAssembler {
    type Target = Assembler;

    fn deref(&self) -> &Assembler {
        &self.assembler
    }
}

impl DerefMut for WarpAssembler {
    fn deref_mut(&mut self) -> &mut Assembler {
        &mut self.assembler
    }
}

/// Discards all records.
#[derive(Default)]
struct Nowhere(Dictionary);

impl TraceSink for Nowhere {
    fn begin_kernel(&mut self, _: KernelInfo) -> Result<(), TraceError> {
        Ok(())
    }

    fn dictionary(&mut self) -> &mut Dictionary {
        &mut self.0
    }

    fn cta(&mut self, _: &CtaBuilder) -> Result<(), TraceError> {
        Ok(())
    }

    fn end_kernel(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

/// Returns the instructions of the first warp in a launch of one CTA.
pub fn of_first_warp(machine: &mut Machine, text: &str, launch: &Launch) -> Vec<Event> {
    let module = warpmem_ptx::parse(text).unwrap();
    let image = Image::load(module, &mut machine.memory).unwrap();
    let mut sink = Nowhere::default();
    let mut recorder = TraceRecorder::begin(&mut sink, KernelInfo::default()).unwrap();
    let run = Run::new(&image, launch).unwrap();
    run.execute(&mut machine.memory, Some(&mut recorder), Limits::default(), &()).unwrap();
    std::mem::take(&mut recorder.spare[0].events)
}
