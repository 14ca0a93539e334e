//! Trace records of map changes: the instructions that ptxas emits for them.

use warpmem_ptx::Type;
use warpmem_trace::{CacheOp, Kind, MemoryOp, OpClass, Space};

use super::super::{Tensor, boxed_kernel, machine};
use super::{ZERO, publish, replace};
use crate::tests::events::{Event, of_first_warp};

/// Records of a map change.
#[derive(Debug, PartialEq)]
enum Change {
    /// Integer instructions.
    Integers(u32),
    /// Kind, space, bytes per lane, mask, addresses.
    Access(Kind, Space, u32, u32, Vec<u64>),
}

use Change::{Access, Integers};

/// Returns the records of the last instruction, and the addresses of the second and third array.
fn changes_of_last(before: &str, last: &str) -> (Vec<Change>, [u64; 2]) {
    let run = |code: &str| {
        let mut machine = machine(&Tensor::new(Type::U32, [64, 64], [4, 2]), &[]);
        let launch = machine.launch(1, 32);
        let mut events = of_first_warp(&mut machine, &boxed_kernel(code), &launch);
        events.retain(
            |event| !matches!(event, Event::Compute(class, ..) if *class != OpClass::Integer),
        );
        (events, [machine.arrays[1], machine.arrays[2]])
    };
    let (without, arrays) = run(before);
    let (mut all, _) = run(&format!("{before}{last}"));
    (changes(all.split_off(without.len())), arrays)
}

/// Counts the integer instructions between accesses.
fn changes(events: Vec<Event>) -> Vec<Change> {
    let mut changes = Vec::new();
    for event in events {
        match (event, changes.last_mut()) {
            (Event::Compute(..), Some(Integers(count))) => *count += 1,
            (Event::Compute(..), _) => changes.push(Integers(1)),
            (Event::Memory(op, mask, addresses), _) => {
                let MemoryOp { kind, space, width, cache_op } = op;
                assert_eq!(cache_op, CacheOp::Default);
                changes.push(Access(kind, space, width, mask, addresses));
            }
        }
    }
    changes
}

/// Returns the records of replacing a field of a map in global memory by lane 0, relative to the map.
fn replacement(field: &str, operands: &str) -> Vec<Change> {
    let last = replace(field, (".global", "%rd2"), operands);
    let (mut changes, [map, _]) = changes_of_last("setp.eq.u32 %p1, %r0, 0;\n", &last);
    for change in &mut changes {
        if let Access(_, space, _, mask, addresses) = change {
            assert_eq!((*space, *mask, addresses.len()), (Space::Global, 1, 1), "{field}");
            addresses[0] -= map;
        }
    }
    changes
}

#[test]
fn replacements_record_the_loads_and_stores_of_their_words() {
    let access = |kind, bytes, at| Access(kind, Space::Global, bytes, 1, vec![at]);
    let load = |at| access(Kind::Load, 4, at);
    let store = |at| access(Kind::Store, 4, at);
    for (field, operands, expected) in [
        ("global_address", "4096", vec![access(Kind::Store, 8, 0)]),
        ("rank", "1", vec![load(8), Integers(2), store(8)]),
        ("box_dim", "0, 16", vec![load(0x34), Integers(3), store(0x34)]),
        ("box_dim", "4, 16", vec![load(0x38), Integers(3), store(0x38)]),
        ("global_dim", "0, 16", vec![Integers(1), store(0x20)]),
        ("global_dim", "4, 16", vec![Integers(1), store(0x30)]),
        ("global_stride", "0, 16", vec![load(0x1c), Integers(3), store(0xc), store(0x1c)]),
        ("global_stride", "3, 16", vec![load(0x1c), Integers(3), store(0x18), store(0x1c)]),
        ("element_stride", "4, 1", vec![load(0x34), Integers(3), store(0x34)]),
        ("elemtype", "2", vec![load(8), Integers(2), store(8)]),
        ("interleave_layout", "0", vec![load(8), Integers(2), store(8)]),
        ("swizzle_mode", "0", vec![load(8), Integers(2), store(8)]),
        ("swizzle_atomicity", "0", vec![load(8), Integers(2), store(8)]),
        ("fill_mode", "0", vec![load(8), Integers(2), store(8)]),
    ] {
        assert_eq!(replacement(field, operands), expected, "{field}");
    }
}

/// All lanes with one address, and no lane: predicated loads and stores.
#[test]
fn replacements_record_their_active_lanes() {
    let code = |predicate: &str| {
        format!("{predicate}tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [boxed], 1, 3;")
    };
    let before = format!("{ZERO}setp.eq.u32 %p1, %r0, 32;\nst.shared.u32 [boxed], 0;\n");
    let (all, _) = changes_of_last(&before, &code(""));
    let store = |mask, addresses| Access(Kind::Store, Space::Shared, 4, mask, addresses);
    assert_eq!(all, [Integers(1), store(u32::MAX, vec![0x24; 32])]);
    let (none, _) = changes_of_last(&before, &code("@%p1 "));
    assert_eq!(none, [Integers(1), store(0, vec![])]);
}

#[test]
fn publishing_records_a_load_and_an_exchange_per_lane() {
    let code = publish("%rd3");
    let (subtract, copy) = code.split_at(code.find("tensormap").unwrap());
    let (copy, _) = copy.split_at(copy.find("fence.proxy").unwrap());
    let (changes, [_, to]) = changes_of_last(&format!("{ZERO}{subtract}"), copy);
    let words = |kind, space, first: u64| {
        Access(kind, space, 4, u32::MAX, (0..32).map(|lane| first + 4 * lane).collect())
    };
    let expected = [
        Integers(4),
        words(Kind::Load, Space::Shared, 16384),
        words(Kind::Atomic, Space::Global, to),
    ];
    assert_eq!(changes, expected);
}

/// ptxas emits a branch around it.
#[test]
fn copies_without_lanes_record_nothing() {
    let code = publish("%rd3").replace("tensormap.cp", "@%p1 tensormap.cp");
    let before = "setp.eq.u32 %p1, %r0, 32;\nsub.u64 %rd41, %rd3, %rd0;\n";
    let (_, copy) = code.split_at(code.find("@%p1").unwrap());
    let (copy, _) = copy.split_at(copy.find("fence.proxy").unwrap());
    assert_eq!(changes_of_last(before, copy).0, []);
}
