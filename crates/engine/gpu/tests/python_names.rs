//! The names of policies and machines in the Python package are generated from the registries, for
//! type checkers.

use std::fmt::Write;
use warpmem_gpu::slots::{PolicySlot, SLOTS};
use warpmem_machine::preset_names;
use warpmem_testing::documents::assert_document;

/// The file in the Python package.
const FILE: &str = "python/warpmem/_names.py";

const HEAD: &str = r#""""Names of policies and machines, for type checkers; generated from the registries:
`UPDATE_DOCS=1 cargo test -p warpmem-gpu document`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal, TypedDict, TypeVar, Union

from ._parameterized import ParameterizedPolicy
from ._scheduler import DramScheduler

T = TypeVar("T")

#: A DRAM scheduler written in Python.
Own = Union["type[DramScheduler]", "partial[Any]"]
#: One, several, or all policies of a slot.
Several = Union[T, Literal["all"], Iterable[Union[T, Literal["all"]]]]
"#;

const RUN: &str = r#"

class RunPolicies(TypedDict, total=False):
    """A policy for each slot."""

"#;

const COMPARED: &str = r#"

class ComparedPolicies(TypedDict, total=False):
    """One policy or several for each slot."""

"#;

/// Returns the name of a slot's type: `DramSchedulerName`.
fn type_name(slot: &PolicySlot) -> String {
    let words = slot.name.split('_');
    let capitalised = words.map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    capitalised.chain(["Name".to_owned()]).collect()
}

/// Formats the type of these names, a name in each line.
fn literal<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: String = names.map(|name| format!("    \"{name}\",\n")).collect();
    format!("{name} = Literal[\n{names}]\n")
}

/// Formats the type of a slot's policy: a name, or with parameters; a DRAM scheduler may be one in
/// Python.
fn choice(slot: &PolicySlot) -> String {
    let own = if slot.name == "dram_scheduler" { " | Own" } else { "" };
    format!("{} | ParameterizedPolicy{own}", type_name(slot))
}

fn text() -> String {
    let mut text = HEAD.to_owned();
    let mut add = |part: String| writeln!(text, "{}", part.trim_end()).unwrap();
    add(literal("MachineName", preset_names()));
    add(literal("SlotName", SLOTS.iter().map(|slot| slot.name)));
    for slot in &SLOTS {
        add(literal(&type_name(slot), slot.infos().into_iter().map(|info| info.name)));
    }
    let names: String = SLOTS.iter().map(|slot| format!("    {},\n", type_name(slot))).collect();
    add(format!("PolicyName = Union[\n{names}]"));
    let fields = |of: &dyn Fn(&PolicySlot) -> String| {
        SLOTS.iter().map(|slot| format!("    {}: {} | None\n", slot.name, of(slot))).collect()
    };
    let run: String = fields(&choice);
    let compared: String = fields(&|slot| format!("Several[{}]", choice(slot)));
    add(format!("{RUN}{run}"));
    add(format!("{COMPARED}{compared}"));
    text
}

#[test]
fn names_of_the_python_package_are_a_document_of_the_registries() {
    assert_document(FILE, &text());
}
