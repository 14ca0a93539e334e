"""The extension module; users call the functions of ``warpmem``."""

from collections.abc import Callable
from typing import Any

ENGINE_VERSION: str
DEFAULT_MACHINE: str
#: Default bytes of a line and of a sector of a profile.
UNITS: tuple[int, int]
#: Names of the slots of a machine.
SLOTS: list[str]

class Error(Exception):
    """Bad input: the text states the mistake, its location, and valid input."""

class Fault(Error):
    """A fault of Warpmem: please report it."""

class Frame:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __len__(self) -> int: ...

class Machine:
    name: str
    description: str
    overrides: list[str]
    def __init__(self, name_or_file: str, overrides: list[str]) -> None: ...
    def changed(self, overrides: list[str]) -> Machine: ...
    def get(self, key: str) -> Any: ...
    def keys(self) -> list[tuple[str, Any, str, str, str]]: ...
    def to_toml(self) -> str: ...
    def clock_warnings(self) -> list[str]: ...

class Comparison:
    baseline: str
    def rows(self) -> Frame: ...
    def workloads(self) -> Frame: ...
    def pairs(self) -> Frame: ...
    def leverage(self) -> Frame: ...
    def findings(self) -> list[str]: ...
    def means(self) -> Frame: ...
    def tables(self) -> list[str]: ...
    def table(self, name: str) -> Frame: ...
    def to_text(self, width: int) -> str: ...

class Evaluator:
    def __init__(
        self, traces: list[str], machine: Machine, slot: str, baseline: str, variants: int
    ) -> None: ...
    def compare(
        self, policy: Any, metrics: list[str], jobs: int, progress: Report
    ) -> Comparison: ...

class Results:
    def __init__(self, directories: list[str]) -> None: ...
    def tables(self) -> list[str]: ...
    def table(self, name: str) -> Frame: ...
    def query(self, sql: str) -> Frame: ...
    def compare(self, baseline: str, metrics: list[str] | None) -> Comparison: ...

class Trace:
    path: str
    content_hash: str
    workload: str
    def __init__(self, path: str) -> None: ...
    def kernels(self) -> Frame: ...

class TraceWriter:
    def __init__(self, path: str, source: str) -> None: ...
    def reset_l2(self) -> None: ...
    def kernel(
        self,
        name: str,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        registers: int = 32,
        shared_bytes: int = 0,
        stream: int = 0,
        cluster: int | tuple[int, ...] | None = None,
    ) -> None: ...
    def cta(self, block: int | tuple[int, int, int]) -> None: ...
    def warp(self, warp: int) -> None: ...
    def memory(
        self,
        kind: str,
        addresses: list[int],
        bytes: int,
        space: str,
        mask: int | None,
        dests: list[int],
        srcs: list[int],
        pc: int | None,
        l2: str | None,
    ) -> None: ...
    def compute(self, kind: str, dests: list[int], srcs: list[int], mask: int) -> None: ...
    def barrier(
        self,
        id: int = 0,
        warps: int | None = None,
        mask: int = 0xFFFFFFFF,
        pc: int | None = None,
    ) -> None: ...
    def barrier_arrive(
        self, id: int, warps: int, mask: int = 0xFFFFFFFF, pc: int | None = None
    ) -> None: ...
    def cluster_arrive(self, mask: int = 0xFFFFFFFF, pc: int | None = None) -> None: ...
    def cluster_wait(self, mask: int = 0xFFFFFFFF, pc: int | None = None) -> None: ...
    def fence(self, mask: int = 0xFFFFFFFF, pc: int | None = None) -> None: ...
    def close(self) -> None: ...
    def abandon(self) -> None: ...

class Request:
    """A request in a channel's queue. Banks are numbered within the channel, times are DRAM cycles."""

    order: int
    bank: int
    row: int
    write: bool
    bursts: int
    arrived: int
    sm: int | None
    warp: int | None
    cta: int | None
    pc: int
    load: int | None
    critical: bool
    walk: bool
    merges: int
    age: int
    slot: int | None

