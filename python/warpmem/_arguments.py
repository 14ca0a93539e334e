"""Arguments shared by several functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union

from ._machine import Machine
from ._scheduler import DramScheduler
from ._traces import Trace
from ._warpmem import SLOTS, Error

if TYPE_CHECKING:
    from ._names import MachineName

#: A trace, or its file.
TraceLike = Union[Trace, str, "os.PathLike[str]"]
#: A machine, its name, or a file (TOML).
MachineLike = Union[Machine, "MachineName", str, "os.PathLike[str]"]
#: A policy by its name on the command line, or a DRAM scheduler written in Python: a subclass of
#: ``DramScheduler``, or a ``functools.partial`` of one.
Policy = Union[str, "type[DramScheduler]", "partial[DramScheduler]"]

F = TypeVar("F", bound=Callable[..., Any])


def path_of(trace: TraceLike) -> str:
    return os.fspath(trace.path if isinstance(trace, Trace) else trace)


def machine_of(machine: MachineLike, overrides: Mapping[str, Any] | None) -> Machine:
    if isinstance(machine, Machine):
        return machine.changed(overrides) if overrides else machine
    return Machine(machine, set=overrides)


def listed(one_or_many: Any) -> list[Any]:
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
    if isinstance(policy, partial):
        scheduler: Any = policy.func
        given = [repr(value) for value in policy.args]
        given += [f"{key}={value}" for key, value in policy.keywords.items()]
        name = name or f"{scheduler.name or scheduler.__name__}({','.join(given)})"
        return {"name": name, "factory": policy}
    return {"name": name or policy.__name__, "factory": policy}


def slots_of(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the given slots, by name."""
    for name in policies:
        if name not in SLOTS:
            raise TypeError(f"unexpected argument `{name}`; slots are {', '.join(SLOTS)}")
    return {name: policy for name, policy in policies.items() if policy is not None}


def policies_of(policies: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the given slots with their policies, none of which is written in Python."""
    chosen = slots_of(policies)
    for slot, policy in chosen.items():
        if not isinstance(policy, str):
            raise TypeError(f"`{slot}` must be the name of a built-in policy, not {policy!r}")
    return list(chosen.items())


def with_slots(function: F) -> F:
    """Shows the slots as parameters of the function, in help and completion."""
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[:-1]
    slots = [inspect.Parameter(slot, inspect.Parameter.KEYWORD_ONLY, default=None) for slot in SLOTS]
    shown: Any = function
    shown.__signature__ = signature.replace(parameters=[*own, *slots])
    return function


def share_of(name: str, given: float | str, least: float, most: float) -> float:
    """Converts a share, a number or text as on the command line (``"2%"``)."""
    try:
        text = str(given).strip()
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not (least <= share <= most and share > 0):
        valid = f"above 0 and at most {most:.0%}" if least == 0 else f"{least:.1%} to {most:.0%}"
        raise Error(f"`{name}` = {given!r} is not valid: shares are {valid}, as in \"2%\" or 0.02")
    return share


def recording_of(
    loads: bool, intervals: int | None, requests: str | None, commands: bool
) -> dict[str, Any]:
    return {"loads": loads, "intervals": intervals, "requests": requests, "commands": commands}
