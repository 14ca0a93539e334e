//! Writes `saxpy.wmt`: four CTAs of two warps, each computing y = a x + y for 32 elements.

use std::path::Path;
use warpmem_trace::*;

fn main() -> Result<(), TraceError> {
    let made_by = Provenance { tool: "my tracer 1.0".into(), ..Provenance::default() };
    let mut trace = TraceWriter::create(Path::new("saxpy.wmt"), made_by, WriterOptions::default())?;
    let (grid, block) = ([4, 1, 1], [64, 1, 1]);
    trace.begin_kernel(KernelInfo {
        name: "saxpy".into(),
        grid,
        block,
        ..KernelInfo::default()
    })?;
    let (mut cta, mut warp) = (CtaBuilder::new(), WarpAssembler::new());
    let (x, y, all) = (Reg(0), Reg(1), u32::MAX);
    for x_of_cta in 0..grid[0] {
        cta.begin([x_of_cta, 0, 0]);
        for number in 0..block[0] / 32 {
            cta.begin_warp(number);
            let element = |lane| u64::from(x_of_cta * block[0] + number * 32 + lane);
            let of_x: Vec<u64> = (0..32).map(|lane| 0x1000_0000 + 4 * element(lane)).collect();
            let of_y: Vec<u64> = (0..32).map(|lane| 0x2000_0000 + 4 * element(lane)).collect();
            // PC, operation, active lanes, registers written and read, an address per active lane.
            warp.memory(0x00, global(Kind::Load), all, Registers::new(&[x], &[]), &of_x);
            warp.memory(0x10, global(Kind::Load), all, Registers::new(&[y], &[]), &of_y);
            warp.compute(OpClass::Fp32, all, Registers::new(&[y], &[x, y]));
            warp.memory(0x30, global(Kind::Store), all, Registers::new(&[], &[y]), &of_y);
            warp.exit(0x40, all);
            warp.finish(trace.dictionary(), &mut cta);
        }
        trace.cta(&cta)?;
    }
    trace.end_kernel()?;
    trace.finish().map(|written| eprintln!("{} bytes", written.file_bytes))
}

fn global(kind: Kind) -> MemoryOp {
    MemoryOp { kind, space: Space::Global, width: 4, cache_op: CacheOp::Default }
}
