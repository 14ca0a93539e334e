"""Figures and tables of comparisons for papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ._warpmem import SLOTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Names of the means over workloads.
MEANS = ("arithmetic", "geometric", "harmonic")
#: Column of the policies of all slots.
POLICY = "policy"
#: Differences that count as none, as a fraction.
EQUAL = 0.001


def tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds the column ``policy``: the policies of the slots that vary, separated by slashes, behind
    the machine and the overrides if these vary."""
    known = [name for name in SLOTS if name in frame.columns]
    slots = [name for name in known if frame[name].n_unique() > 1] or known[:1]
    beside = ["machine", "overrides"]
    settings = [c for c in beside if c in frame.columns and frame[c].n_unique() > 1]
    name = pl.concat_str(slots, separator="/") if slots else pl.lit("")
    if settings:
        name = pl.concat_str([pl.concat_str(settings, separator=" "), name], separator=": ")
    return frame.with_columns(name.alias(POLICY))


def changes(workloads: pl.DataFrame, means: pl.DataFrame, mean: str) -> pl.DataFrame:
    """Returns a row per policy, the fastest first: ``policy``, the mean IPC ratio, and one ratio per
    workload."""
    if mean not in MEANS:
        raise ValueError(f"no mean `{mean}`; there are {', '.join(MEANS)}")
    total = f"{mean} mean"
    of_mean = tidy(means.filter(pl.col("mean") == mean)).select(POLICY, total=pl.col("ipc_ratio"))
    wide = tidy(workloads).pivot(on="trace", index=POLICY, values="ipc_ratio")
    wide = of_mean.rename({"total": total}).join(wide, on=POLICY, how="left", maintain_order="left")
    return wide.sort(total, descending=True, nulls_last=True, maintain_order=True)


def latex(frame: pl.DataFrame, decimals: int, bold: bool) -> str:
    """Formats a frame of a name and numbers as a table of LaTeX with the rules of booktabs."""
    head, *numbers = frame.columns
    best = {name: frame[name].max() for name in numbers if bold and is_decided(frame[name])}
    lines = [" & ".join(escaped(name) for name in frame.columns)]
    for row in frame.iter_rows(named=True):
        cells = [number(row[name], decimals, row[name] == best.get(name, "none")) for name in numbers]
        lines.append(" & ".join([escaped(str(row[head])), *cells]))
    first, *rest = (line + r" \\" for line in lines)
    body = [r"\toprule", first, r"\midrule", *rest, r"\bottomrule"]
    columns = "l" + "r" * len(numbers)
    start = ["% \\usepackage{booktabs}", f"\\begin{{tabular}}{{{columns}}}"]
    return "\n".join([*start, *body, "\\end{tabular}", ""])


def is_decided(ratios: pl.Series) -> bool:
    """Returns whether the greatest ratio is greater than all others, by more than 0.1 %."""
    ordered = ratios.drop_nulls().sort(descending=True)
    return len(ordered) > 1 and ordered[0] - ordered[1] >= EQUAL * ordered[0]


def number(value: float | None, decimals: int, is_bold: bool) -> str:
    if value is None:
        return "--"
    text = f"{value:.{decimals}f}".replace("-", "$-$")
    return f"\\textbf{{{text}}}" if is_bold else text


def escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return re.sub(r"[\\~^&%$#_{}]", lambda m: special.get(m[0], "\\" + m[0]), text)


def plot(ratios: pl.DataFrame, baseline: str, intervals: dict[str, Sequence[float]]) -> Figure:
    """Draws the ranking and, beside it, the change of each workload under each policy."""
    pyplot = import_pyplot()
    _, total, *workloads = ratios.columns
    rows = ratios.height
    height = 2.2 + 0.22 * rows
    sizes = [3.0, 0.6 + 0.4 * len(workloads)] if len(workloads) > 1 else [3.0]
    drawn: tuple[Figure, Any] = pyplot.subplots(
        1, len(sizes), figsize=(1.2 + sum(sizes), height), width_ratios=sizes, squeeze=False,
        layout="constrained",
    )
    figure, axes = drawn
    draw_ranking(axes[0][0], ratios, total, baseline, intervals)
    if len(sizes) > 1:
        draw_map(figure, axes[0][1], ratios, [total, *workloads])
    return figure


def import_pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'warpmem[plots]'") from error
    return pyplot


def draw_ranking(
    axes: Any, ratios: pl.DataFrame, total: str, baseline: str, intervals: dict[str, Sequence[float]]
) -> None:
    names = ratios[POLICY].to_list()
    limit = nearest_limit(100 * (ratio - 1) for ratio in ratios[total].drop_nulls())
    for place, (name, ratio) in enumerate(zip(names, ratios[total], strict=True)):
        if ratio is None:
            continue
        if name in intervals:
            low, high = (100 * (end - 1) for end in intervals[name])
            axes.plot([low, high], [place, place], color="0.3", linewidth=1)
        change = 100 * (ratio - 1)
        # A far policy is an arrow at the end of the axis.
        mark = "o" if abs(change) <= limit else "<" if change < 0 else ">"
        axes.plot(max(-limit, min(change, limit)), place, mark, color="C0", markersize=4)
    axes.axvline(0, color="0.2", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4)
    axes.set_xlabel(f"IPC above {baseline} (%)")


def nearest_limit(changes: Iterable[float]) -> float:
    """Returns the greatest change that is not far greater than most."""
    sizes = sorted(abs(change) for change in changes)
    most = sizes[int(0.8 * (len(sizes) - 1))] if sizes else 0
    near = [size for size in sizes if most == 0 or size <= 3.5 * most]
    return max(near, default=0) or 1


def draw_map(figure: Any, axes: Any, ratios: pl.DataFrame, columns: list[str]) -> None:
    values = 100 * (ratios.select(columns).to_numpy().astype(float) - 1)
    limit = nearest_limit(v for v in values.flat if v == v)
    image = axes.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks([])
    axes.xaxis.tick_top()
    figure.colorbar(image, ax=axes, label="change of IPC (%)", extend="both")
