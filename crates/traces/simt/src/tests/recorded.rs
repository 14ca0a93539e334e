//! Trace records of a kernel.

use warpmem_trace::{Barrier, Kind, Record, Space, Trace};

use super::{Machine, recorded};
use crate::{AddressMode, Filter, Limits, ReadMode, TexelFormat, TexelKind, Texture};

/// One record: kind, space, width, mask, addresses relative to the arrays.
pub(super) type Access = (Kind, Space, u32, u32, Vec<u64>);

fn trace_of(code: &str, grid: u32, block: u32) -> Vec<(u32, Vec<Access>)> {
    trace_in(&mut Machine::new(256), code, grid, block)
}

pub(super) fn trace_in(
    machine: &mut Machine,
    code: &str,
    grid: u32,
    block: u32,
) -> Vec<(u32, Vec<Access>)> {
    let launch = machine.launch(grid, block);
    let (_, bytes) = recorded(machine, code, &launch, Limits::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.wmt");
    std::fs::write(&path, bytes).unwrap();
    read(&Trace::open(&path).unwrap(), machine.arrays[0])
}

/// Returns each warp in order: its number in the CTA, and its records.
fn read(trace: &Trace, base: u64) -> Vec<(u32, Vec<Access>)> {
    let instructions = trace.instructions(0).unwrap();
    let mut warps = Vec::new();
    for number in trace.kernels()[0].chunks.clone() {
        let chunk = trace.chunk(0, number).unwrap();
        for (cta, entry) in chunk.ctas().iter().enumerate() {
            for (at, warp) in entry.warps.iter().enumerate() {
                let mut cursor = chunk.warp(cta, at);
                let (mut record, mut accesses) = (Record::new(), Vec::new());
                while cursor.next(&mut record).unwrap() {
                    let i = &instructions[record.instruction.0 as usize];
                    let relative = |&address: &u64| {
                        if i.space == Space::Global { address - base } else { address }
                    };
                    let addresses = record.active_addresses().iter().map(relative).collect();
                    accesses.push((i.kind, i.space, i.width, record.mask, addresses));
                }
                warps.push((warp.warp_in_cta, accesses));
            }
        }
    }
    warps
}

#[test]
fn every_access_is_recorded() {
    let warps = trace_of(
        "setp.lt.u32 %p1, %r0, 40;\n@%p1 ld.global.u32 %r1, [%rd1+4];\nst.shared.u32 [tile+8], %r1;\nbar.sync 0;\nred.global.add.u32 [%rd1], 1;",
        2,
        64,
    );
    assert_eq!(warps.len(), 4);
    assert_eq!(warps.iter().map(|warp| warp.0).collect::<Vec<_>>(), [0, 1, 0, 1]);
    let of =
        |kind: Kind, warp: usize| warps[warp].1.iter().find(|access| access.0 == kind).unwrap();
    let (_, space, width, mask, addresses) = of(Kind::Load, 1);
    assert_eq!((*space, *width, *mask), (Space::Global, 4, 0xff));
    assert_eq!(*addresses, (32..40).map(|t| 8 * t + 4).collect::<Vec<_>>());
    let (_, space, _, mask, addresses) = of(Kind::Store, 0);
    assert_eq!((*space, *mask, addresses[0]), (Space::Shared, u32::MAX, 8));
    assert_eq!(of(Kind::Barrier, 0).3, u32::MAX);
    assert_eq!(of(Kind::Reduction, 3).4.len(), 32);
    assert_eq!(of(Kind::Exit, 2).3, u32::MAX);
    assert_eq!(warps[0], warps[2], "both CTAs have the same records");
}

#[test]
fn parameters_are_not_accesses() {
    let warps = trace_of("", 1, 32);
    assert_eq!(warps[0].1.iter().map(|access| access.0).collect::<Vec<_>>(), [Kind::Exit]);
}

#[test]
fn local_memory_is_interleaved_by_lane() {
    let warps = trace_of(".local .align 4 .b8 depot[16];\nst.local.u32 [depot+4], %r0;", 1, 64);
    let address = |warp: usize, lane: usize| warps[warp].1[0].4[lane];
    assert_eq!(warps[0].1[0].1, Space::Local);
    assert_eq!(address(0, 1) - address(0, 0), 4);
    assert_ne!(address(1, 0), address(0, 0));
}

#[test]
fn fetches_load_their_first_texel() {
    let mut machine = Machine::new(256);
    let address = machine.memory.allocate(4096).unwrap();
    let texture = Texture {
        address,
        width: 16,
        height: 16,
        pitch: 256,
        format: TexelFormat { kind: TexelKind::Float, bits: 32, channels: 4 },
        read: ReadMode::Element,
        filter: Filter::Point,
        address_modes: [AddressMode::Border; 2],
        normalised: false,
    };
    let code = |texture: u64| {
        format!(
            "mov.u64 %rd4, {texture};\ncvt.rn.f32.u32 %f1, %r0;\n\
             tex.2d.v4.f32.f32 {{%f2, %f3, %f4, %f5}}, [%rd4, {{%f1, %f1}}];"
        )
    };
    let point = machine.memory.create_texture(texture).unwrap();
    let linear = Texture { filter: Filter::Linear, ..texture };
    let linear = machine.memory.create_texture(linear).unwrap();
    let warps = trace_in(&mut machine, &code(point), 1, 32);
    let (kind, space, width, mask, addresses) = &warps[0].1[0];
    assert_eq!((*kind, *space, *width, *mask), (Kind::Load, Space::Texture, 16, 0xffff));
    assert_eq!(*addresses, (0..16).map(|t| address + 272 * t).collect::<Vec<_>>());
    let warps = trace_in(&mut machine, &code(linear), 1, 32);
    let (_, _, _, mask, addresses) = &warps[0].1[0];
    assert_eq!((*mask, warps[0].1.len()), (0x1_ffff, 2), "the last touches the texture's corner");
    assert_eq!(addresses[..3], [address, address, address + 272]);
}

#[test]
fn mbarriers_are_words_of_shared_memory() {
    let warps = trace_of(
        "mbarrier.init.shared.b64 [tile+8], 32;\nmbarrier.arrive.shared.b64 %rd4, [tile+8];\n\
         mbarrier.arrive.shared.b64 _, [tile+8], 1;\nmbarrier.test_wait.shared.b64 %p1, [tile+8], %rd4;",
        1,
        1,
    );
    let accesses = &warps[0].1[..3];
    let kinds: Vec<Kind> = accesses.iter().map(|access| access.0).collect();
    // The wait fails: it is not an access.
    assert_eq!(warps[0].1.len(), 4, "and the exit");
    assert_eq!(kinds, [Kind::Store, Kind::Atomic, Kind::Reduction]);
    assert!(accesses.iter().all(|a| (a.1, a.2, &a.4[..]) == (Space::Shared, 8, &[8][..])));
}

/// The producer of two consumers arrives at a barrier and continues.
#[test]
fn barriers_and_arrivals_record_their_warp_count() {
    let code = "setp.ge.u32 %p1, %r0, 64;\n@%p1 bra PRODUCER;\nbar.sync 1, 96;\nbra END;\n\
                PRODUCER: bar.arrive 1, 96;\nEND: bar.sync 0;\nbarrier.sync 2, 96;";
    let (wait, arrive) = (Kind::Barrier, Kind::BarrierArrive);
    let mut machine = Machine::new(256);
    let launch = machine.launch(1, 96);
    let (_, bytes) = recorded(&mut machine, code, &launch, Limits::default()).unwrap();
    let trace = Trace::from_bytes("k.wmt", bytes).unwrap();
    let instructions = trace.instructions(0).unwrap();
    let at_barriers = instructions.iter().filter_map(|one| Some((one.kind, one.barrier?)));
    let mut said: Vec<(Kind, Barrier)> = at_barriers.collect();
    said.sort_by_key(|&(kind, barrier)| (barrier.id, kind == arrive));
    said.dedup();
    let of = Barrier::of_warps;
    let expected =
        [(wait, Barrier::of_cta(0)), (wait, of(1, 3)), (arrive, of(1, 3)), (wait, of(2, 3))];
    assert_eq!(said, expected);
    let kinds: Vec<Vec<Kind>> = read(&trace, machine.arrays[0])
        .into_iter()
        .map(|(_, records)| records.into_iter().map(|record| record.0).collect())
        .collect();
    let exit = Kind::Exit;
    assert_eq!(kinds[..2], [[wait, wait, wait, exit], [wait, wait, wait, exit]]);
    assert_eq!(kinds[2], [arrive, wait, wait, exit]);
}

#[test]
fn barriers_require_whole_warps() {
    for (threads, reason) in [
        (0, "a barrier for 0 threads"),
        (48, "a barrier for 48 threads, which is not a multiple of 32"),
        (1056, "a barrier for 1056 threads: a CTA has at most 1024"),
    ] {
        let mut machine = Machine::new(32);
        let (code, launch) = (format!("bar.arrive 1, {threads};"), machine.launch(1, 32));
        let error = recorded(&mut machine, &code, &launch, Limits::default()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn atomics_with_unused_results_are_reductions() {
    let kinds = |code: &str| -> Vec<Kind> {
        let warps = trace_of(code, 1, 32);
        let global = warps[0].1.iter().filter(|(_, space, ..)| *space == Space::Global);
        global.map(|(kind, ..)| *kind).collect()
    };
    let add = "atom.global.add.u32 %r2, [%rd1], 1;\n";
    assert_eq!(kinds(add), [Kind::Reduction]);
    assert_eq!(kinds(&format!("{add}st.global.u32 [%rd3], %r2;\n")), [Kind::Atomic, Kind::Store]);
    let exchange = "atom.global.exch.b32 %r2, [%rd1], 1;\n";
    assert_eq!(kinds(exchange), [Kind::Atomic], "there is no reduction that exchanges");
}

#[test]
fn vector_atomics_are_one_access() {
    let code = "add.u64 %rd1, %rd1, %rd0;\nmov.f32 %f1, 0f3f800000;\n\
                red.global.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};";
    let warps = trace_of(code, 1, 32);
    let (kind, space, width, mask, addresses) = &warps[0].1[0];
    assert_eq!((*kind, *space, *width, *mask), (Kind::Reduction, Space::Global, 16, u32::MAX));
    assert_eq!(*addresses, (0..32).map(|t| 16 * t).collect::<Vec<_>>());
    assert_eq!(warps[0].1.len(), 2, "and the exit");
}
