//! Damaged text neither makes the parser panic nor run without end.

use proptest::prelude::*;

use super::kernel_text;
use crate::{Flow, live_words, parse};

const CODE: &str = "
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    setp.ge.s32 %p1, %r1, 5;
    @%p1 bra $L_END;
    { .reg .b32 t; mov.b64 {t, _}, %rd1; }
    ld.global.v2.f32 {%f1, %f2}, [%rd1+8];
    fma.rn.f32 %f3, %f1, %f2, 0f3F800000;
    targets: .branchtargets $L_A, $L_END;
    brx.idx %r1, targets;
    $L_A: atom.global.add.u32 %r2, [%rd1], 1;
    { again: @!%p1 bra.uni again; }
    .reg .v2 .b32 w;
    mov.v2.b32 w, {w.y, w.x};
    add.u32 w.x, %r2+(1 << 2), -WARP_SZ*2 % 3 ? ~1 : 0x7U;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, %p1, 1, -1, 0, 1;
    $L_END: bar.sync 0;";

fn survives(text: &str) {
    let Ok(module) = parse(text) else { return };
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        let flow = Flow::of(body);
        live_words(body, &flow);
    }
}

proptest! {
    #[test]
    fn text_with_bytes_replaced(changes in prop::collection::vec((0usize..900, 0u8..128), 1..6)) {
        let mut bytes = kernel_text(CODE).into_bytes();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        survives(&String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn text_with_a_piece_moved(from in 0usize..900, length in 0usize..60, to in 0usize..900) {
        let mut text = kernel_text(CODE);
        let from = from % text.len();
        let piece: String = text.chars().skip(from).take(length).collect();
        let to = to % text.len();
        text.insert_str(to, &piece);
        survives(&text);
    }

    #[test]
    fn truncated_text(length in 0usize..900) {
        let text = kernel_text(CODE);
        survives(&text[..length.min(text.len())]);
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(
        prop::sample::select(vec![".reg", ".b32", "%r1", "{", "}", ";", "[", "]", "(", ")", "@", "!", ":", ",",
            "mov", ".entry", "k", "1", "+", "-", "|", "<", ">", "call", "bra", ".global", "=", ".loc", "_"]), 0..60)) {
        survives(&format!(".version 7.0\n.target sm_70\n{}", tokens.join(" ")));
    }
}
