"""Progress of long work: a bar in notebooks and on terminals, nothing elsewhere."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

with warnings.catch_warnings():
    # Where a notebook has no ipywidgets its bars are text, which is well.
    warnings.simplefilter("ignore")
    from tqdm.auto import tqdm

#: Called with what is done and the total, where the total is known.
Report = Callable[[int, int], None]

#: Seconds until a bar is shown: what ends earlier leaves no trace in a notebook.
DELAY = 0.5


def is_shown(progress: bool | None) -> bool:
    """As asked for; by default where somebody looks, unless ``TQDM_DISABLE`` is set."""
    if progress is not None:
        return progress
    if os.environ.get("TQDM_DISABLE"):
        # Bars in notebooks do not read it themselves.
        return False
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextmanager
def bar(what: str, unit: str, progress: bool | None) -> Iterator[Report | None]:
    """A bar that is removed at the end, or none."""
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
