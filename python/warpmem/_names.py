"""Names of policies and machines, for type checkers; generated from the registries:
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
MachineName = Literal[
    "a100",
    "accelsim-qv100",
    "accelsim-rtx2060s",
    "accelsim-rtx3070",
    "b200",
    "calrs2015",
    "h100",
    "h200",
    "l40s",
    "li2015",
    "owl2013",
    "rtx2060s",
    "rtx3070",
    "rtx4090",
    "v100",
    "warpedmc2023",
    "yuan2009",
]
SlotName = Literal[
    "dram_scheduler",
    "warp_scheduler",
    "cta_scheduler",
    "l2_queue",
    "topology",
    "arbiter",
    "prefetcher",
    "walk_scheduler",
    "ideal",
]
DramSchedulerName = Literal[
    "fcfs",
    "banked-fifo",
    "fr-fcfs",
    "most-pending",
    "mshr-m",
    "mshr-s",
    "mshr-s+a",
    "fr-rr-fcfs",
    "sjf-potential",
    "sms",
    "div-first",
    "warped-mc",
    "core-criticality",
    "medic",
    "mask",
    "par-bs",
    "atlas",
    "tcm",
    "bliss",
    "stfm",
    "wg",
    "wg-m",
    "wg-bw",
    "wg-w",
    "priority",
    "delay",
]
WarpSchedulerName = Literal[
    "lrr",
    "gto",
    "oldest",
    "two-level",
    "two-level-active",
    "cta-aware",
    "cta-aware-locality",
    "cta-aware-locality-blp",
    "swl",
    "ccws",
    "caws",
    "mascar",
]
CtaSchedulerName = Literal[
    "round-robin",
    "depth-first",
    "block-clustered",
    "lazy-cta",
    "dyncta",
]
L2QueueName = Literal[
    "fifo",
    "calrs",
    "calrs-ideal",
    "none",
]
TopologyName = Literal[
    "crossbar",
    "partitioned-crossbar",
    "ideal",
    "mesh",
    "ring",
    "butterfly",
]
ArbiterName = Literal[
    "round-robin",
    "hold-grant",
    "row-matching-hold-grant",
    "hash-matching-hold-grant",
    "oldest-first",
    "random",
]
PrefetcherName = Literal[
    "none",
    "opportunistic-stop",
    "opportunistic",
]
WalkSchedulerName = Literal[
    "fcfs",
    "sjf",
    "simt-aware",
    "warp-oldest",
]
IdealName = Literal[
    "none",
    "perfect-l1",
    "perfect-l2",
    "perfect-dram",
    "infinite-bandwidth-noc",
]
PolicyName = Union[
    DramSchedulerName,
    WarpSchedulerName,
    CtaSchedulerName,
    L2QueueName,
    TopologyName,
    ArbiterName,
    PrefetcherName,
    WalkSchedulerName,
    IdealName,
]


class RunPolicies(TypedDict, total=False):
    """A policy for each slot."""

    dram_scheduler: DramSchedulerName | ParameterizedPolicy | Own | None
    warp_scheduler: WarpSchedulerName | ParameterizedPolicy | None
    cta_scheduler: CtaSchedulerName | ParameterizedPolicy | None
    l2_queue: L2QueueName | ParameterizedPolicy | None
    topology: TopologyName | ParameterizedPolicy | None
    arbiter: ArbiterName | ParameterizedPolicy | None
    prefetcher: PrefetcherName | ParameterizedPolicy | None
    walk_scheduler: WalkSchedulerName | ParameterizedPolicy | None
    ideal: IdealName | ParameterizedPolicy | None


class ComparedPolicies(TypedDict, total=False):
    """One policy or several for each slot."""

    dram_scheduler: Several[DramSchedulerName | ParameterizedPolicy | Own] | None
    warp_scheduler: Several[WarpSchedulerName | ParameterizedPolicy] | None
    cta_scheduler: Several[CtaSchedulerName | ParameterizedPolicy] | None
    l2_queue: Several[L2QueueName | ParameterizedPolicy] | None
    topology: Several[TopologyName | ParameterizedPolicy] | None
    arbiter: Several[ArbiterName | ParameterizedPolicy] | None
    prefetcher: Several[PrefetcherName | ParameterizedPolicy] | None
    walk_scheduler: Several[WalkSchedulerName | ParameterizedPolicy] | None
    ideal: Several[IdealName | ParameterizedPolicy] | None
