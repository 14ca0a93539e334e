//! A profile as text.

use super::text::{bytes, column, count, kernel, number, percent, percent_of, size, whole, words};
use crate::study::profile::{
    Access, Bin, ChannelSpread, Divergence, Estimate, Evenness, Footprint, InstructionKind, Part,
    Profile, Reuse, ReuseBin, SharedBin, Sharing, TranslationDivergence,
};
use std::iter::once;
use warpmem_support::text::aligned;

/// Maximum number of kernels in the columns of the instruction mix.
const COLUMNS: usize = 4;

/// Formats all sections; of kernels and static instructions, only the `top` with the highest
/// counts.
pub fn text(profile: &Profile, top: usize) -> String {
    let (line, sector) = (profile.line_bytes, profile.sector_bytes);
    let parts = parts(profile, top);
    let left = profile.kernels.len().saturating_sub(top);
    let others = match left {
        0 => String::new(),
        left => format!("and {left} more: --top {}\n", profile.kernels.len()),
    };
    let sections = [
        ("Instructions, of all warp instructions".to_owned(), mix(profile)),
        (
            format!(
                "Requests of global accesses: distinct lines of {line} and sectors of {sector} bytes per warp instruction"
            ),
            divergence(&parts) + &others,
        ),
        (
            "Lines of a warp instruction, over all with an active lane".to_owned(),
            histogram(&profile.all),
        ),
        (
            "Translation divergence: distinct pages per warp instruction in global or local memory"
                .to_owned(),
            translation(&parts) + &others,
        ),
        ("Static instructions with the most lines".to_owned(), sites(profile, top)),
        ("Footprint".to_owned(), footprint(&profile.footprint)),
        (format!("Reuse of global lines{}", sample(&profile.reuse)), reuse(&profile.reuse)),
        ("Global lines and DRAM rows by the CTAs that touch them".to_owned(), sharing(profile)),
        (
            format!("Spread over channels and banks of {}", profile.spread.machine),
            spread(profile, &parts) + &others,
        ),
        (
            "Lane operations per requested byte of global memory".to_owned(),
            intensity(profile, &parts) + &others,
        ),
        ("Dependences between loads".to_owned(), dependences(&parts) + &others),
    ];
    sections.map(|(title, table)| format!("\n{title}\n{table}")).concat()
}

/// Returns all kernels together and, if there are several, those with the most instructions.
fn parts(profile: &Profile, top: usize) -> Vec<(String, &Part)> {
    let all = once(("all".to_owned(), &profile.all));
    if profile.kernels.len() == 1 {
        return all.collect();
    }
    all.chain(largest(profile, top)).collect()
}

/// Returns the kernels with the most instructions, in the order of the trace.
fn largest(profile: &Profile, most: usize) -> Vec<(String, &Part)> {
    let mut kernels: Vec<(usize, &Part)> = profile.kernels.iter().enumerate().collect();
    kernels.sort_by_key(|(at, part)| (u64::MAX - part.mix.warp_instructions, *at));
    kernels.truncate(most);
    kernels.sort_by_key(|(at, _)| *at);
    kernels.into_iter().map(|(at, part)| (column(at, &part.name, part.launches), part)).collect()
}

fn mix(profile: &Profile) -> String {
    let columns = if profile.kernels.len() > 1 { largest(profile, COLUMNS) } else { Vec::new() };
    let names = columns.iter().map(|(label, _)| label.clone());
    let heading = words(["", "all", "lanes"]).into_iter().chain(names).collect();
    let mix = &profile.all.mix;
    let totals = columns.iter().map(|(_, part)| part.mix.warp_instructions.to_string());
    let total = [
        "warp instructions".to_owned(),
        mix.warp_instructions.to_string(),
        number(mix.mean_lanes, 1),
    ];
    let lanes =
        ["active lanes, of 32".to_owned(), percent(efficiency(&profile.all)), String::new()];
    let efficiencies = columns.iter().map(|(_, part)| percent(efficiency(part)));
    let kinds = mix.kinds.iter().map(|kind| {
        let own = [kind.name.clone(), percent(Some(kind.share)), number(kind.mean_lanes, 1)];
        own.into_iter().chain(columns.iter().map(|(_, part)| share(part, kind))).collect()
    });
    let rows: Vec<Vec<String>> = [
        heading,
        total.into_iter().chain(totals).collect(),
        lanes.into_iter().chain(efficiencies).collect(),
    ]
    .into_iter()
    .chain(kinds)
    .collect();
    aligned(&rows, &(1..columns.len() + 3).collect::<Vec<_>>())
}

