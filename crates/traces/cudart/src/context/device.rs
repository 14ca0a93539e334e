//! Device properties that programs query: attributes by number, and the structure of all properties.

use warpmem_capture::relay::Device;

use crate::status::{Outcome, Status};

/// Reported device memory, bytes.
pub const MEMORY_BYTES: u64 = 64 << 30;

/// Shared memory of a CTA without opt-in, bytes.
const SHARED_OF_CTA: u32 = 48 << 10;

/// Returns an attribute (the manual, `cudaDeviceAttr` and `CUdevice_attribute`, which share their numbers); 0
/// for features that the device lacks.
///
/// # Errors
/// When no attribute has the number.
pub fn attribute(device: &Device, number: u32) -> Outcome<i32> {
    const MAX_ATTRIBUTES: u32 = 150;
    let value = match number {
        1 => 1024,            // threads of a CTA
        2 | 3 => 1024,        // along x, y
        4 => 64,              // along z
        5 => i32::MAX as u32, // CTAs along x
        6 | 7 => 65_535,      // along y, z
        8 => SHARED_OF_CTA,
        9 => 64 << 10,         // constant memory
        10 => 32,              // threads of a warp
        11 => i32::MAX as u32, // pitch
        12 | 82 => device.registers,
        13 => device.clock_khz,
        14 => 512, // alignment of textures
        15 => 1,   // copies overlap kernels
        16 => device.sms,
        19 => 1,       // maps host memory
        21 => 131_072, // widths of textures, and the following limits
        22 | 24 => 131_072,
        23 | 25..=26 => 65_536,
        27..=29 => 16_384,
        30 => 512, // alignment of surfaces
        31 => 1,   // concurrent kernels
        36 => device.memory_clock_khz,
        37 => device.bus_bits,
        38 => device.l2_bytes,
        39 => device.threads,
        40 => 3,  // copy engines
        41 => 1,  // one address space with the host
        51 => 32, // alignment of texture pitches
        75 => device.capability.0,
        76 => device.capability.1,
        78..=80 => 1, // stream priorities; global and local memory cached in L1
        81 => device.shared_bytes,
        83 => 1,                   // managed memory
        86 => 1,                   // host atomics
        87 => 32,                  // single- to double-precision ratio
        89 => 1,                   // concurrent managed access by the host
        90 => 1,                   // pre-emption
        95 => 1,                   // cooperative launches
        97 => device.shared_bytes, // opt-in shared memory of a CTA
        99 => 1,                   // registers host memory
        106 => device.ctas,
        108 => persisting_bytes(device),
        109 if persisting_bytes(device) > 0 => (128 << 20) - 4096, // maximum access policy window
        115 => 1,                                                  // memory pools
        120 => (device.capability.0 >= 9).into(),                  // clusters
        0 => return Err(Status::INVALID_VALUE.into()),
        _ if number < MAX_ATTRIBUTES => 0,
        _ => return Err(Status::INVALID_VALUE.into()),
    };
    Ok(value as i32)
}

/// Returns the bytes of L2 that can be set aside for persisting lines: the maximum of the CUDA programming
/// guide ("L2 Cache Set-Aside for Persisting Accesses"), from compute capability 8.0 on.
fn persisting_bytes(device: &Device) -> u32 {
    if device.capability.0 >= 8 { device.l2_bytes / 4 * 3 } else { 0 }
}

/// Runtime release whose property structure has its own layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    Cuda11,
    Cuda12,
    Cuda13,
}

/// Offsets of a property in the structure of releases 11 and 12, and of release 13; `None` where it is
/// absent.
struct Place(Option<usize>, Option<usize>);

const fn both(before: usize, now: usize) -> Place {
    Place(Some(before), Some(now))
}

impl Release {
    /// Returns the size of the structure, bytes.
    fn bytes(self) -> usize {
        match self {
            Release::Cuda11 => 728,
            Release::Cuda12 => 1032,
            Release::Cuda13 => 1008,
        }
    }

    fn at(self, place: &Place) -> Option<usize> {
        match self {
            Release::Cuda11 | Release::Cuda12 => place.0,
            Release::Cuda13 => place.1,
        }
    }
}

