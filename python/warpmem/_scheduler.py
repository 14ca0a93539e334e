"""DRAM schedulers written in Python, for trying an idea before writing it in Rust."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._warpmem import Bank, Channel, Command, Queue, Request


class DramScheduler:
    """Orders the requests of a channel: one object for each channel, made with its number.

    A subclass has ``pick`` and whatever of the other hooks it needs; hooks that it leaves alone
    cost nothing. The rules are those of the trait ``warpmem::dram::scheduler::Scheduler``: a bank
    without a request in service has a candidate, which is what ``pick`` says. The channel issues the
    command that it needs as soon as timing allows. Times are DRAM cycles. Where reads and writes
    have a queue each, hooks tell of reads only, unless ``orders_writes``.

    What other units tell is there for a class that asks for it: ``request.load`` where it has
    ``on_load_complete``, ``request.critical`` where it has a ``critical_share``.
    """

    #: As tables name it; by default the name of the class.
    name: str | None = None
    #: ``pick`` is asked again just before a candidate's first command issues.
    repick_at_issue = False
    #: ``pick`` looks at ``bank.next_commands``: all banks are asked again after every command.
    follows_timing = False
    #: The scheduler also rules a separate write queue, which is FR-FCFS otherwise.
    orders_writes = False
    #: Only the channel's oldest request is ever picked, and only when no other is in service.
    strictly_in_order = False
    #: Requests are dispatched to their banks in order, and the banks then work at once.
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
        """The request of ``bank.requests`` to serve next, or none to leave the bank idle for now.

        Decides eligibility and preference only; timing is the channel's. The answer may depend on
        ``bank`` and on what the hooks have told, never on how often it is asked.
        """
        raise NotImplementedError

    def changes_at(self, bank: Bank) -> int | None:
        """The cycle from which ``pick`` may answer otherwise though nothing happens to the bank."""

    def rank(self, command: Command) -> int:
        """Of the commands that could issue in this cycle one of the lowest rank does."""
        return 0

    def accepts(self, queue: Queue, request: Request) -> bool:
        """Whether the queue takes one more request; asked where it has room."""
        return queue.has_room

    def next_tick(self) -> int | None:
        """The next cycle at which ``tick`` is to be called, or none."""

    def tick(self, channel: Channel) -> Iterable[int] | None:
        """Time for work of one's own. The banks to ask again."""

    def on_arrival(self, request: Request) -> None:
        """A request has entered the queue."""

    def on_service(self, bank: Bank, request: Request) -> None:
        """The first command for a request issues; ``bank`` is as ``pick`` saw it."""

    def on_column(self, request: Request, last: bool, now: int) -> None:
        """A column command has issued for a request; after its last the request is gone."""

    def on_activated(self, bank: int, now: int) -> None:
        """A row of the bank has been opened."""

    def on_overtaken(self, now: int) -> None:
        """``rank`` let another bank issue a command than the round robin would have."""

    def on_merged(self, request: Request | None, merges: int, age: int, now: int) -> None:
        """More requests wait in the L2 for the data of a request: ``merges`` in all."""

    def on_load_complete(self, load: int, now: int) -> None:
        """No more requests of this load, ``request.load``, will come to the channel."""

    def counters(self) -> dict[str, int]:
        """Counts for the table ``policy_counters``, at the end of the run."""
        return {}
