//! Texture fetches, compared with the formulas of the CUDA C++ Programming Guide, appendix "Texture
//! Fetching".

use super::coverage::tests;
use half::f16;

use super::{Machine, kernel, kernel_with};
use crate::{
    AddressMode, Filter, Image, Limits, ReadMode, Run, TexelFormat, TexelKind, Texture,
    TextureError,
};

tests!(
    a_texel_of_every_format_is_fetched_by_its_number,
    texels_before_the_first_are_0,
    coordinates_out_of_range_follow_the_address_mode,
    linear_filtering_weighs_the_texels_around,
    filter_weights_are_multiples_of_1_256,
    nan_coordinates_are_harmless,
    a_texture_reference_stands_for_the_texture_it_is_bound_to,
    fetches_by_invalid_handles_stop_the_kernel,
    freed_texels_stop_the_kernel,
    invalid_textures_are_refused,
    unsupported_shapes_are_refused_by_name
);

const WIDTH: u32 = 13;
const HEIGHT: u32 = 7;
const PITCH: u64 = 256;

const FLOAT: TexelFormat = TexelFormat { kind: TexelKind::Float, bits: 32, channels: 1 };

/// Creates a texture of 13 × 7 texels of this format.
fn texture(format: TexelFormat) -> Texture {
    Texture {
        address: 0,
        width: WIDTH,
        height: HEIGHT,
        pitch: PITCH,
        format,
        read: ReadMode::Element,
        filter: Filter::Point,
        address_modes: [AddressMode::Clamp; 2],
        normalised: false,
    }
}

