//! Reads any text as a sweep plan and enumerates its design points.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use warpmem::study::sweep::Plan;

fuzz_target!(|text: &str| {
    let Ok(plan) = Plan::from_text(text, Path::new("plan.toml")) else { return };
    let of_slot = |(slot, names): (&String, &warpmem::study::sweep::PolicyNames)| {
        (slot.clone(), names.0.clone())
    };
    let policies: Vec<(String, Vec<String>)> = plan.policies.iter().map(of_slot).collect();
    let _ = plan.points(&policies);
});
