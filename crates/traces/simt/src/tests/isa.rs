//! Instruction forms that kernels may or may not use, listed after the PTX ISA (`isa/forms.txt`).
//!
//! Where [`PTXAS`] names a ptxas, the list is checked with it, so that every listed form is valid PTX.

use std::fmt::Write;
use std::process::Command;

use warpmem_ptx::parse;

use crate::{DeviceMemory, Image, Launch, Params, Run};

/// Environment variable with the path of ptxas.
const PTXAS: &str = "WARPMEM_PTXAS";

const LIST: &str = include_str!("isa/forms.txt");

/// A form of an instruction.
struct Form {
    /// Line of the list.
    line: usize,
    text: String,
    /// Reason why it is refused.
    refused: Option<&'static str>,
}

/// Forms of one PTX version and target.
struct Section {
    version: &'static str,
    target: &'static str,
    forms: Vec<Form>,
}

fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut refused = None;
    for (line, text) in (1..).zip(LIST.lines()) {
        if let Some(header) = text.strip_prefix("= ") {
            let (version, target) = header.split_once(' ').unwrap();
            sections.push(Section { version, target, forms: Vec::new() });
        } else if let Some(reason) = text.strip_prefix("! ") {
            refused = Some(reason);
        } else if text.is_empty() {
            refused = None;
        } else if !text.starts_with('#') {
            let forms = alternatives(text).into_iter();
            let forms = forms.map(|text| Form { line, text, refused });
            sections.last_mut().unwrap().forms.extend(forms);
        }
    }
    sections
}

/// Expands the alternatives `<a|b>` of a line.
fn alternatives(line: &str) -> Vec<String> {
    let Some((before, (choices, behind))) =
        line.split_once('<').and_then(|(before, rest)| Some((before, rest.split_once('>')?)))
    else {
        return vec![line.into()];
    };
    let endings = alternatives(behind);
    let of_choice = |choice| endings.iter().map(move |end| format!("{before}{choice}{end}"));
    choices.split('|').flat_map(of_choice).collect()
}

impl Section {
    /// Builds a module whose kernel has these instructions, one per line after the head; returns the number
    /// of lines of the head.
    fn module(&self, forms: &[Form]) -> (String, usize) {
        let Section { version, target, .. } = self;
        let mut text = format!(
            ".version {version}\n.target {target}\n.address_size 64\n\
             .global .align 128 .b8 global[1024];\n.const .align 16 .b8 constant[64];\n\
             .func (.param .b32 z) function(.param .b32 x) {{ ret; }}\n.func callee() {{ ret; }}\n\
             .visible .entry k(.param .u64 a) {{\n\
             .reg .pred %p<8>; .reg .b16 %h<20>; .reg .b32 %r<80>; .reg .b64 %d<40>;\n\
             .shared .align 128 .b8 shared[1024]; .local .align 16 .b8 local[64];\n"
        );
        // Not every form needs these declarations, and not every declaration is supported.
        for (name, declaration) in [
            ("%q", ".reg .b128 %q<4>;\n"),
            ("argument", ".param .b32 argument, result;\n"),
            ("targets", "targets: .branchtargets done, done;\n"),
            ("prototype", "prototype: .callprototype () _ ();\n"),
        ] {
            if forms.iter().any(|form| form.text.contains(name)) {
                text += declaration;
            }
        }
        let head = text.lines().count();
        forms.iter().for_each(|form| writeln!(text, "{};", form.text).unwrap());
        text += "done: ret;\n}\n";
        (text, head)
    }
}

/// Returns the reason why a kernel with a form is refused, if it is.
fn refusal(section: &Section, form: &Form) -> Option<String> {
    let (text, _) = section.module(std::slice::from_ref(form));
    let module = match parse(&text) {
        Ok(module) => module,
        Err(error) => return Some(error.to_string()),
    };
    let launch = Launch {
        kernel: "k".into(),
        grid: [1; 3],
        block: [128, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        workspace: 0,
        window: None,
        params: Params(vec![vec![0; 8]]),
    };
    let image = Image::load(module, &mut DeviceMemory::default());
    let run = image.and_then(|image| Run::new(&image, &launch).map(|_| ()));
    run.err().map(|error| error.to_string())
}

/// Writes the section of `docs/ptx.md` about refused forms.
pub(super) fn refused() -> String {
    let sections = sections();
    let forms = || sections.iter().flat_map(|section| &section.forms);
    let (all, refused) = (forms().count(), forms().filter(|form| form.refused.is_some()).count());
    let mut text = format!(
        "\n## Forms that are refused\n\n\
         `crates/traces/simt/src/tests/isa/forms.txt` lists {all} instruction forms of all families of the PTX ISA \
         that\ncompilers emit for sm_75 to sm_90; the ptxas of CUDA 13.5 accepts all of them\n\
         (`{PTXAS}=/path/to/ptxas cargo test -p warpmem-simt isa`). A test launches a kernel with each: {} are\n\
         launched, and these {refused} are refused, with the reason; `<a|b>` stands for a and b.\n",
        all - refused
    );
    let (mut reason, mut line) = ("", 0);
    for form in forms() {
        let Some(why) = form.refused.filter(|_| form.line != line) else { continue };
        if why != reason {
            write!(text, "\n{}{}:\n\n", why[..1].to_uppercase(), &why[1..]).unwrap();
        }
        (reason, line) = (why, form.line);
        writeln!(text, "- `{}`", LIST.lines().nth(line - 1).unwrap_or_default()).unwrap();
    }
    text
}

#[test]
fn listed_forms_launch_or_are_refused_as_listed() {
    let mut wrong = Vec::new();
    for section in sections() {
        for form in &section.forms {
            let said = match (refusal(&section, form), form.refused) {
                (Some(said), None) => said,
                (None, Some(_)) => "launched, but listed as refused".into(),
                _ => continue,
            };
            wrong.push((form.line, format!("{}: {said}", form.text)));
        }
    }
    // Report one form per line.
    wrong.dedup_by_key(|(line, _)| *line);
    let wrong: Vec<String> =
        wrong.into_iter().map(|(line, said)| format!("line {line}: {said}\n")).collect();
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn ptxas_accepts_every_form_of_the_list() {
    let Some(ptxas) = std::env::var_os(PTXAS) else {
        eprintln!("skipped: {PTXAS} names no ptxas");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forms.ptx");
    for section in sections() {
        let (text, head) = section.module(&section.forms);
        std::fs::write(&path, text).unwrap();
        let arch = format!("--gpu-name={}", section.target);
        let output = folder.path().join("forms.cubin");
        let run = Command::new(&ptxas).arg(arch).arg(&path).arg("-o").arg(output).output().unwrap();
        if !run.status.success() {
            let said = String::from_utf8_lossy(&run.stderr);
            let named = said.lines().map(|said| with_form(said, &section, head) + "\n");
            panic!("{}", named.collect::<String>());
        }
    }
}

/// Returns an error of ptxas with the form it refers to.
fn with_form(said: &str, section: &Section, head: usize) -> String {
    let line = said.split_once("line ").and_then(|(_, rest)| rest.split_once(';'));
    let line = line.and_then(|(line, _)| line.parse::<usize>().ok());
    let form = line.and_then(|line| section.forms.get(line.checked_sub(head + 1)?));
    form.map_or(said.into(), |form| {
        format!("{said} (line {} of the list: {})", form.line, form.text)
    })
}
