//! Loads and stores of every type, in every space and as vectors.

use warpmem_ptx::Type::{self, *};

use super::{Code, integer, named, register};
use crate::tests::coverage::{note, tests};

tests!(loads, stores, vectors, spaces);

const ALL: [Type; 14] = [B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

/// A load into a 64-bit register extends by the type's sign.
#[test]
fn loads() {
    for ty in ALL {
        for modifiers in
            ["", ".volatile", ".global", ".global.nc", ".relaxed.gpu.global", ".global.cg"]
        {
            let name = named(&format!("ld{modifiers}"), ty);
            let dest = if ty.is_float() { ty } else { B64 };
            let text = format!("{name} {}, [%rd1];\n", register(dest, 4));
            Code { name: &name, text: &text, dest, sources: &[B64] }
                .check(|[a, ..]| if ty.is_float() { a } else { integer(ty, a) as u64 });
        }
    }
}

#[test]
fn stores() {
    for ty in ALL {
        for modifiers in ["", ".volatile", ".global", ".relaxed.gpu.global", ".global.wt"] {
            let name = named(&format!("st{modifiers}"), ty);
            let source = if ty.is_float() { ty } else { B64 };
            let text =
                format!("{name} [%rd2], {};\nld.global.u64 %rd24, [%rd2];\n", register(source, 0));
            let kept = if ty.bits() == 64 { 0 } else { u64::MAX << ty.bits() };
            Code { name: &name, text: &text, dest: B64, sources: &[source, B64] }
                .check(|[a, b, _]| a & !kept | b & kept);
        }
    }
}

#[test]
fn vectors() {
    for (ty, elements) in
        [(B32, 2), (B32, 4), (F32, 2), (F32, 4), (U8, 4), (U16, 4), (S16, 2), (B64, 2)]
    {
        let arity = format!("v{elements}");
        let names: Vec<String> = (0..elements).map(|at| register(ty, 10 + at)).collect();
        let vector = names.join(", ");
        let place =
            "mul.wide.u32 %rd40, %r0, 16;\nmov.u64 %rd41, tile;\nadd.u64 %rd40, %rd40, %rd41;\n";
        let last = register(if ty.bits() == 64 { B64 } else { B32 }, 4);
        let moved = if ty.bits() == 64 { "mov.b64" } else { "mov.b32" };
        let load = format!("ld.shared.{arity}.{}", ty.name());
        let store = format!("st.shared.{arity}.{}", ty.name());
        let text = format!(
            "{place}st.shared.b64 [%rd40], %rd20;\nst.shared.b64 [%rd40+8], %rd21;\n\
             {load} {{{vector}}}, [%rd40];\n{store} [%rd40], {{{vector}}};\n{load} {{{vector}}}, [%rd40];\n\
             {moved} {last}, {};\n",
            names[elements - 1]
        );
        note(&store);
        let dest = if ty.bits() == 64 { B64 } else { B32 };
        Code { name: &load, text: &text, dest, sources: &[B64, B64] }.check(|[a, b, _]| {
            let bit = (elements as u32 - 1) * ty.bits();
            let both = u128::from(a) | u128::from(b) << 64;
            integer(ty, (both >> bit) as u64) as u64
        });
    }
}

#[test]
fn spaces() {
    for space in ["shared", "local"] {
        let place = match space {
            "shared" => {
                "mul.wide.u32 %rd40, %r0, 8;\nmov.u64 %rd41, tile;\nadd.u64 %rd40, %rd40, %rd41;\n"
            }
            _ => "mov.u64 %rd40, own;\n",
        };
        for ty in [B8, B16, B32, B64] {
            let (load, store) =
                (named(&format!("ld.{space}"), ty), named(&format!("st.{space}"), ty));
            let text = format!("{place}{store} [%rd40], %rd20;\n{load} %rd24, [%rd40];\n");
            note(&store);
            Code { name: &load, text: &text, dest: B64, sources: &[B64] }
                .check(|[a, ..]| integer(ty, a) as u64);
        }
    }
}
