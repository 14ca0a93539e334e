"""Arguments shared by several functions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, Union

from ._machine import Machine
from ._scheduler import DramScheduler
from ._traces import Trace
from ._warpmem import SLOTS

#: A trace, or its file.
TraceLike = Union[Trace, str, "os.PathLike[str]"]
#: A machine, its name, or a file (TOML).
MachineLike = Union[Machine, str, "os.PathLike[str]"]
#: A policy by its name on the command line, or a DRAM scheduler written in Python: a subclass of
#: ``DramScheduler``, or a ``functools.partial`` of one.
Policy = Union[str, "type[DramScheduler]", "partial[DramScheduler]"]

T = TypeVar("T")


def path_of(trace: TraceLike) -> str:
    return os.fspath(trace.path if isinstance(trace, Trace) else trace)


def machine_of(machine: MachineLike, overrides: Mapping[str, Any] | None) -> Machine:
    if isinstance(machine, Machine):
        return machine.changed(overrides) if overrides else machine
    return Machine(machine, set=overrides)


def listed(one_or_many: T | Iterable[T]) -> list[T]:
    """Returns a single item or several as a list."""
    if isinstance(one_or_many, (list, tuple, set, frozenset)) or (
        isinstance(one_or_many, Iterable)
        and not isinstance(one_or_many, (str, bytes, os.PathLike, Mapping, Machine))
    ):
        return list(one_or_many)
    return [one_or_many]


def policy_of(policy: Policy) -> str | dict[str, Any]:
    """Converts a policy to the engine's form."""
    if isinstance(policy, str):
        return policy
    name = getattr(policy, "name", None)
    if name is None and isinstance(policy, partial):
        given = [repr(value) for value in policy.args]
        given += [f"{key}={value}" for key, value in policy.keywords.items()]
        name = f"{policy.func.name or policy.func.__name__}({','.join(given)})"
    return {"name": name or policy.__name__, "factory": policy}


def slots_of(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the given slots, by name."""
    for name in policies:
        if name not in SLOTS:
            raise TypeError(f"unexpected argument `{name}`; slots are {', '.join(SLOTS)}")
    return {name: policy for name, policy in policies.items() if policy is not None}


def recording_of(
    loads: bool, intervals: int | None, requests: str | None, commands: bool
) -> dict[str, Any]:
    return {"loads": loads, "intervals": intervals, "requests": requests, "commands": commands}