/// Returns bytes of texels, the same in every run, which 16-bit floats hold exactly.
fn byte(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

struct Fetched {
    machine: Machine,
    handle: u64,
}

/// Creates a machine with a texture over these bytes.
fn machine(texture: Texture, bytes: impl Fn(u64) -> u8) -> Fetched {
    let mut machine = Machine::new(64);
    let length = PITCH * u64::from(HEIGHT);
    let address = machine.memory.allocate(length).unwrap();
    for (at, to) in (0..).zip(machine.memory.bytes_mut(address, length).unwrap()) {
        *to = bytes(at);
    }
    let handle = machine.memory.create_texture(Texture { address, ..texture }).unwrap();
    Fetched { machine, handle }
}

/// Fetches at the coordinates of each lane, the halves of a word; returns the channels.
fn fetch(fetched: &mut Fetched, instruction: &str, at: &[[u32; 2]]) -> Vec<[u32; 4]> {
    let words: Vec<u64> = at.iter().map(|&[x, y]| u64::from(x) | u64::from(y) << 32).collect();
    fetched.machine.set(0, &words);
    fetched.machine.set(1, &[fetched.handle; 32]);
    let coordinates = if instruction.contains("1d") { "{%r1}" } else { "{%r1, %r2}" };
    let code = format!(
        "ld.global.v2.u32 {{%r1, %r2}}, [%rd1];\nld.global.u64 %rd4, [%rd2];\n\
         {instruction} {{%r4, %r5, %r6, %r7}}, [%rd4, {coordinates}];\n\
         ld.param.u64 %rd5, [c];\nmad.wide.u32 %rd5, %r0, 16, %rd5;\n\
         st.global.v4.u32 [%rd5], {{%r4, %r5, %r6, %r7}};"
    );
    fetched.machine.run(&kernel(&code), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    let words = fetched.machine.get(2);
    let word = |at: usize| (words[at / 2] >> (at % 2 * 32)) as u32;
    (0..32).map(|lane| [0, 1, 2, 3].map(|channel| word(4 * lane + channel))).collect()
}

/// Returns a channel of a texel, in the format and read mode.
fn channel(texture: &Texture, x: u32, y: u32, channel: u8) -> u32 {
    let TexelFormat { kind, bits, channels } = texture.format;
    if channel >= channels {
        return 0;
    }
    let size = u64::from(bits / 8);
    let first = u64::from(y) * PITCH
        + size * u64::from(u32::from(channels) * x)
        + size * u64::from(channel);
    let word = (0..size).fold(0u32, |word, at| word | u32::from(byte(first + at)) << (8 * at));
    match (kind, texture.read, bits) {
        (TexelKind::Float, _, 16) => f16::from_bits(word as u16).to_f32().to_bits(),
        (TexelKind::Signed, ReadMode::Element, 8) => word as i8 as u32,
        (TexelKind::Signed, ReadMode::Element, 16) => word as i16 as u32,
        (TexelKind::Unsigned, ReadMode::NormalisedFloat, 8) => (word as f32 / 255.0).to_bits(),
        (TexelKind::Unsigned, ReadMode::NormalisedFloat, _) => (word as f32 / 65535.0).to_bits(),
        (TexelKind::Signed, ReadMode::NormalisedFloat, 8) => {
            (f32::from(word as i8) / 127.0).max(-1.0).to_bits()
        }
        (TexelKind::Signed, ReadMode::NormalisedFloat, _) => {
            (f32::from(word as i16) / 32767.0).max(-1.0).to_bits()
        }
        _ => word,
    }
}

/// Lists every format and read mode.
fn formats() -> Vec<Texture> {
    use TexelKind::{Float, Signed, Unsigned};
    let mut all = Vec::new();
    for (kind, bits) in [
        (Signed, 8),
        (Signed, 16),
        (Signed, 32),
        (Unsigned, 8),
        (Unsigned, 16),
        (Unsigned, 32),
        (Float, 16),
        (Float, 32),
    ] {
        for channels in [1, 2, 4] {
            let element = texture(TexelFormat { kind, bits, channels });
            all.push(element);
            if kind != Float && bits < 32 {
                all.push(Texture { read: ReadMode::NormalisedFloat, ..element });
            }
        }
    }
    all
}

#[test]
pub(super) fn a_texel_of_every_format_is_fetched_by_its_number() {
    let at: Vec<[u32; 2]> =
        (0..32).map(|lane| [lane * 5 % (WIDTH + 3), lane * 3 % (HEIGHT + 2)]).collect();
    for texture in formats() {
        let mut fetched = machine(texture, byte);
        let to = match (texture.format.kind, texture.read) {
            (TexelKind::Float, _) | (_, ReadMode::NormalisedFloat) => "f32",
            (TexelKind::Signed, _) => "s32",
            (TexelKind::Unsigned, _) => "u32",
        };
        for (shape, rows) in [("1d", 1), ("2d", HEIGHT)] {
            let got = fetch(&mut fetched, &format!("tex.{shape}.v4.{to}.s32"), &at);
            let floats: Vec<[u32; 2]> =
                at.iter().map(|at| at.map(|n| (n as f32 + 0.5).to_bits())).collect();
            let by_floats = fetch(&mut fetched, &format!("tex.{shape}.v4.{to}.f32"), &floats);
            let is_inside = |&[x, y]: &[u32; 2]| x < WIDTH && (rows == 1 || y < rows);
            for at in (0..32).filter(|&lane| is_inside(&at[lane])) {
                assert_eq!(by_floats[at], got[at], "{texture:?} by its centre");
            }
            for (got, &[x, y]) in got.iter().zip(&at) {
                let y = if rows == 1 { 0 } else { y };
                let inside = x < WIDTH && y < rows;
                let expected =
                    [0, 1, 2, 3].map(|c| if inside { channel(&texture, x, y, c) } else { 0 });
                assert_eq!(*got, expected, "{texture:?} at {x}, {y}");
            }
        }
    }
}

#[test]
pub(super) fn texels_before_the_first_are_0() {
    let mut fetched = machine(texture(FLOAT), byte);
    for at in [-1i32, i32::MIN, i32::MAX] {
        let got = fetch(&mut fetched, "tex.1d.v4.f32.s32", &[[at as u32, 0]; 32]);
        assert!(got.iter().all(|texel| *texel == [0; 4]));
    }
}

/// Resolves a texel index that may be out of range.
fn index(at: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let size = i64::from(size);
    let inside = match mode {
        AddressMode::Wrap => at.rem_euclid(size),
        AddressMode::Mirror => {
            let at = at.rem_euclid(2 * size);
            at.min(2 * size - 1 - at)
        }
        AddressMode::Clamp => at.max(0).min(size - 1),
        AddressMode::Border => Some(at).filter(|&at| at >= 0 && at < size)?,
    };
    Some(inside as u32)
}

/// Returns a lane's coordinates in texels: inside the texture and beyond both sides, never a multiple of a
/// quarter, so that rounding does not matter.
fn place(lane: u32) -> [f32; 2] {
    [(lane * 7 % 32) as f32 * 0.81 - 6.13, (lane * 11 % 32) as f32 * 0.59 - 5.17]
}

const MODES: [AddressMode; 4] =
    [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];

/// Lists textures of every address mode, normalised or not, with coordinates for every lane and the effective
/// modes.
fn addressed(filter: Filter) -> Vec<(Texture, Vec<[u32; 2]>, [AddressMode; 2])> {
    let mut all = Vec::new();
    for normalised in [false, true] {
        for (number, x_mode) in MODES.into_iter().enumerate() {
            let address_modes = [x_mode, MODES[(number + 1) % 4]];
            let scale = if normalised { [WIDTH as f32, HEIGHT as f32] } else { [1.0; 2] };
            let at = (0..32).map(|lane| {
                let [x, y] = place(lane);
                [(x / scale[0]).to_bits(), (y / scale[1]).to_bits()]
            });
            let held = address_modes.map(|mode| match mode {
                AddressMode::Border => AddressMode::Border,
                mode => {
                    if normalised {
                        mode
                    } else {
                        AddressMode::Clamp
                    }
                }
            });
            let texture = Texture { filter, address_modes, normalised, ..texture(FLOAT) };
            all.push((texture, at.collect(), held));
        }
    }
    all
}

/// Returns a texel that is a small integer.
fn small(x: u32, y: u32) -> f32 {
    ((x * 37 + y * 101) % 64) as f32 - 20.0
}

fn small_bytes(at: u64) -> u8 {
    let (x, y) = ((at % PITCH / 4) as u32, (at / PITCH) as u32);
    small(x, y).to_le_bytes()[(at % 4) as usize]
}

fn texel(x: i64, y: i64, modes: [AddressMode; 2]) -> f64 {
    let x = index(x, WIDTH, modes[0]);
    let y = index(y, HEIGHT, modes[1]);
    x.zip(y).map_or(0.0, |(x, y)| small(x, y).into())
}

#[test]
pub(super) fn coordinates_out_of_range_follow_the_address_mode() {
    for (texture, at, modes) in addressed(Filter::Point) {
        let mut fetched = machine(texture, small_bytes);
        let got = fetch(&mut fetched, "tex.2d.v4.f32.f32", &at);
        let line = fetch(&mut fetched, "tex.1d.v4.f32.f32", &at);
        for lane in 0..32 {
            let [x, y] = place(lane).map(|at| at.floor() as i64);
            let of = |got: &[[u32; 4]]| f64::from(f32::from_bits(got[lane as usize][0]));
            assert_eq!(of(&got), texel(x, y, modes), "{texture:?} at {x}, {y}");
            assert_eq!(of(&line), texel(x, 0, modes), "{texture:?} at {x}");
        }
    }
}

#[test]
pub(super) fn linear_filtering_weighs_the_texels_around() {
    for (texture, at, modes) in addressed(Filter::Linear) {
        let mut fetched = machine(texture, small_bytes);
        let got = fetch(&mut fetched, "tex.2d.v4.f32.f32", &at);
        for lane in 0..32 {
            let [x, y] = place(lane).map(|at| f64::from(at) - 0.5);
            let (i, j) = (x.floor() as i64, y.floor() as i64);
            let (a, b) = (x - x.floor(), y - y.floor());
            let mean = (1.0 - a) * (1.0 - b) * texel(i, j, modes)
                + a * (1.0 - b) * texel(i + 1, j, modes)
                + (1.0 - a) * b * texel(i, j + 1, modes)
                + a * b * texel(i + 1, j + 1, modes);
            let got = f64::from(f32::from_bits(got[lane as usize][0]));
            // Each weight is rounded to 1/256, and texels differ by at most 64.
            assert!(
                (got - mean).abs() <= 64.0 / 256.0 + 1e-3,
                "{texture:?} at {x}, {y}: {got}, {mean}"
            );
        }
    }
}

/// α has 8 fractional bits: 256 steps from 1.0 to 2.0.
#[test]
pub(super) fn filter_weights_are_multiples_of_1_256() {
    let texture = Texture { filter: Filter::Linear, height: 1, ..texture(FLOAT) };
    let mut fetched =
        machine(
            texture,
            |at| if at / 4 == 3 { 256f32.to_le_bytes()[(at % 4) as usize] } else { 0 },
        );
    let at: Vec<[u32; 2]> = (0..32).map(|lane| [(2.5 + lane as f32 / 31.0).to_bits(), 0]).collect();
    for (lane, got) in fetch(&mut fetched, "tex.1d.v4.f32.f32", &at).iter().enumerate() {
        let expected = (256.0 * lane as f64 / 31.0).round();
        assert_eq!(f64::from(f32::from_bits(got[0])), expected, "lane {lane}");
    }
}

#[test]
fn nan_coordinates_are_harmless() {
    for (texture, ..) in addressed(Filter::Linear) {
        let mut fetched = machine(texture, small_bytes);
        for at in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            fetch(&mut fetched, "tex.2d.v4.f32.f32", &[[at.to_bits(); 2]; 32]);
        }
    }
}

/// Writes a kernel with a texture reference of the module.
fn reference_kernel() -> String {
    kernel_with(
        ".global .texref picture;\n.tex .u32 other;",
        "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [picture, {%r0, %r0}];\nst.global.f32 [%rd3], %f1;",
    )
}

#[test]
pub(super) fn a_texture_reference_stands_for_the_texture_it_is_bound_to() {
    let mut fetched = machine(texture(FLOAT), small_bytes);
    let Fetched { machine, handle } = &mut fetched;
    let module = warpmem_ptx::parse(&reference_kernel()).unwrap();
    let image = Image::load(module, &mut machine.memory).unwrap();
    let launch = machine.launch(1, 7);
    let run = Run::new(&image, &launch).unwrap();
    let execute =
        |machine: &mut Machine| run.execute(&mut machine.memory, None, Limits::default(), &());
    let error = execute(machine).unwrap_err().to_string();
    assert!(error.contains("is not bound to a texture at PC"), "{error}");
    image.bind("picture", &mut machine.memory, *handle).unwrap();
    image.bind("other", &mut machine.memory, *handle).unwrap();
    execute(machine).unwrap();
    let got = machine.get(2);
    assert!((0..7).all(|lane| got[lane as usize] as u32 == small(lane, lane).to_bits()));
    let unknown = image.bind("x", &mut machine.memory, *handle).unwrap_err().to_string();
    assert_eq!(unknown, "the module has no texture reference `x`; it has picture, other");
    assert_eq!(image.bind("picture", &mut machine.memory, 9), Err(TextureError::Handle(9)));
}

#[test]
fn fetches_by_invalid_handles_stop_the_kernel() {
    let code = "mov.u64 %rd4, 5;\ntex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd4, {%r0}];";
    let error = Machine::new(32).run(&kernel(code), 1, 32).unwrap_err().to_string();
    assert!(error.contains("there is no texture with handle 0x5 at PC"), "{error}");
    let mut fetched = machine(texture(FLOAT), byte);
    let Fetched { machine, handle } = &mut fetched;
    assert!(machine.memory.destroy_texture(*handle) && !machine.memory.destroy_texture(*handle));
    let code = format!(
        "mov.u64 %rd4, {handle};\ntex.1d.v4.u32.s32 {{%r1, %r2, %r3, %r4}}, [%rd4, {{%r0}}];"
    );
    assert!(machine.run(&kernel(&code), 1, 32).is_err());
}

#[test]
fn freed_texels_stop_the_kernel() {
    let mut fetched = machine(texture(FLOAT), byte);
    let Fetched { machine, handle } = &mut fetched;
    let address = machine.memory.texture(*handle).unwrap().address;
    assert!(machine.memory.free(address));
    let code = format!(
        "mov.u64 %rd4, {handle};\ntex.1d.v4.u32.s32 {{%r1, %r2, %r3, %r4}}, [%rd4, {{%r0}}];"
    );
    let error = machine.run(&kernel(&code), 1, 32).unwrap_err().to_string();
    assert!(error.contains("is no longer allocated"), "{error}");
}

#[test]
fn invalid_textures_are_refused() {
    let mut memory = crate::DeviceMemory::default();
    let address = memory.allocate(PITCH * 6 + 52).unwrap();
    let good = Texture { address, ..texture(FLOAT) };
    assert_eq!(memory.create_texture(good), Ok(1));
    assert_eq!(memory.create_texture(good), Ok(2));
    let unsigned = TexelFormat { kind: TexelKind::Unsigned, bits: 32, channels: 1 };
    let refused = [
        Texture { format: TexelFormat { channels: 3, ..FLOAT }, ..good },
        Texture { format: TexelFormat { bits: 8, ..FLOAT }, ..good },
        Texture { height: 0, ..good },
        Texture { pitch: 51, ..good },
        Texture { format: unsigned, read: ReadMode::NormalisedFloat, ..good },
        Texture { format: unsigned, filter: Filter::Linear, ..good },
        Texture { width: WIDTH + 1, ..good },
        Texture { pitch: u64::MAX, ..good },
        Texture { address: address - 4, ..good },
    ];
    let reasons = refused.map(|texture| memory.create_texture(texture).unwrap_err().to_string());
    let starts = [
        "texels of 3 channels of 32 bits",
        "texels of 1 channels of 8 bits",
        "13 × 0 texels",
        "rows of 52 bytes are 51 bytes apart",
        "channels of 32 bits cannot be read",
        "linear filtering needs",
        "1592 bytes of texels at",
        "18446744073709551615 bytes of texels",
        "1588 bytes of texels",
    ];
    for (reason, start) in reasons.iter().zip(starts) {
        assert!(reason.starts_with(start), "{reason}");
    }
}

#[test]
fn unsupported_shapes_are_refused_by_name() {
    let code = "tex.3d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r4}];\n\
                tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %f1, %f2, %f3}];";
    let error = Machine::new(32).run(&kernel(code), 1, 32).unwrap_err().to_string();
    assert!(error.contains("ThreeD") && error.contains("TwoDArray"), "{error}");
    let error = Machine::new(32).run(&kernel("sust.b.1d.b32.clamp [%rd1, {%r1}], {%r2};"), 1, 32);
    assert!(error.unwrap_err().to_string().contains("instruction `sust` is not supported"));
}
