//! The documentation of policies and machines is generated from their declarations, or compared
//! with them.

use std::collections::HashMap;
use warpmem_dram::page::PAGE_POLICIES;
use warpmem_dram::scheduler::SCHEDULERS;
use warpmem_dram::standard::Standard;
use warpmem_gpu::complexity::{of_scheduler, shape_of};
use warpmem_gpu::slots::{PolicySlot, SLOTS};
use warpmem_machine::{Machine, load, preset_names};
use warpmem_network::allocator::ALLOCATORS;
use warpmem_params::{Key, Param, PolicyInfo};
use warpmem_testing::documents::{
    assert_document, assert_parts, part, read, start_document, table,
};

/// File names of the policies' pages: the name of the policy, after that of its slot if another
/// slot has a policy of the same name.
struct Pages {
    namesakes: HashMap<&'static str, usize>,
}

impl Pages {
    fn new() -> Pages {
        let mut namesakes = HashMap::new();
        for info in SLOTS.iter().flat_map(PolicySlot::infos) {
            *namesakes.entry(info.name).or_default() += 1;
        }
        Pages { namesakes }
    }

    fn of(&self, slot: &PolicySlot, info: &PolicyInfo) -> String {
        match self.namesakes[info.name] {
            1 => format!("{}.md", info.name),
            _ => format!("{}-{}.md", slot.option(), info.name),
        }
    }
}

/// Name of the generated part with the parameters.
const PARAMETERS: &str = "parameters";

fn parameters(info: &PolicyInfo) -> String {
    let params = info.params();
    if params.is_empty() {
        return "**Parameters**: none.\n".to_owned();
    }
    let row = |p: &Param| {
        [format!("`{}`", p.name), p.default(), p.unit.into(), p.range(), p.summary.into()].to_vec()
    };
    table(&["parameter", "default", "unit", "valid", "meaning"], params.iter().map(row))
}

/// Returns the initial text of a page.
fn new_page(slot: &PolicySlot, info: &PolicyInfo) -> String {
    format!(
        "# `{}`: {}\n\n{}.\n\n{}\n**Source**: {}.\n",
        info.name,
        slot.title,
        capitalised(info.summary),
        part(PARAMETERS, &parameters(info)),
        info.source
    )
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[test]
fn every_policy_has_a_documentation_page_with_its_parameters() {
    let pages = Pages::new();
    for (slot, info) in
        SLOTS.iter().flat_map(|slot| slot.infos().into_iter().map(move |i| (slot, i)))
    {
        let page = format!("docs/policies/{}", pages.of(slot, info));
        start_document(&page, &new_page(slot, info));
        assert_parts(&page, &[(PARAMETERS, parameters(info))]);
        let title = format!("# `{}`: {}\n", info.name, slot.title);
        assert!(read(&page).starts_with(&title), "{page} does not begin with {title}");
    }
}

#[test]
fn the_index_documents_every_policy() {
    let pages = Pages::new();
    let section = |slot: &PolicySlot| {
        let rows = slot.infos().into_iter().map(|info| {
            vec![format!("[`{}`]({})", info.name, pages.of(slot, info)), info.summary.to_owned()]
        });
        format!(
            "### `{}`: {}\n\n{}\n",
            slot.option(),
            slot.decides,
            table(&["policy", "rule"], rows)
        )
    };
    let sections: String = SLOTS.iter().map(section).collect();
    assert_parts("docs/policies/README.md", &[("policies", format!("\n{sections}"))]);
}

#[test]
fn page_policies_and_allocators_are_documented() {
    let all = |infos: Vec<&PolicyInfo>| {
        let rows = infos.into_iter().map(|info| {
            let parameter = |p: &Param| format!("`{}` = {} {}", p.name, p.default(), p.unit);
            let parameters: Vec<String> = info.params().iter().map(parameter).collect();
            let [summary, source] = [info.summary, info.source].map(str::to_owned);
            vec![format!("`{}`", info.name), summary, parameters.join("; "), source]
        });
        table(&["name", "rule", "parameters", "source"], rows)
    };
    let infos = PAGE_POLICIES.infos().collect();
    assert_parts("docs/policies/page-policies.md", &[("page policies", all(infos))]);
    let infos = ALLOCATORS.infos().collect();
    assert_parts("docs/policies/allocators.md", &[("allocators", all(infos))]);
}

#[test]
fn the_bits_of_every_scheduler_are_documented() {
    let machine = load("li2015", &[]).unwrap();
    let shape = shape_of(&machine).unwrap();
    let rows = SCHEDULERS.names().map(|name| {
        let cost = of_scheduler(name, &machine, &shape).unwrap();
        let [stored, compared] = match cost {
            Some(cost) => [cost.stored, cost.compared].map(|bits| bits.to_string()),
            None => ["null", "null"].map(str::to_owned),
        };
        vec![format!("`{name}`"), stored, compared]
    });
    let bits = table(&["scheduler", "bits stored", "bits compared"], rows);
    assert_parts("docs/policies/complexity.md", &[("bits", bits)]);
}

#[test]
fn every_preset_is_documented() {
    let rows = preset_names().map(|name| {
        let machine = load(name, &[]).unwrap();
        let gigabytes = machine.peak_bytes_per_second() as f64 / 1e9;
        vec![format!("`{name}`"), machine.description, format!("{gigabytes:.1} GB/s")]
    });
    let presets = table(&["name", "machine", "peak of DRAM"], rows);
    assert_parts("docs/machines.md", &[("presets", presets)]);
}

/// The sections of keys with a table of their own; the table of a section excludes those nested in
/// it.
const SECTIONS: [&str; 10] =
    ["clocks", "sm", "l1", "network", "l2", "dram", "dram.timing", "dram.power", "policy", "run"];

/// Returns the section whose table has a key.
fn section_of(key: &str) -> Option<&'static str> {
    let holds =
        |section: &&str| key.strip_prefix(*section).is_some_and(|rest| rest.starts_with('.'));
    SECTIONS.into_iter().filter(holds).max_by_key(|section| section.len())
}

