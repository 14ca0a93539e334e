//! Simplified view of the records of a launch.

use warpmem_trace::{
    Barrier, CacheOp, Kind, L2Policy, Mbarrier, MemoryOp, OpClass, Reg, Space, TraceError,
};

use crate::{Image, Launch, Limits, Operands, Recorder, Run, WarpRecorder};

use super::Machine;

/// An instruction of a warp.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Class, count, destination register of each instruction, and source registers.
    Compute(OpClass, u32, Vec<u16>, Vec<u16>),
    /// Kind, space, bytes per lane, mask, addresses.
    Memory(Kind, Space, u32, u32, Vec<u64>),
}

/// Keeps the compute and memory instructions of the first warp.
#[derive(Default)]
struct FirstWarp(Vec<Event>);

impl WarpRecorder for Vec<Event> {
    fn compute(&mut self, class: OpClass, count: u32, _: u32, operands: Operands<'_>) {
        let numbers = |registers: &[Reg]| registers.iter().map(|register| register.0).collect();
        let [writes, reads] = [operands.writes, operands.reads].map(numbers);
        self.push(Event::Compute(class, count, writes, reads));
    }

    fn memory(&mut self, _: u64, op: MemoryOp, mask: u32, _: Operands<'_>, addresses: &[u64]) {
        assert_eq!(op.cache_op, CacheOp::Default);
        self.push(Event::Memory(op.kind, op.space, op.width, mask, addresses.to_vec()));
    }

    fn barrier(&mut self, _: u64, _: Barrier, _: u32) {}
    fn barrier_arrive(&mut self, _: u64, _: Barrier, _: u32) {}
    fn fence(&mut self, _: u64, _: u32) {}
    fn cluster_arrive(&mut self, _: u64, _: u32) {}
    fn cluster_wait(&mut self, _: u64, _: u32) {}
    fn copied_to(&mut self, _: u16) {}
    fn exit(&mut self, _: u64, _: u32) {}
    fn wait_async(&mut self, _: usize) {}
    fn with_mbarrier(&mut self, _: Mbarrier) {}
    fn with_l2_policy(&mut self, _: L2Policy) {}
}

impl Recorder for FirstWarp {
    type Warp = Vec<Event>;

    fn begin_warp(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn end_cta(&mut self, _: u64, _: [u32; 3], warps: Vec<Vec<Event>>) -> Result<(), TraceError> {
        self.0 = warps.into_iter().next().unwrap_or_default();
        Ok(())
    }
}

/// Returns the instructions of the first warp in a launch's last CTA.
pub fn of_first_warp(machine: &mut Machine, text: &str, launch: &Launch) -> Vec<Event> {
    let module = warpmem_ptx::parse(text).unwrap();
    let image = Image::load(module, &mut machine.memory).unwrap();
    let mut recorder = FirstWarp::default();
    let run = Run::new(&image, launch).unwrap();
    run.execute(&mut machine.memory, &mut recorder, Limits::default(), &()).unwrap();
    recorder.0
}
