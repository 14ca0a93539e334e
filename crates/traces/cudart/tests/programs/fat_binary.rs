//! A fat binary, as a compiler embeds it.

/// Kernels of the programs, for the device's lowest architecture and one above it.
pub const KERNELS: &str = r#"
.version 7.0
.target sm_70
.address_size 64

.global .align 4 .u32 counter = 5;
.const .align 4 .f32 factors[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};

.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 ret;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f3;
    ret;
}

.visible .entry count()
{
    .reg .b32 %r<2>;
    atom.global.add.u32 %r1, [counter], 1;
    ret;
}

.visible .entry scale(.param .u64 y)
{
    .reg .f32 %f<4>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    mov.u64 %rd2, factors;
    add.u64 %rd3, %rd2, %rd1;
    ld.const.f32 %f1, [%rd3];
    ld.param.u64 %rd4, [y];
    add.u64 %rd5, %rd4, %rd1;
    ld.global.f32 %f2, [%rd5];
    mul.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd5], %f3;
    ret;
}

.visible .entry fetch(.param .u64 texture, .param .u64 y)
{
    .reg .f32 %f<5>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 1;
    ld.param.u64 %rd1, [texture];
    tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];
    mul.wide.u32 %rd2, %r1, 4;
    ld.param.u64 %rd3, [y];
    add.u64 %rd4, %rd3, %rd2;
    st.global.f32 [%rd4], %f1;
    ret;
}

.visible .entry unknown()
{
    .reg .b32 %r<2>;
    frobnicate.u32 %r1, 1;
    ret;
}
"#;

/// Builds a container with this PTX for an architecture.
pub fn container(ptx: &str, architecture: u32) -> Vec<u8> {
    const HEADER: usize = 16;
    const ENTRY: usize = 64;
    const PTX: u16 = 1;
    let text = ptx.len() + 1;
    let mut bytes = Vec::new();
    bytes.extend(0xBA55_ED50u32.to_le_bytes());
    bytes.extend(1u16.to_le_bytes());
    bytes.extend((HEADER as u16).to_le_bytes());
    bytes.extend(((ENTRY + text) as u64).to_le_bytes());
    let mut entry = [0; ENTRY];
    entry[..2].copy_from_slice(&PTX.to_le_bytes());
    entry[4..8].copy_from_slice(&(ENTRY as u32).to_le_bytes());
    entry[8..16].copy_from_slice(&(text as u64).to_le_bytes());
    entry[28..32].copy_from_slice(&architecture.to_le_bytes());
    bytes.extend(entry);
    bytes.extend(ptx.as_bytes());
    bytes.push(0);
    bytes
}

/// Wrapper that a compiler emits beside the container.
#[repr(C)]
pub struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    linked: *const u8,
}

impl Wrapper {
    /// Wraps a container, which lives as long as the program, as embedded ones do.
    pub fn of(container: Vec<u8>) -> &'static Wrapper {
        let data = container.leak().as_ptr();
        let linked = std::ptr::null();
        Box::leak(Box::new(Wrapper { magic: 0x4662_43b1, version: 1, data, linked }))
    }
}
