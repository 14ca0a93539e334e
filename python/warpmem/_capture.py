"""CUDA kernels and programs, executed without a GPU."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from . import _warpmem
from ._arguments import MachineLike, machine_of
from ._progress import bar
from ._traces import Trace

#: The library that replaces the CUDA runtime, its name after `cargo install`, and the variable with its path.
RUNTIME = "libwarpmem_cudart.so"
INSTALLED_RUNTIME = "libwarpmem_cudart"
RUNTIME_PLACE = "WARPMEM_CUDART"


def capture(
    source: str | os.PathLike[str] | Sequence[str],
    output: str | os.PathLike[str],
    *,
    machine: MachineLike = "rtx2060s",
    capability: str = "7.5",
    progress: bool | None = None,
) -> Trace:
    """Executes CUDA without a GPU and writes the trace.

    ``source`` is a launch file (``gemm.toml``), which names PTX, or a program with its arguments
    (``["./bfs", "graph.txt"]``), unmodified but linked with the shared CUDA runtime. A program sees
    the device of ``machine``, with a compute ``capability``.
    """
    command = [os.fspath(source)] if isinstance(source, (str, os.PathLike)) else list(source)
    is_launch_file = isinstance(source, (str, os.PathLike)) and command[0].endswith(".toml")
    with bar("capture", "CTAs", progress) as report:
        if is_launch_file:
            _warpmem.capture_launches(command[0], os.fspath(output), report)
        else:
            major, _, minor = capability.partition(".")
            _warpmem.capture_program(
                command,
                os.fspath(output),
                str(_runtime()),
                machine_of(machine, None)._machine,
                (int(major), int(minor or 0)),
                report,
            )
    return Trace(output)


def _runtime() -> Path:
    """Returns the path of the library that replaces the CUDA runtime."""
    named = os.environ.get(RUNTIME_PLACE)
    if named:
        return Path(named)
    program = shutil.which("warpmem")
    folders = [Path(__file__).parent]
    if program:
        beside = Path(program).resolve().parent
        folders += [beside, beside.parent / "lib"]
    for library in (folder / name for folder in folders for name in (RUNTIME, INSTALLED_RUNTIME)):
        if library.is_file():
            return library
    places = ", ".join(str(folder) for folder in folders)
    raise _warpmem.Error(
        f"{RUNTIME}, which replaces the CUDA runtime, is missing from {places}; "
        f"`cargo build --release` makes it, or set {RUNTIME_PLACE} to its path"
    )
