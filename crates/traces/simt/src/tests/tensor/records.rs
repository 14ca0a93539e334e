//! Trace records of tensor copies.

use warpmem_ptx::Type;
use warpmem_trace::{Instruction, Kind, Mbarrier, Record, Space};

use super::{Tensor, boxed_kernel, machine};
use crate::Limits;
use crate::tests::bulk::records;
use crate::tests::recorded_module;

/// Kind, bytes, and addresses relative to the tensor, of the accesses to global memory.
type Access = (Kind, u32, Vec<u64>);

fn recorded(tensor: &Tensor, code: &str) -> (Vec<Access>, Vec<(Instruction, Record)>) {
    recorded_of(1, tensor, code)
}

/// Returns the accesses of the first lanes of a warp.
fn recorded_of(
    lanes: u32,
    tensor: &Tensor,
    code: &str,
) -> (Vec<Access>, Vec<(Instruction, Record)>) {
    let code = format!(
        "setp.lt.u32 %p1, %r0, {lanes};\n@!%p1 bra END;\nmbarrier.init.shared.b64 [bar], 1;\n\
         mbarrier.init.shared.b64 [bar+8], 1;\n{code}\nEND: bar.warp.sync -1;"
    );
    let mut machine = machine(tensor, &[]);
    let launch = machine.launch(1, 32);
    let text = boxed_kernel(&code).replace("boxed[24576]", "boxed[196608]");
    let text = text.replace(".b64 bar;", ".b64 bar[2];");
    let (_, trace) = recorded_module(&mut machine, &text, &launch, Limits::default()).unwrap();
    let all = records(&trace).remove(0);
    let global = all.iter().filter(|(i, _)| i.space == Space::Global);
    let accesses = global.map(|(i, record)| {
        let count = record.mask.count_ones() as usize;
        assert_eq!(record.mask, u32::MAX.checked_shr(32 - count as u32).unwrap_or(0));
        let addresses = record.addresses[..count].iter().map(|at| at - machine.arrays[0]);
        (i.kind, i.width, addresses.collect())
    });
    (accesses.collect(), all)
}

/// Returns the accesses of a prefetch of the box, which needs no shared memory.
fn prefetched(tensor: &Tensor, coordinates: &[i32]) -> Vec<(u32, Vec<u64>)> {
    let rank = coordinates.len();
    let at = super::vector(coordinates);
    let code = format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global [%rd2, {at}];");
    let (accesses, _) = recorded(tensor, &code);
    assert!(accesses.iter().all(|access| access.0 == Kind::Prefetch));
    accesses.into_iter().map(|(_, width, addresses)| (width, addresses)).collect()
}

#[test]
fn each_row_is_a_lane() {
    let tensor = Tensor::new(Type::U32, [64, 100], [16, 3]);
    let rows = |first: u64, count: u64| (0..count).map(|row| first + 256 * row).collect::<Vec<_>>();
    assert_eq!(prefetched(&tensor, &[4, 2]), [(64, rows(528, 3))]);
    assert_eq!(prefetched(&tensor, &[4, 99]), [(64, rows(16 + 99 * 256, 1))], "rows of the tensor");
    assert_eq!(prefetched(&tensor, &[58, 0]), [(24, rows(232, 3))], "columns of the tensor");
    assert_eq!(prefetched(&tensor, &[-15, -1]), [(4, rows(0, 2))]);
    assert_eq!(prefetched(&tensor, &[64, 0]), [(16, vec![])], "nothing is copied");
    let many = Tensor::new(Type::U32, [64, 100], [16, 70]);
    let expected = [(64, rows(0, 32)), (64, rows(32 * 256, 32)), (64, rows(64 * 256, 6))];
    assert_eq!(prefetched(&many, &[0, 0]), expected);
    let apart = Tensor::new(Type::U32, [64, 100], [64, 6]).with_steps(&[1, 2]);
    assert_eq!(prefetched(&apart, &[0, 1]), [(256, vec![256, 768, 1280])]);
}

