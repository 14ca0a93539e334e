"""Trace-driven, event-driven simulator of GPU memory systems.

    import warpmem

    trace = warpmem.generate("spmv", "spmv.wmt", rows=2**14)
    run = warpmem.run(trace, machine="v100", dram_scheduler="warped-mc")
    print(run["ipc_thread"], run.channels)
    print(warpmem.compare(trace, dram_scheduler=["fcfs", "fr-fcfs"], baseline="fr-fcfs"))

Tables are polars frames, with the columns that ``docs/schema.md`` defines.
"""

from importlib.metadata import PackageNotFoundError, version

from ._capture import capture
from ._compare import Comparison, compare
from ._correlate import Correlation, correlate
from ._evaluate import Evaluation, Evaluator, Limits, complexity, evaluate, split
from ._info import Info, classify, info
from ._lists import generators, machines, metrics, policies
from ._machine import Key, Machine
from ._parameterized import ParameterizedPolicy
from ._policies import policy
from ._report import report
from ._reproduce import papers, reproduce
from ._results import Results
from ._run import Run, run
from ._sample import Sample, sample
from ._scheduler import DramScheduler
from ._standalone import dram, network
from ._suites import suite, suites
from ._sweep import sweep
from ._traces import (
    Trace,
    TraceWriter,
    generate,
    import_accel_sim,
    import_mem_trace,
    import_table,
)
from ._warpmem import ENGINE_VERSION, Error, Fault

try:
    __version__ = version("warpmem")
except PackageNotFoundError:
    __version__ = ENGINE_VERSION.split("+")[0]

__all__ = [
    "Comparison",
    "Correlation",
    "DramScheduler",
    "Error",
    "Evaluation",
    "Evaluator",
    "Fault",
    "Info",
    "Key",
    "Limits",
    "Machine",
    "ParameterizedPolicy",
    "Results",
    "Run",
    "Sample",
    "Trace",
    "TraceWriter",
    "capture",
    "classify",
    "compare",
    "complexity",
    "correlate",
    "dram",
    "evaluate",
    "generate",
    "generators",
    "import_accel_sim",
    "import_mem_trace",
    "import_table",
    "info",
    "machines",
    "metrics",
    "network",
    "papers",
    "policies",
    "policy",
    "report",
    "reproduce",
    "run",
    "sample",
    "split",
    "suite",
    "suites",
    "sweep",
]
