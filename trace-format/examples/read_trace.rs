//! Reads a trace and prints the bytes that the global loads of each kernel request.

use warpmem_trace::*;

fn main() -> Result<(), TraceError> {
    let path = std::env::args().nth(1).unwrap_or("saxpy.wmt".into());
    let trace = Trace::open(path.as_ref())?;
    for (number, kernel) in trace.kernels().iter().enumerate() {
        let instructions = trace.instructions(number)?;
        let mut bytes = 0;
        for chunk in kernel.chunks.clone() {
            let chunk = trace.chunk(number, chunk)?;
            for (place, cta) in chunk.ctas().iter().enumerate() {
                for warp in 0..cta.warps.len() {
                    let (mut warp, mut record) = (chunk.warp(place, warp), Record::new());
                    while warp.next(&mut record)? {
                        let instruction = &instructions[record.instruction.0 as usize];
                        if (instruction.kind, instruction.space) == (Kind::Load, Space::Global) {
                            let lanes = record.active_addresses().len() as u64;
                            bytes += lanes * u64::from(instruction.width);
                        }
                    }
                }
            }
        }
        eprintln!("{}: {bytes} bytes of global loads", kernel.info.name);
    }
    Ok(())
}