/// Returns the SIMT efficiency, without branches.
fn efficiency(part: &Part) -> Option<f64> {
    part.mix.mean_lanes.map(|lanes| lanes / 32.0)
}

/// Formats the share of a kind in a kernel; empty if it does not occur.
fn share(part: &Part, kind: &InstructionKind) -> String {
    let of_part = part.mix.kinds.iter().find(|other| other.name == kind.name);
    of_part.map_or(String::new(), |kind| percent(Some(kind.share)))
}

pub fn name(access: Access) -> &'static str {
    match access {
        Access::Load => "load",
        Access::Store => "store",
        Access::Atomic => "atomic",
    }
}

fn divergence(parts: &[(String, &Part)]) -> String {
    let heading = words([
        "kernel",
        "access",
        "accesses",
        "lines",
        "p50",
        "p95",
        "max",
        "sectors",
        "one lane",
        "uniform",
        "unit",
        "strided",
        "runs",
        "irregular",
    ]);
    let rows = parts.iter().flat_map(|(label, part)| {
        let occurring = part.divergence.iter().filter(|divergence| divergence.instructions > 0);
        occurring.map(move |divergence| divergence_row(label, divergence))
    });
    aligned(&once(heading).chain(rows).collect::<Vec<_>>(), &(2..14).collect::<Vec<_>>())
}

fn divergence_row(label: &str, divergence: &Divergence) -> Vec<String> {
    let Divergence { access, instructions, lines, sectors, patterns } = divergence;
    let share = |count| whole(count, *instructions);
    vec![
        label.to_owned(),
        name(*access).to_owned(),
        instructions.to_string(),
        number(lines.mean, 2),
        count(lines.p50),
        count(lines.p95),
        count(lines.max),
        number(sectors.mean, 2),
        share(patterns.single_lane),
        share(patterns.uniform),
        share(patterns.unit_stride),
        share(patterns.strided),
        share(patterns.runs),
        share(patterns.irregular),
    ]
}

/// Ranges of the number of lines per instruction.
const RANGES: [(&str, u32, u32); 7] = [
    ("1", 1, 1),
    ("2", 2, 2),
    ("3–4", 3, 4),
    ("5–8", 5, 8),
    ("9–16", 9, 16),
    ("17–32", 17, 32),
    ("more", 33, u32::MAX),
];

