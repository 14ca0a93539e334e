//! The documents keep up with the program.

use super::support::repository;
use std::fs;
use std::path::Path;
use warpmem::study::reproduce::Paper;
use warpmem::study::suite::Suite;
use warpmem::study::sweep::Plan;

fn read(path: &str) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether they can be run is another question: they name traces that are nowhere.
#[test]
fn plans_of_sweeps_are_plans_and_name_parameters_that_machines_have() {
    let keys = warpmem::machine::Machine::keys();
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
            assert!(keys.iter().any(|known| known.path == *key), "{key}");
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
