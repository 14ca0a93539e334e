//! Numbers, arguments, buffers and fills as users write them.

use proptest::prelude::*;
use warpmem_support::random::Random;

use crate::number::Number;
use crate::{Argument, BufferSpec, Dimensions, Element, Fill};

const ALL: [Element; 12] = [
    Element::U8,
    Element::S8,
    Element::U16,
    Element::S16,
    Element::U32,
    Element::S32,
    Element::U64,
    Element::S64,
    Element::F16,
    Element::Bf16,
    Element::F32,
    Element::F64,
];

proptest! {
    #[test]
    fn encoded_values_round_trip(bits: u64, at in 0..ALL.len()) {
        let element = ALL[at];
        let bytes = &bits.to_le_bytes()[..element.bytes()];
        let number = element.decode(bytes);
        if !number.real().is_nan() {
            prop_assert_eq!(&element.encode(number).unwrap()[..], bytes);
        }
    }

    #[test]
    fn integers_outside_a_type_are_refused(whole: i64, at in 0..8usize) {
        let element = ALL[at];
        let [least, most] = element.range();
        let fits = (least..=most).contains(&i128::from(whole));
        prop_assert_eq!(element.encode(Number::Whole(whole.into())).is_some(), fits);
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = Argument::parse(&text);
        let _ = text.parse::<Dimensions>();
        let _ = BufferSpec::parse(&text);
    }

    #[test]
    fn random_values_lie_in_their_range(low in -1000i64..1000, span in 1i64..1000, seed: u64) {
        let (low, high) = (i128::from(low), i128::from(low + span));
        let fill = Fill::Random(Number::Whole(low), Number::Whole(high));
        let mut bytes = [0; 400];
        fill.write(Element::S32, 0, &mut bytes, &mut Random::new(seed)).unwrap();
        for value in bytes.chunks_exact(4) {
            let Number::Whole(value) = Element::S32.decode(value) else { unreachable!() };
            prop_assert!((low..high).contains(&value));
        }
    }
}

#[test]
fn elements_have_names() {
    for element in ALL {
        assert_eq!(Element::named(element.name()), Some(element));
    }
    assert_eq!(Element::named("float"), None);
}

#[test]
fn numbers_are_integers_or_reals() {
    let cases =
        [("7", 7), ("-7", -7), ("2^20", 1 << 20), ("0xff", 255), ("-2^3", -8), ("1_000", 1000)];
    for (text, whole) in cases {
        assert_eq!(Number::parse(text), Some(Number::Whole(whole)), "{text}");
    }
    for (text, real) in [("2.0", 2.0), ("-1e-3", -1e-3), ("inf", f64::INFINITY)] {
        assert_eq!(Number::parse(text), Some(Number::Real(real)), "{text}");
    }
    assert_eq!(Number::parse("x"), None);
}

#[test]
fn arguments_are_numbers_buffers_and_names() {
    let parse = |text: &str| Argument::parse(text).unwrap();
    assert_eq!(parse("2.5"), Argument::Number(Number::Real(2.5)));
    assert_eq!(parse("u32=7"), Argument::Typed(Element::U32, Number::Whole(7)));
    assert_eq!(parse("x"), Argument::Named("x".into(), 0));
    assert_eq!(parse("x + 256"), Argument::Named("x".into(), 256));
    let Argument::Buffer(buffer) = parse("buffer:f32[2^4, 3]=random(-1,1)") else { panic!() };
    assert_eq!(buffer.shape, [16, 3]);
    assert_eq!(buffer.fill, Fill::Random(Number::Real(-1.0), Number::Real(1.0)));
    for text in [
        "",
        "u32=-1",
        "u8=256",
        "s32=1.5",
        "float=1",
        "x+y",
        "buffer:f32",
        "buffer:f32[0]",
        "buffer:f32[]",
        "buffer:f32[4]=ones",
        "buffer:u32[4]=random(1.5,2)",
        "buffer:f32[4]=random(1,1)",
    ] {
        assert!(Argument::parse(text).is_err(), "{text}");
    }
}

#[test]
fn dimensions_are_one_to_three() {
    let parse = |text: &str| text.parse::<Dimensions>().ok().map(|Dimensions(sizes)| sizes);
    assert_eq!(parse("2^8"), Some([256, 1, 1]));
    assert_eq!(parse("16,8"), Some([16, 8, 1]));
    assert_eq!(parse("4x2x3"), Some([4, 2, 3]));
    for text in ["", "0", "1,2,3,4", "-1", "4294967296"] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn fills_give_their_values() {
    let values = |text: &str, element: Element| -> Vec<Number> {
        let fill = Fill::parse(text, element).unwrap();
        let mut bytes = vec![0; 4 * element.bytes()];
        fill.write(element, 0, &mut bytes, &mut Random::new(3)).unwrap();
        bytes.chunks_exact(element.bytes()).map(|bytes| element.decode(bytes)).collect()
    };
    let whole = |numbers: [i128; 4]| numbers.map(Number::Whole).to_vec();
    assert_eq!(values("zero", Element::U32), whole([0; 4]));
    assert_eq!(values("-3", Element::S8), whole([-3; 4]));
    assert_eq!(values("sequence", Element::U16), whole([0, 1, 2, 3]));
    assert_eq!(values("sequence(10,-2)", Element::S64), whole([10, 8, 6, 4]));
    assert_eq!(
        values("sequence(0.5,0.25)", Element::F16),
        [0.5, 0.75, 1.0, 1.25].map(Number::Real)
    );
    let mut permuted = values("permutation", Element::U32);
    permuted.sort_by(|a, b| a.real().total_cmp(&b.real()));
    assert_eq!(permuted, whole([0, 1, 2, 3]));
    assert!(values("random", Element::F32).iter().all(|n| (0.0..1.0).contains(&n.real())));
    assert_ne!(values("random", Element::S64), values("sequence", Element::S64));
    let too_large = Fill::parse("300", Element::U8).unwrap();
    let written = too_large.write(Element::U8, 0, &mut [0], &mut Random::new(0));
    assert_eq!(written.unwrap_err(), "300 is not of type u8");
}

/// Returns the addresses in a buffer of `list(64)` at address 4096, in list order.
fn walked(text: &str) -> Vec<u64> {
    let (_, _, bytes) = super::filled(text, std::path::Path::new("")).unwrap();
    let next = |address: u64| {
        let at = (address - 4096) as usize;
        u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
    };
    let walk = std::iter::successors(Some(next(4096)), |&at| Some(next(at)).filter(|_| at != 4096));
    walk.collect()
}

#[test]
fn a_list_visits_every_node_once_and_closes() {
    let mut nodes = walked("u64[128]=list(64)");
    assert_eq!(nodes.last(), Some(&4096));
    assert!(!nodes.is_sorted(), "{nodes:?}");
    nodes.sort_unstable();
    assert_eq!(nodes, (0..16).map(|node| 4096 + 64 * node).collect::<Vec<u64>>());
    assert_eq!(walked("u64[8]=list(64)"), [4096], "a node that points to itself");
}

#[test]
fn invalid_lists_are_refused() {
    for text in ["u32[16]=list(64)", "u64[16]=list(60)", "u64[16]=list(0)", "u64[16]=list(x)"] {
        assert!(BufferSpec::parse(text).is_err(), "{text}");
    }
    let error = super::filled("u64[12]=list(64)", std::path::Path::new("")).unwrap_err();
    assert!(error.to_string().contains("nodes of 64 bytes"), "{error}");
}