/// Counts the instructions in each range of lines.
pub fn in_ranges(divergence: &Divergence) -> [(&'static str, u64); RANGES.len()] {
    RANGES.map(|(name, from, to)| {
        let inside = |bin: &&Bin| (from..=to).contains(&bin.value);
        (name, divergence.lines.histogram.iter().filter(inside).map(|bin| bin.count).sum())
    })
}

fn histogram(all: &Part) -> String {
    let heading = once(String::new()).chain(RANGES.map(|(name, ..)| name.to_owned())).collect();
    let occurring = all.divergence.iter().filter(|divergence| divergence.instructions > 0);
    let rows = occurring.map(|divergence| {
        let share = |(_, count)| percent_of(count, divergence.instructions);
        once(name(divergence.access).to_owned()).chain(in_ranges(divergence).map(share)).collect()
    });
    aligned(&once(heading).chain(rows).collect::<Vec<Vec<_>>>(), &(1..8).collect::<Vec<_>>())
}

fn translation(parts: &[(String, &Part)]) -> String {
    let heading =
        words(["kernel", "page", "instructions", "pages", "p50", "p95", "max", "several pages"]);
    let rows = parts.iter().flat_map(|(label, part)| {
        let occurring = part.translation.iter().filter(|size| size.instructions > 0);
        occurring.map(move |size| translation_row(label, size))
    });
    aligned(&once(heading).chain(rows).collect::<Vec<_>>(), &(1..8).collect::<Vec<_>>())
}

fn translation_row(label: &str, divergence: &TranslationDivergence) -> Vec<String> {
    let TranslationDivergence { page_bytes, instructions, pages, multi_page_share } = divergence;
    vec![
        label.to_owned(),
        size(*page_bytes),
        instructions.to_string(),
        number(pages.mean, 2),
        count(pages.p50),
        count(pages.p95),
        count(pages.max),
        percent(*multi_page_share),
    ]
}

fn sites(profile: &Profile, top: usize) -> String {
    let all: u64 = profile.sites.iter().map(|site| site.lines).sum();
    let heading = words([
        "kernel",
        "pc",
        "access",
        "executions",
        "lanes",
        "lines",
        "max",
        "sectors",
        "of all lines",
    ]);
    let rows = profile.sites.iter().take(top).map(|site| {
        vec![
            kernel(&site.kernel, 1),
            format!("{:#x}", site.pc),
            name(site.access).to_owned(),
            site.executions.to_string(),
            number(site.mean_lanes, 1),
            number(site.mean_lines, 2),
            site.max_lines.to_string(),
            number(site.mean_sectors, 2),
            percent_of(site.lines, all),
        ]
    });
    aligned(&once(heading).chain(rows).collect::<Vec<_>>(), &[1, 3, 4, 5, 6, 7, 8])
}

/// Formats `1024`, or `1024 ± 12` for an estimate.
fn estimate(estimate: Estimate) -> String {
    match estimate.standard_error {
        0.0 => estimate.value.to_string(),
        error => format!("{} ± {error:.0}", estimate.value),
    }
}

fn footprint(footprints: &[Footprint]) -> String {
    let names = footprints.iter().map(|footprint| format!("{:?}", footprint.space).to_lowercase());
    let row = |label: &str, of: fn(&Footprint) -> String| {
        once(label.to_owned()).chain(footprints.iter().map(of)).collect::<Vec<_>>()
    };
    let mut rows = vec![
        once(String::new()).chain(names).collect(),
        row("lines", |footprint| estimate(footprint.lines)),
        row("  only read", |footprint| estimate(footprint.read_only_lines)),
        row("  only written", |footprint| estimate(footprint.written_lines)),
        row("  both", |footprint| estimate(footprint.both_lines)),
        row("sectors", |footprint| estimate(footprint.sectors)),
        row("bytes", |footprint| estimate(footprint.bytes)),
        row("", |footprint| bytes(footprint.bytes.value)),
        row("pages of 4 KiB", |footprint| estimate(footprint.small_pages)),
        row("pages of 64 KiB", |footprint| estimate(footprint.medium_pages)),
        row("pages of 2 MiB", |footprint| estimate(footprint.large_pages)),
    ];
    if footprints.iter().any(|footprint| footprint.lines_per_kept > 1) {
        rows.push(row(ESTIMATED, |footprint| kept("line", footprint.lines_per_kept)));
    }
    aligned(&rows, &(1..=footprints.len()).collect::<Vec<_>>())
}

/// Label of a sampled value.
const ESTIMATED: &str = "estimated from";

fn kept(what: &str, of: u64) -> String {
    format!("1 {what} of {of}")
}

fn sample(reuse: &Reuse) -> String {
    match reuse.lines_per_followed {
        1 => String::new(),
        lines => format!(", {ESTIMATED} {}", kept("line", lines)),
    }
}

fn reuse(reuse: &Reuse) -> String {
    let misses = reuse.caches.iter().map(|cache| {
        let error = cache.standard_error.filter(|&error| error > 0.0);
        let error = error.map_or(String::new(), |error| format!("± {:.1}", 100.0 * error));
        vec![size(cache.bytes), percent(cache.miss_ratio), error]
    });
    let misses = once(words(["LRU cache of", "misses"])).chain(misses);
    let misses = aligned(&misses.collect::<Vec<_>>(), &[0, 1]);
    let heading = words(["lines between", "accesses", "nearer"]);
    let distances = by_powers(reuse)
        .into_iter()
        .map(|(range, share, nearer)| vec![range, percent(Some(share)), percent(nearer)]);
    let cold = vec!["first access".to_owned(), percent(reuse.cold_share), String::new()];
    let distances = once(heading).chain(distances).chain(once(cold));
    format!("{misses}\n{}", aligned(&distances.collect::<Vec<_>>(), &[0, 1, 2]))
}

/// Returns shares by powers of two, 0, 1, 2–3, 4–7, …, and the cumulative share at the end of each.
fn by_powers(reuse: &Reuse) -> Vec<(String, f64, Option<f64>)> {
    let power = |from: u64| from.checked_ilog2().map_or(0, |log| log + 1);
    let of_power = reuse.histogram.chunk_by(|a, b| power(a.from) == power(b.from));
    let range = |from: u64| match power(from) {
        0 | 1 => from.to_string(),
        log => format!("{}–{}", 1u64 << (log - 1), (1u64 << log) - 1),
    };
    let nearer = |bins: &[ReuseBin]| bins.last()?.miss_ratio.map(|misses| 1.0 - misses);
    of_power
        .map(|bins| (range(bins[0].from), bins.iter().map(|bin| bin.share).sum(), nearer(bins)))
        .collect()
}

fn sharing(profile: &Profile) -> String {
    let (lines, rows) = (&profile.line_sharing, &profile.spread.row_sharing);
    let most = lines.by_ctas.len().max(rows.by_ctas.len());
    let longest = if lines.by_ctas.len() == most { lines } else { rows };
    let cells = |sharing: &Sharing, bin: usize| {
        let of =
            |of: fn(&SharedBin) -> f64| percent(Some(sharing.by_ctas.get(bin).map_or(0.0, of)));
        [of(|bin| bin.share), of(|bin| bin.access_share)]
    };
    let bins = longest.by_ctas.iter().enumerate().map(|(at, bin)| {
        let range = match bin.to_ctas - bin.from_ctas {
            0 => bin.from_ctas.to_string(),
            _ => format!("{}–{}", bin.from_ctas, bin.to_ctas),
        };
        once(range).chain(cells(lines, at)).chain(cells(rows, at)).collect()
    });
    let row = |label: &str, of: fn(&Sharing) -> String| {
        vec![label.to_owned(), of(lines), String::new(), of(rows), String::new()]
    };
    let shared =
        |sharing: &Sharing| [percent(sharing.shared_share), percent(sharing.shared_access_share)];
    let heading = words(["CTAs", "lines", "accesses", "rows", "accesses"]);
    let is_sample = lines.all_per_kept > 1 || rows.all_per_kept > 1;
    let sample = is_sample.then(|| {
        let [lines, rows] =
            [("line", lines), ("row", rows)].map(|(what, of)| kept(what, of.all_per_kept));
        vec![ESTIMATED.to_owned(), lines, String::new(), rows, String::new()]
    });
    let table: Vec<Vec<String>> = once(heading)
        .chain(bins)
        .chain([
            once("2 or more".to_owned()).chain(shared(lines)).chain(shared(rows)).collect(),
            row("CTAs, mean", |sharing| number(sharing.mean_ctas, 2)),
            row("consecutive", |sharing| percent(sharing.consecutive_share)),
        ])
        .chain(sample)
        .collect();
    aligned(&table, &[1, 2, 3, 4])
}

fn spread(profile: &Profile, parts: &[(String, &Part)]) -> String {
    let spread = &profile.spread;
    let heading = words([
        "",
        "channels: min",
        "mean",
        "max",
        "CV",
        "entropy",
        "banks: CV",
        "entropy",
        "divergent",
    ]);
    let cells = |label: String, channels: &Evenness, banks: &Evenness, divergent: String| {
        vec![
            label,
            channels.min.to_string(),
            format!("{:.0}", channels.mean),
            channels.max.to_string(),
            number(channels.coefficient_of_variation, 3),
            percent(channels.entropy_share),
            number(banks.coefficient_of_variation, 3),
            percent(banks.entropy_share),
            divergent,
        ]
    };
    let lines = cells(
        "distinct lines".to_owned(),
        &spread.line_channels,
        &spread.line_banks,
        String::new(),
    );
    let accesses =
        parts.iter().filter(|(_, part)| part.spread.accesses > 0).map(|(label, part)| {
            let ChannelSpread { channels, banks, channels_per_divergent_instruction, .. } =
                &part.spread;
            cells(
                format!("accesses, {label}"),
                channels,
                banks,
                number(*channels_per_divergent_instruction, 2),
            )
        });
    let rows: Vec<Vec<String>> = [heading, lines].into_iter().chain(accesses).collect();
    let sample = match spread.lines_per_kept {
        1 => String::new(),
        lines => format!("distinct lines: {ESTIMATED} {}\n", kept("line", lines)),
    };
    format!(
        "{}{sample}divergent: channels of an instruction with several lines, mean\n\
             {} DRAM rows, {} accesses to a row before another of its bank\n",
        aligned(&rows, &(1..9).collect::<Vec<_>>()),
        estimate(spread.rows),
        number(spread.accesses_per_row_visit, 2),
    )
}

fn intensity(profile: &Profile, parts: &[(String, &Part)]) -> String {
    let heading = words(["", "FP", "integer", "bytes", "FP per byte", "integer per byte"]);
    let part_rows = parts.iter().map(|(label, part)| {
        let intensity = &part.intensity;
        vec![
            label.clone(),
            intensity.fp_operations.to_string(),
            intensity.integer_operations.to_string(),
            intensity.requested_bytes.to_string(),
            number(intensity.fp_per_requested_byte, 3),
            number(intensity.integer_per_requested_byte, 3),
        ]
    });
    let (all, compulsory) = (&profile.all.intensity, &profile.compulsory);
    let of_all = |label: &str, bytes: String, fp, integer| {
        let blank = String::new;
        vec![format!("all, {label}"), blank(), blank(), bytes, number(fp, 3), number(integer, 3)]
    };
    let moved = [
        of_all(
            "sectors of each access",
            all.sector_bytes.to_string(),
            all.fp_per_sector_byte,
            all.integer_per_sector_byte,
        ),
        of_all(
            "each sector once",
            estimate(compulsory.sector_bytes),
            compulsory.fp_per_sector_byte,
            compulsory.integer_per_sector_byte,
        ),
        of_all(
            "each line once",
            estimate(compulsory.line_bytes),
            compulsory.fp_per_line_byte,
            compulsory.integer_per_line_byte,
        ),
    ];
    let rows: Vec<Vec<String>> = once(heading).chain(part_rows).chain(moved).collect();
    aligned(&rows, &[1, 2, 3, 4, 5])
}

fn dependences(parts: &[(String, &Part)]) -> String {
    let heading = words([
        "kernel",
        "loads",
        "to first use",
        "unused",
        "address loaded",
        "dependent",
        "chain",
        "longest",
    ]);
    let rows = parts.iter().filter(|(_, part)| part.dependences.loads > 0).map(|(label, part)| {
        let figures = &part.dependences;
        vec![
            label.clone(),
            figures.loads.to_string(),
            number(figures.mean_use_distance, 1),
            percent(figures.unused_share),
            percent(figures.direct_share),
            percent(figures.dependent_share),
            number(figures.mean_chain, 2),
            figures.longest_chain.to_string(),
        ]
    });
    let rows: Vec<Vec<String>> = once(heading).chain(rows).collect();
    aligned(&rows, &(1..8).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::profile::{Options, profile};
    use std::ops::ControlFlow;
    use std::path::Path;
    use warpmem_trace::Trace;

    #[test]
    fn what_comes_of_a_sample_says_so() {
        let trace = Trace::open(Path::new("sample-traces/gather.wmt")).unwrap();
        let machine = crate::machine::load("li2015", &[]).unwrap();
        let with = |limit| {
            let options =
                Options { footprint_limit: limit, reuse_limit: limit, ..Options::default() };
            let profile = profile(&trace, &machine, &options, &mut |_| ControlFlow::Continue(()));
            text(&profile.unwrap(), 8)
        };
        let (exact, sampled) = (with(1 << 17), with(1 << 10));
        let row = |text: &str, label: &str| {
            let mut rows = text.lines().filter(|line| line.trim_start().starts_with(label));
            rows.next().unwrap().trim_end().to_owned()
        };
        assert!(!exact.contains("estimated from") && !row(&exact, "16 KiB").ends_with('–'));
        // In the sections on footprint, reuse, sharing and spread.
        assert_eq!(sampled.matches("estimated from 1 line of 32").count(), 2, "{sampled}");
        assert_eq!(sampled.matches("estimated from").count(), 4, "{sampled}");
        for moved in ["all, each sector once", "all, each line once"] {
            assert!(row(&sampled, moved).contains('±') && !row(&exact, moved).contains('±'));
        }
        // A tracked line represents 32, so 16 KiB have 128 of the 256 required lines.
        assert!(row(&sampled, "16 KiB").ends_with('–'), "{sampled}");
        assert!(row(&sampled, "32 KiB").contains('%'), "{sampled}");
        let (_, distances) = sampled.split_once("lines between").unwrap();
        assert!(row(distances, "0 ").ends_with('–'), "{sampled}");
    }
}
