//! The documents keep up with the program.

use super::support::{Bench, repository};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;
use warpmem::study::reproduce::Paper;
use warpmem::study::suite::Suite;
use warpmem::study::sweep::Plan;

fn read(path: &str) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Policy {
    row: Map<String, Value>,
    /// File name of its page: its name, after its slot where another slot has a policy of that name.
    page: String,
}

/// Of the list, what has no page for itself.
const WITHOUT_PAGES: [&str; 5] =
    ["machine", "dram_standard", "generator", "page_policy", "allocator"];

fn listed() -> Vec<Map<String, Value>> {
    serde_json::from_str(&Bench::new().output(&["list", "--format", "json"])).unwrap()
}

fn policies() -> Vec<Policy> {
    let mut rows = listed();
    rows.retain(|row| !WITHOUT_PAGES.contains(&row["kind"].as_str().unwrap()));
    let page = |row: &Map<String, Value>| {
        let (slot, name) = (row["kind"].as_str().unwrap(), row["name"].as_str().unwrap());
        let namesakes = rows.iter().filter(|other| other["name"] == row["name"]).count();
        match namesakes {
            1 => format!("{name}.md"),
            _ => format!("{}-{name}.md", slot.replace('_', "-")),
        }
    };
    rows.iter().map(|row| Policy { row: row.clone(), page: page(row) }).collect()
}

#[test]
fn every_policy_has_a_page_with_its_parameters() {
    for Policy { row, page } in policies() {
        let text = read(&format!("docs/policies/{page}"));
        let name = row["name"].as_str().unwrap();
        assert!(text.starts_with(&format!("# `{name}`")), "{page}");
        for parameter in row["parameters"].as_array().unwrap() {
            let parameter = format!("`{}`", parameter["name"].as_str().unwrap());
            assert!(text.contains(&parameter), "{page}: {parameter}");
        }
    }
}

#[test]
fn page_policies_allocators_and_standards_are_on_pages_of_theirs() {
    for row in listed() {
        let page = match row["kind"].as_str().unwrap() {
            "page_policy" => "docs/policies/page-policies.md",
            "allocator" => "docs/policies/allocators.md",
            "dram_standard" => "docs/dram-standards.md",
            _ => continue,
        };
        let name = format!("| `{}` |", row["name"].as_str().unwrap());
        assert!(read(page).contains(&name), "{page}: {name}");
    }
}

#[test]
fn every_policy_is_in_the_index() {
    let index = read("docs/policies/README.md");
    for Policy { row, page } in policies() {
        let link = format!("[`{}`]({page})", row["name"].as_str().unwrap());
        assert!(index.contains(&link), "{link}");
    }
}

#[test]
fn the_examples_of_adding_a_policy_are_those_that_are_tested() {
    for name in ["strided", "warp_turns"] {
        let example = read(&format!("docs/examples/{name}.rs"));
        let shown = format!("```rust\n{example}```\n");
        assert!(read("docs/adding-a-policy.md").contains(&shown), "{name}");
    }
}

/// Whether they can be run is another question: they name traces that are nowhere.
#[test]
fn plans_of_sweeps_are_plans_and_name_parameters_that_machines_have() {
    let keys = warpmem::machine::keys();
    let text = read("docs/sweep.md");
    let blocks = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut named = 0;
    for block in blocks {
        let traces = if block.contains("traces = ") { "" } else { "traces = ['a.wmt']\n" };
        let plan =
            Plan::from_text(&format!("{traces}{block}"), Path::new("docs/sweep.md")).unwrap();
        for part in &plan.suites {
            Suite::built_in().plan(part.size.as_deref(), &part.workloads).unwrap();
        }
        let of_cases = plan.cases.iter().flat_map(|case| case.parameters.keys());
        for key in plan.parameters.keys().chain(of_cases) {
            assert!(keys.contains(key), "{key}");
            named += 1;
        }
    }
    assert!(named >= 5, "{named}");
}

#[test]
fn the_example_of_another_paper_is_one() {
    let text = read("docs/reproduce.md");
    let block = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let paper = Paper::from_text("example", block).unwrap();
    assert!(!paper.claims.is_empty() && !paper.configurations().unwrap().is_empty());
    assert_eq!(paper.quickly().workloads().unwrap().len(), 2);
}

#[test]
fn the_check_runs_the_test_command_of_the_readme() {
    let check = read(".ci/run");
    let command = check.lines().find(|line| line.starts_with("cargo test")).unwrap();
    assert!(read("README.md").contains(&format!("\n{command}\n")), "{command}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut pages = vec!["README.md".to_owned(), "CHANGELOG.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    for page in pages {
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let here = repository().join(&page);
            let is_outside = link.contains("://") || target.is_empty();
            assert!(is_outside || here.with_file_name(target).exists(), "{page} leads to {link}");
        }
    }
}
