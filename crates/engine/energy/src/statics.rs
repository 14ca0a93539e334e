//! Static power: AccelWattch's selection from a table by the units in use.

use crate::activity::Activity;
use crate::table::StaticWatts;
use warpmem_trace::OpClass;

/// Kinds of functional units that static power distinguishes.
struct Used {
    integer: bool,
    fp: bool,
    fp64: bool,
    sfu: bool,
    tensor: bool,
}

/// Classes of instructions that occupy a functional unit.
const COMPUTING: [OpClass; 7] = [
    OpClass::Integer,
    OpClass::Uniform,
    OpClass::Fp32,
    OpClass::Fp16,
    OpClass::Fp64,
    OpClass::Sfu,
    OpClass::Tensor,
];

/// Returns the static power of a chip with CTAs on all SMs, W (AccelWattch,
/// `gpgpu_sim_wrapper::calculate_static_power`). The mix of units is determined once for the run;
/// AccelWattch determines it every 500 cycles.
pub(crate) fn watts(powers: &StaticWatts, activity: &Activity) -> f64 {
    let used = Used::of(activity);
    let lanes = active_lanes(activity);
    let mix = match (used.fp64, used.sfu, used.tensor) {
        (false, false, false) if used.integer && !used.fp => powers.integer,
        (false, false, false) if used.integer => powers.integer_fp,
        (true, false, false) if used.integer && used.fp => powers.integer_fp_fp64,
        (false, true, false) if used.integer && used.fp => powers.integer_fp_sfu,
        (false, false, true) if used.integer && used.fp => powers.integer_fp_tensor,
        (false, false, false) if !used.fp => return without_units(powers, activity),
        _ => powers.other,
    };
    mix.watts(lanes)
}

/// Returns the static power without functional units in use.
fn without_units(powers: &StaticWatts, activity: &Activity) -> f64 {
    if activity.l1.any() {
        powers.l1
    } else if activity.shared_passes > 0 {
        powers.shared
    } else if activity.l2.any() {
        powers.l2
    } else {
        powers.light
    }
}

/// Returns the mean active lanes of instructions on functional units, rounded up; 0 without any.
fn active_lanes(activity: &Activity) -> f64 {
    let sum = |counts: &[u64; OpClass::COUNT]| {
        COMPUTING.iter().map(|&class| counts[class as usize]).sum::<u64>()
    };
    let warps = sum(&activity.warp_instructions_by_class);
    if warps == 0 { 0.0 } else { sum(&activity.lanes_by_class).div_ceil(warps) as f64 }
}

impl Used {
    fn of(activity: &Activity) -> Used {
        let any = |classes: &[OpClass]| {
            classes.iter().any(|&class| activity.lanes_by_class[class as usize] > 0)
        };
        Used {
            integer: any(&[OpClass::Integer, OpClass::Uniform]),
            fp: any(&[OpClass::Fp32, OpClass::Fp16]),
            fp64: any(&[OpClass::Fp64]),
            sfu: any(&[OpClass::Sfu]),
            tensor: any(&[OpClass::Tensor]),
        }
    }
}
