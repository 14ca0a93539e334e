//! Reads any bytes as a profile of Nsight Compute or nvprof, and matches its launches.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use warpmem::study::correlate::profile::{Compared, Profile, TraceLaunch, match_launches, summary};

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = Profile::parse(Path::new("profile.csv"), bytes) else { return };
    let launch =
        |name: &str| TraceLaunch { name: name.to_owned(), grid: [4, 1, 1], block: [32, 1, 1] };
    let trace = [launch("_Z3addPf"), launch("add"), launch("mul")];
    let matching = match_launches(&trace, &profile.launches);
    let ours = [("gpc__cycles_elapsed.max".to_owned(), 1000.into())].into_iter().collect();
    let ours = vec![ours; trace.len()];
    let compared =
        Compared { profile: &profile, trace: &trace, matching: &matching, ours: &ours, hz: 1e9 };
    summary(&compared.rows());
    compared.unmatched();
});
