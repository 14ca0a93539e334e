"""DRAM schedulers written in Python, for trying an idea before writing it in Rust."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._warpmem import Bank, Channel, Command, Queue, Request


class DramScheduler:
    """Orders the requests of a channel: one object per channel, constructed with its number.

    A subclass defines ``pick`` and any other hooks it needs; hooks that it does not override cost
    nothing. The rules are those of the trait ``warpmem::dram::scheduler::Scheduler``: a bank
    without a request in service has a candidate, chosen by ``pick``. The channel issues the
    candidate's next command as soon as timing allows. Times are DRAM cycles. If reads and writes
    have separate queues, hooks observe only reads, unless ``orders_writes``.

    Events of other units are available to a class that requests them: ``request.load`` with
    ``on_load_complete``, ``request.critical`` with a ``critical_share``.
    """

    #: Name in tables; by default the name of the class.
    name: str | None = None
    #: ``pick`` is asked again just before a candidate's first command issues.
    repick_at_issue = False
    #: ``pick`` reads ``bank.next_commands``, so every bank is asked again after every command.
    follows_timing = False
    #: The scheduler also orders a separate write queue, which otherwise uses FR-FCFS.
    orders_writes = False
    #: Only the channel's oldest request is ever picked, and only when no other is in service.
    strictly_in_order = False
    #: Requests are dispatched to their banks in order, and the banks then work in parallel.
    in_order_dispatch = False
    #: The round robins over banks share one pointer.
    shared_round_robin = False
    #: A page policy that replaces the machine's.
    page: str | None = None
    #: Replaces the machine's ``dram.picks_per_cycle``.
    picks_per_cycle: int | None = None
    #: ``request.critical`` is set if more than this share of the SM's warps wait for memory.
    critical_share: float | None = None

    def __init__(self, channel: int) -> None:
        self.channel = channel

    def pick(self, bank: Bank) -> Request | None:
        """Returns the request of ``bank.requests`` to serve next, or None to leave the bank idle.

        Decides eligibility and preference only; timing is the channel's. The answer may depend on
        ``bank`` and on events observed by hooks, never on the number of calls.
        """
        raise NotImplementedError

    def changes_at(self, bank: Bank) -> int | None:
        """Returns the cycle from which ``pick`` may change its choice without an event at the bank."""

    def rank(self, command: Command) -> int:
        """Ranks the commands that can issue in this cycle; one of the lowest rank issues."""
        return 0

    def accepts(self, queue: Queue, request: Request) -> bool:
        """Returns whether the queue accepts another request; called only if it has room."""
        return queue.has_room

    def next_tick(self) -> int | None:
        """Returns the next cycle at which to call ``tick``, or None."""

    def tick(self, channel: Channel) -> Iterable[int] | None:
        """Performs periodic work; returns the banks to ask again."""

    def on_arrival(self, request: Request) -> None:
        """Observes a request that entered the queue."""

    def on_service(self, bank: Bank, request: Request) -> None:
        """Observes the first command for a request; ``bank`` is as seen by ``pick``."""

    def on_column(self, request: Request, last: bool, now: int) -> None:
        """Observes a column command for a request, which leaves the queue after its last one."""

    def on_activated(self, bank: int, now: int) -> None:
        """Observes the opening of a row of the bank."""

    def on_overtaken(self, now: int) -> None:
        """Observes that ``rank`` chose a bank other than the round robin's."""

    def on_merged(self, request: Request | None, merges: int, age: int, now: int) -> None:
        """Observes a merge in the L2 with a request, which now has ``merges`` in total."""

    def on_load_complete(self, load: int, now: int) -> None:
        """Observes that no further requests of a load, ``request.load``, will reach the channel."""

    def counters(self) -> dict[str, int]:
        """Returns counts for the table ``policy_counters``, at the end of the run."""
        return {}
