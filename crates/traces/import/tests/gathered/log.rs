//! Logs of mem_trace.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use warpmem_import::{Assumptions, ImportError, ImportSummary, MemTraceOptions, import_mem_trace};
use warpmem_trace::{Kind, Space, Trace};

use super::kernels::{Act, GRID, Given, GivenKernel, accesses};
use super::{content, content_of};

/// The output format of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Launches have numbers.
    Numbered,
    /// Lines belong to the last launch before them.
    Plain,
    /// Lines have the instruction's address.
    Addressed,
}

const ENTRY: u64 = 0x7f00_0000;

fn opcode(row: &Given) -> String {
    let Act::Memory(op, ..) = &row.act else { panic!("{row:?}") };
    let name = if op.kind == Kind::Load { "LDG.E" } else { "STG.E" };
    match op.width {
        4 => name.to_owned(),
        width => format!("{name}.{}.SYS", 8 * width),
    }
}

fn launch(form: Form, number: usize, kernel: &GivenKernel) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
    let id =
        if form == Form::Plain { String::new() } else { format!("grid launch id {number} - ") };
    format!(
        "MEMTRACE: CTX 0x55 - LAUNCH - Kernel pc {ENTRY:#x} - Kernel name {} - {id}grid size {} - block \
         size {} - nregs 20 - shmem 512 - cuda stream id 0\n",
        kernel.name,
        triple(GRID),
        triple(kernel.block),
    )
}

fn access(form: Form, number: usize, row: &Given) -> String {
    let ([x, y, z], warp, opcode) = (row.cta, row.warp, opcode(row));
    let mut line = match form {
        Form::Numbered => format!(
            "MEMTRACE: CTX 0x55 - grid_launch_id {number} - CTA {x},{y},{z} - warp {warp} - {opcode} - "
        ),
        Form::Plain => format!("CTA {x},{y},{z} - warp {warp} - {opcode} - "),
        Form::Addressed => format!(
            "MEMTRACE: CTX 0x55 - grid_launch_id {number} - {opcode} {:#x} - block {x},{y},{z} - warp {warp} - ",
            ENTRY + row.pc
        ),
    };
    let Act::Memory(_, addresses, _) = &row.act else { panic!("{row:?}") };
    let mut addresses = addresses.iter();
    for lane in 0..32 {
        let address = if row.mask >> lane & 1 == 1 { *addresses.next().unwrap() } else { 0 };
        write!(line, "0x{address:016x} ").unwrap();
    }
    line + "\n"
}

/// Returns the PC of the distinct opcodes of a kernel, in order of first appearance.
fn pcs(kernel: &GivenKernel) -> BTreeMap<String, u64> {
    let mut pcs = BTreeMap::new();
    for row in &kernel.rows {
        let next = 16 * pcs.len() as u64;
        pcs.entry(opcode(row)).or_insert(next);
    }
    pcs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn logs_of_any_form_import_exactly(
        kernels in accesses(),
        form in prop::sample::select(vec![Form::Numbered, Form::Plain, Form::Addressed]),
        is_late: bool,
    ) {
        let numbered = || kernels.iter().enumerate();
        let launches = numbered().map(|(n, kernel)| launch(form, n, kernel));
        let lines = |(n, kernel): (usize, &GivenKernel)| -> String {
            kernel.rows.iter().map(|row| access(form, n, row) + "output of the program\n").collect()
        };
        // Launches may be printed before the accesses of the previous kernel.
        let text: String = match is_late && form != Form::Plain {
            true => launches.chain(numbered().map(lines)).collect(),
            false => launches.zip(numbered().map(lines)).map(|(a, b)| a + &b).collect(),
        };
        let folder = tempfile::tempdir().unwrap();
        let (log, trace) = (folder.path().join("log"), folder.path().join("t.wmt"));
        std::fs::write(&log, text).unwrap();
        import_mem_trace(&log, &trace, &MemTraceOptions::default(), &()).unwrap();
        let expected = content_of(&kernels, |kernel, row| match form {
            Form::Addressed => row.pc,
            _ => pcs(kernel)[&opcode(row)],
        });
        prop_assert_eq!(content(&trace), expected);
    }
}

fn import(text: &str, options: &MemTraceOptions) -> Result<(ImportSummary, Trace), ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let (log, trace) = (folder.path().join("app.log"), folder.path().join("t.wmt"));
    std::fs::write(&log, text).unwrap();
    let summary = import_mem_trace(&log, &trace, options, &())?;
    Ok((summary, Trace::open(&trace).unwrap()))
}

/// Returns a line of the tool whose first lanes have these addresses.
fn line(cta: u32, warp: u32, opcode: &str, addresses: &[u64]) -> String {
    let lanes = addresses.iter().copied().chain([0; 32]).take(32);
    let lanes: String = lanes.map(|address| format!("{address:#018x} ")).collect();
    format!(
        "MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA {cta},0,0 - warp {warp} - {opcode} - {lanes}\n"
    )
}

const LAUNCH: &str = "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x10 - Kernel name k - grid launch id 0 - grid size \
                      2,1,1 - block size 64,1,1 - nregs 20 - shmem 0 - cuda stream id 0\n";

/// Returns the warp numbers of each CTA.
fn warps(trace: &Trace) -> Vec<Vec<u32>> {
    let chunk = trace.chunk(0, 0).unwrap();
    let numbers = |cta: &warpmem_trace::CtaEntry| cta.warps.iter().map(|w| w.warp_in_cta).collect();
    chunk.ctas().iter().map(numbers).collect()
}

