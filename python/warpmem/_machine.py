"""Machines."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _warpmem
from ._warpmem import DEFAULT_MACHINE


@dataclass(frozen=True)
class Key:
    """A parameter of a machine."""

    path: str
    value: Any
    #: Unit; empty if the value has none.
    unit: str
    #: Valid values.
    valid: str
    meaning: str


class Machine:
    """A machine: a preset (``warpmem.machines()``) or a TOML file, with overridden parameters.

    ``machine["dram.read_queue"]`` reads a parameter; ``machine["dram.read_queue"] = 128`` sets one,
    and ``changed`` returns another machine with several set at once. A machine is always valid: an
    invalid value raises ``warpmem.Error`` with the key, the value and the valid values.
    """

    def __init__(
        self, name: str | os.PathLike[str] = DEFAULT_MACHINE, *, set: Mapping[str, Any] | None = None
    ) -> None:
        self._machine = _warned(_warpmem.Machine(os.fspath(name), overrides_of(set)))

    @property
    def name(self) -> str:
        return self._machine.name

    @property
    def description(self) -> str:
        return self._machine.description

    @property
    def overrides(self) -> list[str]:
        """Returns the overridden parameters, ``key=value`` each, as in the tables."""
        return self._machine.overrides

    def changed(self, set: Mapping[str, Any]) -> Machine:
        """Returns another machine, with these parameters."""
        other = Machine.__new__(Machine)
        other._machine = _warned(self._machine.changed(overrides_of(set)))
        return other

    def __getitem__(self, key: str) -> Any:
        return self._machine.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._machine = _warned(self._machine.changed(overrides_of({key: value})))

    def __contains__(self, key: object) -> bool:
        return any(known.path == key for known in self.keys())

    def __iter__(self) -> Iterator[str]:
        return (key.path for key in self.keys())

    def keys(self) -> list[Key]:
        """Returns every parameter with its value, unit, valid values and meaning."""
        return [Key(*key) for key in self._machine.keys()]

    def to_dict(self) -> dict[str, Any]:
        return {key.path: key.value for key in self.keys()}

    def diff(self, other: Machine) -> dict[str, tuple[Any, Any]]:
        """Returns the parameters in which the machines differ, with both values."""
        ours, theirs = self.to_dict(), other.to_dict()
        return {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]}

    def to_toml(self) -> str:
        """Returns the whole machine as TOML."""
        return self._machine.to_toml()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the machine as a TOML file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_toml())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self._machine == other._machine

    def __repr__(self) -> str:
        overrides = "".join(f", {override}" for override in self.overrides)
        return f"<warpmem.Machine {self.name}{overrides}>"


def _warned(machine: _warpmem.Machine) -> _warpmem.Machine:
    """Opens the machine; warns of a clock that was changed without its timings."""
    for text in machine.clock_warnings():
        warnings.warn(text, stacklevel=3)
    return machine


def overrides_of(given: Mapping[str, Any] | None) -> list[str]:
    """Converts overridden parameters to the form of the command line."""
    return [f"{key}={_text(value)}" for key, value in (given or {}).items()]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_text(item) for item in value)}]"
    return str(value)
