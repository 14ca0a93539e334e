"""Progress of long work: a bar in notebooks and on terminals, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm.auto import tqdm

#: Called with what is done and the total, where the total is known.
Report = Callable[[int, int], None]


def is_shown(progress: bool | None) -> bool:
    """As asked for; by default where somebody looks."""
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextmanager
def bar(what: str, unit: str, progress: bool | None) -> Iterator[Report | None]:
    """A bar that is removed at the end, or none."""
    if not is_shown(progress):
        yield None
        return
    with tqdm(desc=what, unit=f" {unit}", unit_scale=True, leave=False) as shown:

        def report(done: int, total: int) -> None:
            shown.total = total or None
            shown.n = done
            shown.refresh()

        yield report
