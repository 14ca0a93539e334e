//! The documents agree with the program.

use super::help::commands;
use super::support::{Bench, repository};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use warpmem::study::reproduce::Paper;
use warpmem::study::suite::Suite;
use warpmem::study::sweep::Plan;
use warpmem::workload::generators;

/// Folders of the repository named by pages.
const SOURCES: [&str; 10] = [
    ".ci",
    "analysis",
    "benches",
    "crates",
    "docs",
    "fuzz",
    "python",
    "src",
    "tests",
    "trace-format",
];

fn read(path: &str) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The plans cannot run here, because the traces that they name do not exist.
#[test]
fn plans_on_pages_parse_and_name_existing_keys() {
    let keys = warpmem::machine::Machine::keys();
    let text = read("docs/run.md");
    let blocks = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut named = 0;
    for block in blocks {
        let traces = if block.contains("traces = ") { "" } else { "traces = ['a.wmt']\n" };
        let plan = Plan::from_text(&format!("{traces}{block}"), Path::new("docs/run.md")).unwrap();
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

/// Returns the README, the page for contributors and the pages below `docs/`.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
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
    pages
}

#[test]
fn links_between_documents_lead_somewhere() {
    for page in pages().into_iter().chain(["CHANGELOG.md".to_owned()]) {
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let here = repository().join(&page);
            let is_outside = link.contains("://") || target.is_empty();
            assert!(is_outside || here.with_file_name(target).exists(), "{page} leads to {link}");
        }
    }
}

static FENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?ms)^ *```(\w*)\n(.*?)^ *```").unwrap());
static SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`]+)`").unwrap());
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"'[^']*'|"[^"]*"|(?m)(^|\s)#.*$"#).unwrap());
static OPTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"--[a-z][a-z0-9-]*").unwrap());

/// Returns the code of a page: its fenced blocks and inline spans.
fn code(text: &str) -> (Vec<String>, Vec<String>) {
    let is_shell = |language: &str| ["", "sh", "bash", "console"].contains(&language);
    let blocks = FENCE.captures_iter(text).filter(|block| is_shell(&block[1]));
    let blocks = blocks.map(|block| block[2].to_owned()).collect();
    let prose = FENCE.replace_all(text, "");
    let spans = SPAN.captures_iter(&prose).map(|span| span[1].replace('\n', " ")).collect();
    (blocks, spans)
}

/// Returns the program calls in a piece of code, each as its words, without quoted text and
/// comments.
fn calls(code: &str) -> Vec<Vec<String>> {
    let code = QUOTED.replace_all(code, " Q ").replace("\\\n", " ");
    let commands = code.split(['\n', '|', ';', '(', ')', '&', '`']);
    let calls = commands.filter_map(|command| {
        let mut words = command
            .split_whitespace()
            .skip_while(|word| word.contains('=') || ["do", "then", "time", "$"].contains(word));
        (words.next()? == "warpmem").then(|| words.map(str::to_owned).collect())
    });
    calls.collect()
}

/// Returns the options in a text.
fn options(text: &str) -> BTreeSet<String> {
    OPTION.find_iter(text).map(|option| option.as_str().to_owned()).collect()
}

#[test]
fn commands_and_options_that_pages_name_exist() {
    let bench = Bench::new();
    let mut helps = commands(&bench);
    let pages: Vec<(String, String)> =
        pages().into_iter().map(|page| (read(&page), page)).collect();
    // Kernels are missing from the list of commands.
    let kernels = generators().iter().map(|kernel| kernel.name);
    let is_named = |kernel: &&str| {
        pages.iter().any(|(text, _)| text.contains(&format!("warpmem generate {kernel}")))
    };
    for kernel in kernels.filter(is_named) {
        let help = bench.output(&["generate", kernel, "--help"]);
        helps.push((vec!["generate".to_owned(), kernel.to_owned()], help));
    }
    let commands: BTreeMap<Vec<String>, BTreeSet<String>> =
        helps.into_iter().map(|(command, help)| (command, options(&help))).collect();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (text, page) in &pages {
        let (blocks, spans) = code(text);
        for words in blocks.iter().chain(&spans).flat_map(|code| calls(code)) {
            let lengths = (0..=words.len().min(3)).rev();
            let mut prefixes = lengths.map(|length| &words[..length]);
            let command = prefixes.find(|prefix| commands.contains_key(*prefix)).unwrap();
            let next = words.get(command.len()).map_or("", String::as_str);
            if next.len() > 1 && next.chars().all(|c| c.is_ascii_uppercase()) {
                // A placeholder for any command or kernel.
                continue;
            }
            let is_name = next.starts_with(|c: char| c.is_ascii_lowercase());
            // The key of the checksum in a table looks like a call.
            if command.is_empty() && is_name && !["help", "crc32"].contains(&next) {
                wrong.push(format!("{page}: there is no command `{}`", words.join(" ")));
            }
            // Words after `--` belong to another program.
            let own = words.iter().take_while(|word| *word != "--");
            for option in own.flat_map(|word| options(word)) {
                checked += 1;
                if !commands[command].contains(&option) {
                    wrong.push(format!("{page}: `{}` has no option {option}", words.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 300, "{checked}");
}

#[test]
fn files_that_pages_name_exist() {
    let mut files = Vec::new();
    let mut folders = vec![repository().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && !["target", ".git"].contains(&name.as_str()) {
                folders.push(path);
            } else {
                let path = path.strip_prefix(repository()).unwrap();
                files.push(format!("/{}", path.to_str().unwrap()));
            }
        }
    }
    let path = Regex::new(r"^[\w.-]+(/[\w.-]+)*/?$").unwrap();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        for span in code(&read(&page)).1.iter().filter(|span| path.is_match(span)) {
            let first = span.split('/').next().unwrap();
            let is_here = span.contains('/') && SOURCES.contains(&first);
            let stands_for_any = span.contains("NAME") || span.starts_with("fuzz/corpus");
            let is_here = is_here && !stands_for_any;
            // A source file may be named without its folders.
            let is_named = span.ends_with(".rs");
            checked += usize::from(is_here || is_named);
            let exists = repository().join(span).exists()
                || is_named && files.iter().any(|file| file.ends_with(&format!("/{span}")));
            if (is_here || is_named) && !exists {
                wrong.push(format!("{page} names {span}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 80, "{checked}");
}