#[test]
fn every_key_of_a_machine_is_documented() {
    let row = |key: &Key| {
        let names: Vec<String> =
            key.param.kind.names().iter().map(|name| format!("`{name}`")).collect();
        let valid = if names.is_empty() { key.param.range() } else { names.join(", ") };
        let [unit, default] = [key.param.unit.to_owned(), key.param.default()];
        vec![format!("`{}`", key.path), unit, valid, default, key.meaning()]
    };
    let keys = Machine::keys();
    let keys_of = |section: Option<&'static str>| {
        let rows = keys.iter().filter(|key| section_of(&key.path) == section).map(row);
        let name = format!("keys of {}", section.unwrap_or("the machine"));
        (name, table(&["key", "unit", "valid", "default", "meaning"], rows))
    };
    let parts: Vec<_> = SECTIONS.into_iter().map(Some).chain([None]).map(keys_of).collect();
    let parts: Vec<_> = parts.iter().map(|(name, rows)| (name.as_str(), rows.clone())).collect();
    assert_parts("docs/machines.md", &parts);
}

#[test]
fn every_standard_is_documented() {
    let rows = Standard::names().map(|name| {
        let standard = Standard::load(name).unwrap();
        let [summary, source] = [standard.summary(), standard.source()].map(str::to_owned);
        vec![format!("`{name}`"), summary, source]
    });
    let standards = table(&["name", "device", "from"], rows);
    assert_parts("docs/dram-standards.md", &[("standards", standards)]);
}

/// The template of a program with policies of its own.
const TEMPLATE: &str = "docs/examples/my-policies";

#[test]
fn the_documented_examples_are_those_of_the_template() {
    let part = |name: &'static str| {
        let example = read(&format!("{TEMPLATE}/src/{name}.rs"));
        (name, format!("```rust\n{example}```\n"))
    };
    assert_parts("docs/extending.md", &["main", "strided", "warp_turns"].map(part));
}

/// Cargo takes profiles from the root of a workspace only; a copy of the template is its own root.
#[test]
fn the_documented_template_builds_as_warpmem_does() {
    let manifest = read("Cargo.toml");
    let (_, profiles) = manifest.split_once("\n[profile.").unwrap();
    let is_in_template = |line: &&str| !line.starts_with("warpmem-python");
    let profiles: Vec<&str> = profiles.lines().filter(is_in_template).collect();
    let expected =
        format!("# The profiles of Warpmem's Cargo.toml.\n\n[profile.{}\n", profiles.join("\n"));
    assert_document(&format!("{TEMPLATE}/.cargo/config.toml"), &expected);
}