/// Encodes the device properties in the layout of a release (`cudaDeviceProp`).
pub fn properties(device: &Device, release: Release) -> Vec<u8> {
    let mut bytes = vec![0; release.bytes()];
    let name = device.name.as_bytes();
    let shown = name.len().min(255);
    bytes[..shown].copy_from_slice(&name[..shown]);
    let mut put = |place: Place, value: &[u8]| {
        if let Some(at) = release.at(&place) {
            bytes[at..at + value.len()].copy_from_slice(value);
        }
    };
    let long = |value: u64| value.to_le_bytes();
    put(both(288, 288), &long(MEMORY_BYTES));
    put(both(296, 296), &long(SHARED_OF_CTA.into()));
    put(both(312, 312), &long(i32::MAX as u64)); // pitch
    put(both(352, 352), &long(64 << 10)); // constant memory
    put(both(368, 368), &long(512)); // alignment of textures
    put(both(376, 376), &long(32)); // alignment of texture pitches
    put(both(568, 552), &long(512)); // alignment of surfaces
    put(both(640, 624), &long(device.shared_bytes.into()));
    put(both(696, 672), &long(device.shared_bytes.into()));
    // Attributes by number, and their offsets.
    let places = [
        (12, both(304, 304)),
        (10, both(308, 308)),
        (1, both(320, 320)),
        (2, both(324, 324)),
        (3, both(328, 328)),
        (4, both(332, 332)),
        (5, both(336, 336)),
        (6, both(340, 340)),
        (7, both(344, 344)),
        (13, Place(Some(348), None)),
        (75, both(360, 360)),
        (76, both(364, 364)),
        (15, Place(Some(384), None)),
        (16, both(388, 384)),
        (19, both(400, 392)),
        (21, both(408, 396)),
        (22, both(420, 404)),
        (23, both(424, 408)),
        (31, both(576, 560)),
        (40, both(600, 584)),
        (41, both(604, 588)),
        (36, Place(Some(608), None)),
        (37, both(612, 592)),
        (38, both(616, 596)),
        (39, both(624, 604)),
        (78, both(628, 608)),
        (79, both(632, 612)),
        (80, both(636, 616)),
        (82, both(648, 632)),
        (83, both(652, 636)),
        (86, both(664, 648)),
        (87, Place(Some(668), None)),
        (89, both(676, 656)),
        (90, both(680, 660)),
        (95, both(688, 668)),
        (106, both(712, 688)),
        (108, both(620, 600)),
        (109, both(716, 692)),
    ];
    for (number, place) in places {
        put(place, &attribute(device, number).unwrap_or_default().to_le_bytes());
    }
    bytes
}

/// Allocation unit of shared memory, bytes.
pub const SHARED_UNIT: u32 = 256;

/// Returns the number of CTAs of a kernel that fit on an SM.
pub fn occupancy(device: &Device, threads: u32, registers: u32, shared: u32) -> u32 {
    /// Allocation unit of a warp's registers.
    const REGISTERS: u32 = 256;
    if threads == 0 || threads > 1024 {
        return 0;
    }
    let warps = threads.div_ceil(32);
    let of_warp = (32 * registers).next_multiple_of(REGISTERS);
    let by_registers = device.registers.checked_div(of_warp * warps).unwrap_or(u32::MAX);
    let by_shared =
        device.shared_bytes.checked_div(shared.next_multiple_of(SHARED_UNIT)).unwrap_or(u32::MAX);
    let by_threads = device.threads / (32 * warps);
    by_registers.min(by_shared).min(by_threads).min(device.ctas)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Device {
        Device {
            name: "a GPU".into(),
            capability: (7, 5),
            sms: 34,
            clock_khz: 1,
            memory_clock_khz: 2,
            bus_bits: 256,
            l2_bytes: 4 << 20,
            registers: 65_536,
            shared_bytes: 64 << 10,
            threads: 1024,
            ctas: 16,
        }
    }

    #[test]
    fn properties_follow_the_layout_of_the_release() {
        let word = |release, at: usize| {
            let bytes = properties(&device(), release);
            u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
        };
        assert!(properties(&device(), Release::Cuda13).starts_with(b"a GPU\0"));
        for release in [Release::Cuda11, Release::Cuda12] {
            assert_eq!((word(release, 388), word(release, 612)), (34, 256));
        }
        assert_eq!((word(Release::Cuda13, 384), word(Release::Cuda13, 592)), (34, 256));
        assert_eq!(properties(&device(), Release::Cuda11).len(), 728);
    }

    #[test]
    fn three_quarters_of_l2_can_persist_from_capability_8_on() {
        let words = |capability, release| {
            let bytes = properties(&Device { capability, ..device() }, release);
            let places = if release == Release::Cuda13 { [600, 692] } else { [620, 716] };
            places.map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
        };
        for release in [Release::Cuda11, Release::Cuda12, Release::Cuda13] {
            assert_eq!(words((8, 0), release), [3 << 20, (128 << 20) - 4096]);
            assert_eq!(words((7, 5), release), [0, 0]);
        }
    }

    #[test]
    fn occupancy_is_limited_by_the_scarcest_resource() {
        let room = |threads, registers, shared| occupancy(&device(), threads, registers, shared);
        assert_eq!(room(32, 16, 0), 16);
        assert_eq!(room(256, 16, 0), 4);
        assert_eq!(room(256, 128, 0), 2);
        assert_eq!(room(256, 16, 40 << 10), 1);
        assert_eq!((room(0, 16, 0), room(2048, 16, 0)), (0, 0));
    }
}