/// Three images of four rows of 64 bytes.
#[test]
fn contiguous_rows_are_merged() {
    let whole = Tensor::new(Type::U32, [16, 4, 3], [16, 4, 3]);
    assert_eq!(prefetched(&whole, &[0, 0, 0]), [(768, vec![0])]);
    assert_eq!(prefetched(&whole, &[0, 0, 1]), [(512, vec![256])]);
    assert_eq!(prefetched(&whole, &[0, 1, 0]), [(192, vec![64, 320, 576])], "rows 1 to 3 of each");
    assert_eq!(prefetched(&whole, &[1, 0, 0])[0].0, 60, "no row is complete");
    let mut padded = whole.clone();
    padded.axes[1].stride = 80;
    padded.axes[2].stride = 320;
    assert_eq!(prefetched(&padded, &[0, 0, 2]), [(64, vec![640, 720, 800, 880])]);
    // Rows of 1 KiB, of which 64 are the maximum bytes of a record's lane.
    let large = Tensor::new(Type::U32, [256, 160], [256, 160]);
    assert_eq!(prefetched(&large, &[0, 0]), [(65_536, vec![0, 65_536]), (32_768, vec![131_072])]);
}

#[test]
fn tensor_copies_record_like_bulk_copies() {
    let tensor = Tensor::new(Type::U32, [64, 100], [16, 2]);
    let (accesses, all) = recorded(
        &tensor,
        "mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], 128;\n\
         mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar+8], 128;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [boxed], [%rd2, {0, 0}], [bar];\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [boxed+128], [%rd2, {0, 2}], [bar+8];\n\
         mbarrier.test_wait.parity.shared.b64 %p2, [bar+8], 0;\nadd.u32 %r1, %r1, 1;\n\
         mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\nadd.u32 %r1, %r1, 1;\n\
         cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 4}], [boxed];\n\
         cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd2, {0, 6}], [boxed+128];\n\
         cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;",
    );
    let rows = |row: u64| vec![256 * row, 256 * row + 256];
    let expected = [
        (Kind::AsyncCopy, 64, rows(0)),
        (Kind::AsyncCopy, 64, rows(2)),
        (Kind::Store, 64, rows(4)),
        (Kind::Reduction, 64, rows(6)),
    ];
    assert_eq!(accesses, expected);
    let copies = all.iter().filter(|(i, _)| i.kind == Kind::AsyncCopy);
    let signals: Vec<_> = copies.filter_map(|(i, _)| i.mbarrier).collect();
    let [Mbarrier::Signal { offset: first }, Mbarrier::Signal { offset: second }] = signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!(second - first, 8);
}

/// CUTLASS stores with whole warps.
#[test]
fn identical_lanes_merge_stores_and_prefetches_but_not_reductions() {
    let tensor = Tensor::new(Type::U32, [64, 100], [16, 2]);
    let of = |lanes: u32, code: &str| {
        recorded_of(lanes, &tensor, &format!("sub.u64 %rd2, %rd2, %rd0;\n{code}")).0
    };
    let rows = |row: u64| vec![256 * row, 256 * row + 256];
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 4}], [boxed];";
    assert_eq!(of(32, store), [(Kind::Store, 64, rows(4))]);
    let prefetch =
        "and.b32 %r1, %r0, 1;\ncp.async.bulk.prefetch.tensor.2d.L2.global [%rd2, {0, %r1}];";
    let expected = [(Kind::Prefetch, 64, rows(0)), (Kind::Prefetch, 64, rows(1))];
    assert_eq!(of(5, prefetch), expected);
    let reduce =
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd2, {0, 6}], [boxed];";
    assert_eq!(of(3, reduce), vec![(Kind::Reduction, 64, rows(6)); 3]);
}

/// An instruction without active lanes is recorded too.
#[test]
fn copies_without_lanes_make_no_request() {
    let tensor = Tensor::new(Type::U32, [64], [16]);
    let code =
        "setp.ne.u32 %p4, %r0, 0;\n@%p4 cp.async.bulk.prefetch.tensor.1d.L2.global [%rd2, {0}];";
    assert_eq!(recorded(&tensor, code).0, [(Kind::Prefetch, 16, vec![])]);
}

/// The mbarrier expects the whole box, of which four columns and a row are outside the tensor.
#[test]
fn filled_bytes_count_as_arrived() {
    let tensor = Tensor::new(Type::U32, [12, 1], [16, 2]);
    let (accesses, all) = recorded(
        &tensor,
        "mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], 128;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [boxed], [%rd2, {0, 0}], [bar];\n\
         mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;",
    );
    assert_eq!(accesses, [(Kind::AsyncCopy, 48, vec![0])]);
    let changes: Vec<_> = all.iter().filter_map(|(i, _)| i.mbarrier).collect();
    let filled = Mbarrier::Arrive { arrivals: 0, bytes: -(128 - 48) };
    let wait = Mbarrier::Wait { parity: false };
    assert!(changes.ends_with(&[filled, wait]), "{changes:?}");
}
