//! Names of kernels: mangled, demangled with or without parameters, or plain.

/// Returns the unqualified name of a kernel: `_Z3addPf`, `void ns::add<float>(float *)` and `add` are
/// all `add`. Profilers and traces write the other parts differently.
pub fn base_name(name: &str) -> String {
    let demangled = demangled(name);
    let text = demangled.as_deref().unwrap_or(name).trim();
    let base = unqualified(text);
    if base.is_empty() { text.to_owned() } else { base }
}

/// Returns a mangled name as its function with template arguments, without parameters:
/// `_Z4scanIfEvPT_` is `scan<float>`. Other names stay as they are.
pub fn readable(name: &str) -> String {
    let symbol = name.starts_with("_Z").then(|| cpp_demangle::Symbol::new(name).ok()).flatten();
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let readable = symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok());
    readable.unwrap_or_else(|| name.to_owned())
}

fn demangled(name: &str) -> Option<String> {
    let symbol = name.trim();
    let symbol = symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol).ok())??;
    symbol.demangle().ok()
}

/// Removes parameters, template arguments, return type and scopes.
fn unqualified(text: &str) -> String {
    let text = text.replace("(anonymous namespace)", "").replace("<unnamed>", "");
    let outside = outside_of_angles(&text);
    let declared = outside.split(['(', '[']).next().unwrap_or_default().trim_end();
    let scoped = declared.rsplit(char::is_whitespace).next().unwrap_or_default();
    scoped.rsplit(':').next().unwrap_or_default().to_owned()
}

/// Returns the characters outside of template arguments, in which parentheses enclose expressions.
fn outside_of_angles(text: &str) -> String {
    let (mut angles, mut parentheses) = (0u32, 0u32);
    let is_outside = |&c: &char| {
        match c {
            '<' if parentheses == 0 => angles += 1,
            '>' if parentheses == 0 => {
                angles = angles.saturating_sub(1);
                return false;
            }
            '(' if angles > 0 => parentheses += 1,
            ')' if angles > 0 => parentheses = parentheses.saturating_sub(1),
            _ => {}
        }
        angles == 0
    };
    text.chars().filter(is_outside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mangled_names_are_readable() {
        let names = ["_Z6vecaddPKfS0_Pfi", "_Z4scanIfEvPT_", "_Znothing", "gather"].map(readable);
        assert_eq!(names, ["vecadd", "scan<float>", "_Znothing", "gather"]);
    }

    #[test]
    fn every_form_of_a_name_has_the_same_base() {
        let add = [
            "add",
            "add(float *, const float *)",
            "void add(float*, int)",
            "void ns::add<float>(float *)",
            "ns::inner::add<(int)4, a::b<c, d>>(a::b<c>)",
            "void <unnamed>::add<int>(int)",
            "(anonymous namespace)::add(int)",
            "void add<(bool)1, (4>(2))>(int)",
            "void add<float> (float *)",
            "add [clone .constprop.0]",
            "_Z3addPfPKf",
            "_Z3addIfEvPT_",
            "_ZN2ns3addIfEEvPT_",
            "  add  ",
        ];
        for name in add {
            assert_eq!(base_name(name), "add", "{name}");
        }
    }

    #[test]
    fn names_without_a_base_stay() {
        for name in ["", "_Z", "_Zgarbage", "triton_poi_fused_0d1d"] {
            assert_eq!(base_name(name), name);
        }
        assert_eq!(base_name("()"), "()");
    }

    proptest! {
        #[test]
        fn no_name_panics(name in "(_Z)?[A-Za-z0-9_<>():,&*é \\[\\]]{0,40}") {
            base_name(&name);
        }
    }
}
