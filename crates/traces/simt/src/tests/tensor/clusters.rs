//! Tensor copies in clusters.

use warpmem_ptx::Type;
use warpmem_trace::{Kind, Trace};

use super::{Tensor, boxed_kernel, bytes_of, machine};
use crate::tests::coverage::{note_all, tests};
use crate::tests::recorded_module;
use crate::{Launch, LaunchError, Limits};

tests!(a_box_goes_to_the_same_place_of_several_ctas);

/// Runs four CTAs, of which rank 1 loads a box of 32 words to the addresses and CTAs of the operands; returns
/// the first word of each CTA's box, and the destinations of the copies. The next CTA's box and mbarrier are
/// at %r5 and %r6, and `expects` selects the CTAs that wait for the load.
fn boxes(
    variant: &str,
    operands: [&str; 3],
    expects: u32,
) -> Result<(Vec<u64>, Vec<u16>), LaunchError> {
    let tensor = Tensor::new(Type::U32, [32, 4], [32, 1]);
    let values = bytes_of((0..128u32).map(|at| (at + 7).to_le_bytes()));
    let [to, mbarrier, mask] = operands;
    let code = format!(
        "mov.u32 %r1, %cluster_ctarank;\nadd.u32 %r2, %r1, 1;\nmov.u16 %h1, 13;\n\
         mapa.shared::cluster.u32 %r5, boxed, %r2;\nmapa.shared::cluster.u32 %r6, bar, %r2;\n\
         st.shared.u64 [boxed], 0;\nmbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r3, {expects};\n\
         shr.u32 %r3, %r3, %r1;\nand.b32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, 1;\n\
         @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], 128;\n\
         barrier.cluster.arrive;\nbarrier.cluster.wait;\nsetp.eq.u32 %p2, %r1, 1;\n\
         @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes{variant} \
         [{to}], [%rd2, {{0, 2}}], [{mbarrier}]{mask};\n@!%p1 bra DONE;\n\
         WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra WAIT;\nDONE:\n\
         ld.shared.u32 %r4, [boxed];\nmul.wide.u32 %rd5, %r1, 8;\nadd.u64 %rd3, %rd3, %rd5;\n\
         st.global.u32 [%rd3], %r4;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"
    );
    let mut machine = machine(&tensor, &values);
    let launch = Launch { cluster: Some([4, 1, 1]), ..machine.launch(4, 1) };
    let text = boxed_kernel(&code);
    note_all(&text);
    let (_, bytes) = recorded_module(&mut machine, &text, &launch, Limits::default())?;
    let trace = Trace::from_bytes("k.wmt", bytes).unwrap();
    let instructions = trace.instructions(0).unwrap();
    let copies = instructions.iter().filter(|i| i.kind == Kind::AsyncCopy);
    // The copies of the other CTAs have no lanes, and no destinations.
    let destinations = copies.map(|i| i.destinations).filter(|&ctas| ctas != 0).collect();
    Ok((machine.get(2)[..4].to_vec(), destinations))
}

/// The element at the start of the third row.
const FIRST: u64 = 2 * 32 + 7;

#[test]
pub(super) fn a_box_goes_to_the_same_place_of_several_ctas() {
    let own = boxes("", ["boxed", "bar", ""], 0b10).unwrap();
    assert_eq!(own, (vec![0, FIRST, 0, 0], vec![]));
    let next = boxes("", ["%r5", "%r6", ""], 0b100).unwrap();
    assert_eq!(next, (vec![0, 0, FIRST, 0], vec![0b100]));
    let several = boxes(".multicast::cluster", ["boxed", "bar", ", %h1"], 0b1101).unwrap();
    assert_eq!(several, (vec![FIRST, 0, FIRST, FIRST], vec![0b1101]));
}

#[test]
fn a_box_and_its_mbarrier_belong_to_one_cta() {
    let error = boxes("", ["%r5", "bar", ""], 0).unwrap_err().to_string();
    assert!(
        error.contains("a transfer to CTA 2 of the cluster with an mbarrier of CTA 1"),
        "{error}"
    );
}
