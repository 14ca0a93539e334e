//! Trace records of warpgroup products.

use warpmem_trace::OpClass;

use super::layout::Layout;
use super::{Product, THREADS};
use crate::tests::events::{Event, of_first_warp};

/// An instruction: class, destination registers, source registers.
type Compute = (OpClass, Vec<u16>, Vec<u16>);

/// Returns an instruction, unless it accesses memory.
fn compute(event: Event) -> Option<Compute> {
    match event {
        Event::Compute(class, writes, reads) => Some((class, writes, reads)),
        Event::Memory(..) => None,
    }
}

/// Returns the tensor instructions of the first warp, and the number of control instructions around them.
fn recorded(product: &Product, text: &str) -> (Vec<Compute>, usize) {
    let mut machine = product.machine(&product.shared());
    let launch = machine.launch(1, THREADS as u32);
    let events = of_first_warp(&mut machine, text, &launch);
    let all: Vec<Compute> = events.into_iter().filter_map(compute).collect();
    let is_tensor = |compute: &Compute| compute.0 == OpClass::Tensor;
    let first = all.iter().position(is_tensor).unwrap();
    let last = all.iter().rposition(is_tensor).unwrap();
    let tensor = all[first..=last].to_vec();
    assert!(tensor.iter().all(is_tensor), "no instruction is in between");
    let around = [&all[first - 1], &all[last + 1], &all[last + 2]];
    let control = around.into_iter().filter(|compute| compute.0 == OpClass::Control);
    (tensor, control.count())
}

fn of(product: &Product) -> Vec<Compute> {
    let (tensor, control) = recorded(product, &product.kernel("", ""));
    assert_eq!(control, 3, "the fence, the commit and the wait");
    tensor
}

/// Returns the source registers of a part other than those of D.
fn others((_, writes, reads): &Compute) -> Vec<u16> {
    reads.iter().copied().filter(|register| !writes.contains(register)).collect()
}

/// 8 columns are one instruction, like an `mma` of 16 rows and 8 columns.
#[test]
fn eight_columns_are_one_instruction_for_every_type() {
    for (d, a, b, registers) in [
        ("f32", "f16", "f16", 4),
        ("f16", "f16", "f16", 2),
        ("f32", "tf32", "tf32", 4),
        ("f32", "e4m3", "e5m2", 4),
        ("f16", "e5m2", "e5m2", 2),
        ("s32", "u8", "s8", 4),
    ] {
        for n in [8, 48, 256] {
            let parts = of(&Product::new(n, d, a, b));
            assert_eq!(parts.len(), n / 8);
            let first = parts[0].1[0];
            let written: Vec<u16> = parts.iter().flat_map(|part| part.1.clone()).collect();
            let all: Vec<u16> = (first..first + (n / 8 * registers) as u16).collect();
            assert_eq!(written, all, "each its own registers of D");
            assert!(parts.iter().all(|part| part.1.len() == registers));
            assert!(
                parts.iter().all(|(_, writes, reads)| writes.iter().all(|it| reads.contains(it)))
            );
        }
    }
}

#[test]
fn d_is_read_only_if_added() {
    for (scale_of_d, is_added) in [("%p4", true), ("%p5", false), ("1", true), ("0", false)] {
        let parts = of(&Product { scale_of_d, ..Product::new(32, "f32", "f16", "f16") });
        for (_, writes, reads) in &parts {
            let read = writes.iter().filter(|register| reads.contains(register)).count();
            assert_eq!(read, if is_added { 4 } else { 0 }, "{scale_of_d}");
        }
    }
}

/// All parts read A's registers; the first waits for the predicate, and the others issue
/// after it.
#[test]
fn all_parts_read_a_and_the_first_reads_the_rest() {
    let shared = of(&Product::new(32, "f32", "f16", "f16"));
    let counts: Vec<usize> = shared.iter().map(|part| others(part).len()).collect();
    assert_eq!(counts, [1, 0, 0, 0], "a predicate: the descriptors are constants");
    let b = Layout::packed(false, 0, 0x4000);
    let parts = of(&Product::new(32, "f32", "f16", "f16").with_layouts(None, b));
    let a = others(&parts[1]);
    assert_eq!(a.len(), 4);
    assert!(parts[2..].iter().all(|part| others(part) == a));
    assert_eq!(others(&parts[0])[..4], a);
    assert_eq!(others(&parts[0]).len(), 5, "A and a predicate");
}

/// In a function, registers have other numbers, and D has more of them than other instructions.
#[test]
fn products_in_functions_record_all_registers() {
    let product = Product { scale_of_d: "1", ..Product::new(256, "f32", "f16", "f16") };
    let function = format!(
        ".func product(.param .b64 a, .param .b64 b) {{\n.reg .b32 %d<128>;\n.reg .b64 %q<2>;\n\
         ld.param.u64 %q0, [a];\nld.param.u64 %q1, [b];\nwgmma.fence.sync.aligned;\n{}\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nret;\n}}\n",
        product.instruction()
    );
    let call = "{ .param .b64 x; .param .b64 y; st.param.b64 [x], %q0; st.param.b64 [y], %q1;\n\
                call product, (x, y); }\n";
    let text = product.kernel("", "").replace(&product.instruction(), call);
    let text = text
        .replace("wgmma.fence.sync.aligned;\n", "")
        .replace("wgmma.commit_group.sync.aligned;\n", "");
    let text = text.replace(".visible .entry", &format!("{function}.visible .entry"));
    let (parts, _) = recorded(&product, &text);
    let inside = of(&product);
    assert_eq!(parts.len(), 32);
    let below = parts[0].1[0] - inside[0].1[0];
    assert!(below > 0);
    let written: Vec<u16> = parts.iter().flat_map(|part| part.1.clone()).collect();
    assert_eq!(written, (parts[0].1[0]..parts[0].1[0] + 128).collect::<Vec<_>>());
}