#[test]
fn hardware_warp_numbers_are_renumbered() {
    let options = MemTraceOptions::default();
    let log = |numbers: [u32; 3]| {
        let lines = [line(0, numbers[0], "LDG.E", &[8]), line(1, numbers[1], "LDG.E", &[8])];
        LAUNCH.to_owned() + &lines.concat() + &line(1, numbers[2], "LDG.E", &[8])
    };
    let (summary, trace) = import(&log([1, 1, 0]), &options).unwrap();
    assert_eq!(warps(&trace), [vec![1], vec![0, 1]]);
    assert!(!summary.notes.iter().any(|note| note.contains("warp numbers")), "{:?}", summary.notes);
    let (summary, trace) = import(&log([40, 43, 41]), &options).unwrap();
    assert_eq!(warps(&trace), [vec![0], vec![0, 1]]);
    assert!(
        summary.notes.iter().any(|note| note.contains("they go up to 43")),
        "{:?}",
        summary.notes
    );
}

#[test]
fn without_a_launch_line_the_block_has_the_observed_warps() {
    let text = line(0, 2, "LDG.E", &[8]) + &line(0, 5, "STG.E", &[8]);
    let (summary, trace) = import(&text, &MemTraceOptions::default()).unwrap();
    let info = &trace.kernels()[0].info;
    assert_eq!((info.name.as_str(), info.block, info.grid), ("kernel 1", [192, 1, 1], [0; 3]));
    assert!(summary.notes.iter().any(|note| note.starts_with("kernels without a block size: 1")));
}

#[test]
fn more_warps_than_a_block_has_are_refused() {
    let text: String = (0..3).map(|warp| line(0, warp, "LDG.E", &[8])).collect();
    let error = import(&(LAUNCH.to_owned() + &text), &MemTraceOptions::default()).err().unwrap();
    assert!(
        error.to_string().contains("CTA (0, 0, 0) of k has 3 warps; 2 are the most"),
        "{error}"
    );
}

#[test]
fn options_provide_missing_data() {
    let text = LAUNCH.to_owned() + &line(0, 0, "LDG.E", &[8]) + &line(0, 0, "STG.E.64", &[16]);
    let assumptions = |use_distance, gap| MemTraceOptions {
        assumptions: Assumptions { use_distance, gap },
        ..MemTraceOptions::default()
    };
    for (use_distance, gap) in [(Some(0), 0), (Some(7), 2), (None, 3)] {
        let (summary, trace) = import(&text, &assumptions(use_distance, gap)).unwrap();
        let instructions = trace.instructions(0).unwrap();
        assert_eq!(instructions[0].use_distance, use_distance);
        assert_eq!(instructions[0].address_from, None);
        assert_eq!((instructions[1].use_distance, instructions[1].width), (None, 8));
        assert!(instructions[..2].iter().all(|part| part.compute.len() == gap as usize));
        assert_eq!(summary.compute.get("integer").copied().unwrap_or(0), u64::from(2 * gap));
        assert_eq!(summary.warp_instructions, u64::from(3 + 2 * gap));
    }
}

#[test]
fn opcodes_have_the_same_meaning_in_tables() {
    let text = [
        LAUNCH,
        &line(0, 0, "LDS.U.128", &[0, 16, 0]),
        &line(0, 0, "LD.E", &[64]),
        &line(0, 0, "LDGSTS.E.128", &[0x40]),
        &line(0, 0, "LDGSTS.E.128", &[0x7f00_0000_0000]),
        &line(0, 0, "LDG.E", &[]),
        &line(0, 0, "FROB.E", &[8]),
        &line(0, 0, "BAR.SYNC", &[]),
    ];
    let (summary, _) = import(&text.concat(), &MemTraceOptions::default()).unwrap();
    assert_eq!(summary.memory_count(Kind::Load, Space::Shared), 1);
    assert_eq!(summary.memory_count(Kind::Load, Space::Global), 2);
    assert_eq!(summary.memory_count(Kind::AsyncCopy, Space::Global), 1);
    assert_eq!((summary.barriers, summary.unknown_opcodes["FROB.E"]), (1, 1));
    assert_eq!(summary.without_lanes["memory"], 1);
    // Two lanes of the shared load, one of the others, all of the instructions without addresses,
    // and the exit's.
    assert_eq!(summary.thread_instructions, 2 + 1 + 1 + 32 + 32 + 32);
    let has = |what: &str| summary.notes.iter().any(|note| note.starts_with(what));
    assert!(
        has("shared-memory addresses of async copies: 1")
            && has("memory instructions with generic")
    );
}

#[test]
fn kernels_are_selected_by_launch() {
    let launches: String = (0..3)
        .map(|n| {
            LAUNCH.replace("id 0", &format!("id {n}")).replace("name k", &format!("name k{n}"))
        })
        .collect();
    let text: String =
        launches + &line(0, 0, "LDG.E", &[8]) + &line(0, 0, "LDG.E", &[8]).replace("id 0", "id 2");
    let range = |range| MemTraceOptions { kernels: Some(range), ..MemTraceOptions::default() };
    let (summary, trace) = import(&text, &range(2..=3)).unwrap();
    assert_eq!((trace.kernels().len(), trace.kernels()[0].info.name.as_str()), (1, "k2"));
    assert_eq!(summary.kernels[0].number, 3);
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.starts_with("launches without memory instructions: 1"))
    );
    assert!(matches!(
        import(&text, &range(2..=4)),
        Err(ImportError::KernelRange { kernels: 3, .. })
    ));
    // A repeated launch with the same id is another kernel: a log of two runs.
    let (summary, _) = import(&(text.clone() + &text), &MemTraceOptions::default()).unwrap();
    assert_eq!(summary.kernels.len(), 4);
}