class Bank:
    """A bank that is free to start a request."""

    now: int
    bank: int
    open_row: int | None
    requests: list[Request]
    hits: int
    oldest: Request
    oldest_hit: Request | None
    holds_channel_oldest: bool
    next_commands: tuple[tuple[str, int], ...] | None
    def fr_fcfs(self) -> Request: ...
    def is_hit(self, request: Request) -> bool: ...

class Channel:
    """A channel, as seen by a scheduler's ``tick``."""

    now: int
    requests: list[Request]
    full: bool
    writes: int
    write_high_watermark: int
    busy: list[int]

class Queue:
    """The queue that an arriving request enters."""

    waiting: int
    bank_waiting: int
    capacity: int
    bank_capacity: int
    banks: int
    has_room: bool

class Command:
    """A command that can issue now."""

    now: int
    kind: str
    request: Request | None

Report = Callable[[int, int], None] | None

def run(
    trace: str,
    machine: Machine,
    policies: list[tuple[str, Any]],
    recording: dict[str, Any],
    progress: Report,
) -> dict[str, Frame]: ...
def compare(
    traces: list[str],
    machines: list[Machine],
    policies: list[tuple[str, list[Any]]],
    baseline: str | None,
    repeats: dict[str, Any],
    metrics: list[str] | None,
    recording: dict[str, Any],
    jobs: int,
    progress: Report,
) -> Comparison: ...
def complexity(policy: str, machine: Machine) -> tuple[int, int] | None: ...
def plan_to_toml(json: str) -> str: ...
def deal_shards(sweeping: dict[str, str], shards: int) -> list[tuple[int, str]]: ...
def sweep(
    sweeping: dict[str, str], shard: str | None, jobs: int, progress: Report
) -> tuple[int, int]: ...
def generate(
    kernel: str,
    output: str,
    parameters: dict[str, str],
    seed: int,
    launches: str | None,
    progress: Report,
) -> list[str]: ...
def capture_launches(launch: str, output: str, progress: Report) -> int: ...
def capture_program(
    command: list[str],
    output: str,
    runtime: str,
    machine: Machine,
    capability: tuple[int, int],
    progress: Report,
) -> int: ...
def import_accel_sim(
    list: str,
    output: str,
    kernels: tuple[int, int] | None,
    drop_empty_masks: bool,
    progress: Report,
) -> list[str]: ...
def import_table(
    table: str,
    output: str,
    format: str,
    ignored_columns: list[str],
    use_distance: int | None,
    gap: int,
    progress: Report,
) -> list[str]: ...
def import_mem_trace(
    log: str,
    output: str,
    kernels: tuple[int, int] | None,
    use_distance: int | None,
    gap: int,
    progress: Report,
) -> list[str]: ...
def dram(
    machine: Machine,
    standard: str | None,
    schedulers: list[str],
    requests: dict[str, Any],
    progress: Report,
) -> Frame: ...
def network(
    machine: Machine,
    topologies: list[str],
    arbiters: list[str],
    traffic: dict[str, Any],
    loads: list[float] | None,
    progress: Report,
) -> Frame: ...
def report(asked: dict[str, Any], progress: Report) -> tuple[str, list[str]]: ...
def info(
    trace: str, machine: Machine | None, line: int, sector: int, progress: Report
) -> str: ...
def classify(
    traces: list[str],
    machine: Machine,
    policies: list[tuple[str, str]],
    jobs: int,
    progress: Report,
) -> Frame: ...
def reproduce(asked: dict[str, Any], progress: Report) -> tuple[Frame, list[str]]: ...
def papers() -> Frame: ...
def sample(trace: str, output: str, asked: dict[str, Any], progress: Report) -> str: ...
def correlate(asked: dict[str, Any], progress: Report) -> tuple[str, list[str]]: ...
def correlate_points(asked: dict[str, Any], progress: Report) -> str: ...
def correlate_profiles(
    asked: dict[str, Any], machine: Machine, progress: Report
) -> tuple[str, list[str]]: ...
def suites(name: str | None) -> str: ...
def suite(
    name: str,
    folder: str | None,
    size: str | None,
    only: list[str],
    jobs: int,
    progress: Report,
) -> list[str]: ...
def machines() -> Frame: ...
def policies(name: str | None) -> Frame: ...
def generators() -> Frame: ...
def metrics() -> Frame: ...
