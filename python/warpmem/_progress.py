"""Progress of long work: a bar in notebooks and on terminals, nothing elsewhere."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

with warnings.catch_warnings():
    # Without ipywidgets a notebook's bars are text, which is fine.
    warnings.simplefilter("ignore")
    from tqdm.auto import tqdm

#: Called with the completed amount, and the total if known.
Report = Callable[[int, int], None]

#: Seconds until a bar is shown: shorter work leaves no trace in a notebook.
DELAY = 0.5


def is_shown(progress: bool | None) -> bool:
    """Returns the setting; by default on in notebooks and terminals without ``TQDM_DISABLE``."""
    if progress is not None:
        return progress
    if os.environ.get("TQDM_DISABLE"):
        # Notebook bars do not read the variable themselves.
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextmanager
def bar(what: str, unit: str, progress: bool | None) -> Iterator[Report | None]:
    """Makes a bar that is removed at the end, or none."""
    if not is_shown(progress):
        yield None
        return
    start = time.time()
    shown: tqdm | None = None

    def report(done: int, total: int) -> None:
        nonlocal shown
        if shown is None:
            if time.time() - start < DELAY:
                return
            shown = tqdm(desc=what, unit=f" {unit}", unit_scale=True, leave=False)
            shown.start_t = start
        shown.total = total or None
        shown.n = done
        shown.refresh()

    try:
        yield report
    finally:
        if shown is not None:
            shown.close()
