"""The package through its public interface. Run by `python -m unittest discover python/tests`."""

import _thread
import io
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

import polars as pl
from polars.testing import assert_frame_equal

import warpmem

SAMPLES = Path(__file__).parents[2] / "sample-traces"
GATHER = SAMPLES / "gather.wmt"
VECADD = SAMPLES / "vecadd.wmt"
BFS = SAMPLES / "cache-resident" / "bfs-rmat.wmt"


class FrFcfs(warpmem.DramScheduler):
    """Row hits first, then the oldest."""

    name = "python-fr-fcfs"

    def pick(self, bank):
        hits = (request for request in bank.requests if request.row == bank.open_row)
        return next(hits, bank.requests[0])


class Capped(warpmem.DramScheduler):
    """Row hits first, but no more than `cap` in succession."""

    def __init__(self, channel, cap=4):
        super().__init__(channel)
        self.cap = cap
        self.served = {}

    def pick(self, bank):
        return bank.oldest if self.served.get(bank.bank, 0) >= self.cap else bank.fr_fcfs()

    def on_service(self, bank, request):
        served = self.served.get(bank.bank, 0) + 1 if bank.is_hit(request) else 0
        self.served[bank.bank] = served

    def counters(self):
        return {"longest": max(self.served.values(), default=0)}


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Running(InTemporaryFolder):
    def test_a_run_has_metrics_and_tables(self):
        run = warpmem.run(GATHER, dram_scheduler="fcfs", loads=True, intervals=1000)
        self.assertEqual(run["dram_scheduler"], "fcfs")
        self.assertEqual(run["loads"], run.loads.height)
        self.assertGreater(run.intervals.height, 1)
        self.assertIsInstance(run.channels, pl.DataFrame)
        self.assertNotIn("requests", run.tables())
        with self.assertRaisesRegex(AttributeError, "no table `nothing`"):
            run.nothing

    def test_tables_equal_the_written_files(self):
        plan = {"traces": [str(GATHER)], "loads": True, "policies": {"dram_scheduler": ["fcfs"]}}
        files = warpmem.sweep(plan, self.folder / "results", progress=False)
        run = warpmem.run(GATHER, dram_scheduler="fcfs", loads=True)
        for name in files.tables():
            # The commands of the runs differ.
            ours, theirs = (
                table.drop("command", strict=False) for table in (run.table(name), files.table(name))
            )
            assert_frame_equal(ours, theirs)

    def test_overrides_match_the_command_line(self):
        run = warpmem.run(GATHER, set={"dram.read_queue": 16})
        self.assertEqual(run["overrides"], "dram.read_queue=16")

    def test_errors_match_the_command_line(self):
        with self.assertRaisesRegex(warpmem.Error, "did you mean `fr-fcfs`"):
            warpmem.run(GATHER, dram_scheduler="fr-fcf")
        with self.assertRaisesRegex(warpmem.Error, "nowhere.wmt"):
            warpmem.run("nowhere.wmt")
        with self.assertRaisesRegex(warpmem.Error, "read_queue"):
            warpmem.run(GATHER, set={"dram.read_queu": 1})
        with self.assertRaisesRegex(TypeError, "slots are dram_scheduler"):
            warpmem.run(GATHER, dram_schedular="fcfs")

    def test_other_threads_continue_during_a_run(self):
        counted = []
        done = threading.Event()
        other = threading.Thread(target=lambda: [counted.append(1) for _ in iter(done.is_set, True)])
        other.start()
        warpmem.run(GATHER)
        done.set()
        other.join()
        self.assertGreater(len(counted), 1)

    def test_ctrl_c_stops_a_run(self):
        trace = warpmem.generate("gups", self.folder / "long.wmt", n=2**20, table=2**20)
        threading.Timer(0.3, _thread.interrupt_main).start()
        with self.assertRaises(KeyboardInterrupt):
            warpmem.run(trace)

    def test_a_bar_is_shown_only_during_long_work(self):
        from warpmem import _progress

        for delay, is_shown in ((60, False), (0, True)):
            told = io.StringIO()
            with mock.patch.object(_progress, "DELAY", delay), redirect_stderr(told):
                with _progress.bar("work", "pieces", True) as report:
                    report(1, 2)
            self.assertEqual("work:  50%" in told.getvalue(), is_shown)

    def test_no_bar_is_shown_if_tqdm_is_disabled(self):
        from warpmem._progress import is_shown

        with mock.patch.dict(sys.modules, ipykernel=None):
            self.assertTrue(is_shown(None))
            with mock.patch.dict(os.environ, TQDM_DISABLE="1"):
                self.assertFalse(is_shown(None))
                self.assertTrue(is_shown(True))

    def test_progress_is_reported_until_the_end(self):
        from warpmem import _warpmem

        told = []
        recording = {"loads": False, "intervals": None, "requests": None, "commands": False}
        machine = warpmem.Machine()._machine
        _warpmem.run(str(GATHER), machine, [], recording, lambda *at: told.append(at))
        done, total = told[-1]
        self.assertEqual(done, total)


class Comparing(InTemporaryFolder):
    def test_policies_are_compared_with_the_baseline(self):
        comparison = warpmem.compare(
            [GATHER, BFS], dram_scheduler=["fcfs", "fr-fcfs"], baseline="fr-fcfs"
        )
        self.assertEqual(comparison.rows.height, 4)
        own = comparison.rows.filter(pl.col("dram_scheduler") == "fr-fcfs")
        self.assertEqual(own["ipc_ratio"].to_list(), [1.0, 1.0])
        self.assertEqual(comparison.runs.height, 4)
        self.assertIn("means of 2 workloads on v100", str(comparison))

    def test_machines_are_compared_side_by_side(self):
        mirror = warpmem.Machine("accelsim-qv100", set={"dram.read_queue": 32})
        comparison = warpmem.compare(
            GATHER, ["li2015", mirror], dram_scheduler=["fcfs", "fr-fcfs"], metrics=["cycles"]
        )
        self.assertEqual(comparison.rows["machine"].unique().sort().to_list(), ["accelsim-qv100", "li2015"])
        self.assertIn("cycles", comparison.rows.columns)

    def test_a_notebook_shows_the_table_of_the_command_line(self):
        shown = warpmem.compare(GATHER, dram_scheduler=["fcfs"])._repr_html_()
        self.assertIn("gather on v100", shown)
        self.assertIn("font-family: monospace", shown)

    def test_a_single_machine_needs_no_list(self):
        machine = warpmem.Machine("li2015", set={"dram.read_queue": 16})
        comparison = warpmem.compare(GATHER, machine, dram_scheduler=["fcfs", "fr-fcfs"])
        self.assertEqual(comparison.rows["overrides"].unique().to_list(), ["dram.read_queue=16"])

    def test_seeds_and_variants_are_repeats(self):
        traces = [
            warpmem.generate("bfs", self.folder / f"bfs-{seed}.wmt", seed=seed, nodes=2**9)
            for seed in (1, 2)
        ]
        comparison = warpmem.compare(
            traces, "li2015", dram_scheduler=["fcfs", "fr-fcfs"], baseline="fr-fcfs", repeat=2
        )
        self.assertEqual((comparison.rows.height, comparison.workloads.height), (8, 2))
        self.assertEqual(comparison.workloads["trace"].unique().to_list(), ["bfs-*"])
        self.assertEqual(comparison.runs["seed"].unique().sort().to_list(), [1, 2])
        self.assertEqual(comparison.runs["variant"].unique().sort().to_list(), [0, 1])
        self.assertEqual(comparison.runs["bound"].unique().to_list(), ["perfect-dram"])
        self.assertEqual(comparison.pairs.height, 1)
        self.assertEqual(comparison.ratios().columns, ["policy", "geometric mean", "bfs-*"])
        self.assertGreater(comparison.leverage["ipc_bound"][0], 0)
        self.assertTrue(str(comparison).startswith(comparison.findings[0][:20]))

    def test_a_bound_can_be_left_out(self):
        comparison = warpmem.compare(GATHER, dram_scheduler=["fcfs", "fr-fcfs"], bound=False)
        self.assertEqual(comparison.leverage["ipc_bound"].to_list(), [None])
        with self.assertRaisesRegex(warpmem.Error, "valid are 1 to 100"):
            warpmem.compare(GATHER, dram_scheduler=["fcfs", "fr-fcfs"], repeat=0)

    def test_a_trace_is_given_once(self):
        with self.assertRaisesRegex(warpmem.Error, "hold the same trace: give it once"):
            warpmem.compare([GATHER, GATHER], dram_scheduler=["fcfs", "fr-fcfs"])


class Figures(InTemporaryFolder):
    @classmethod
    def setUpClass(cls):
        policies = ["fcfs", "fr-fcfs"]
        cls.comparison = warpmem.compare(
            [GATHER, VECADD], dram_scheduler=policies, baseline="fr-fcfs", progress=False
        )

    def test_ratios_are_ranked_with_a_column_per_workload(self):
        ratios = self.comparison.ratios("harmonic")
        self.assertEqual(ratios.columns, ["policy", "harmonic mean", "gather", "vecadd"])
        self.assertEqual(ratios["policy"][0], "fr-fcfs")
        self.assertEqual(ratios.row(0)[1:], (1.0, 1.0, 1.0))
        with self.assertRaisesRegex(ValueError, "no mean `median`; there are arithmetic"):
            self.comparison.ratios("median")

    def test_latex_is_a_booktabs_table_with_the_best_in_bold(self):
        text = self.comparison.to_latex(self.folder / "table.tex", decimals=2)
        self.assertEqual((self.folder / "table.tex").read_text(), text)
        lines = text.splitlines()
        self.assertEqual(lines[1:3], ["\\begin{tabular}{lrrr}", "\\toprule"])
        self.assertEqual(lines[3], "policy & geometric mean & gather & vecadd \\\\")
        self.assertTrue(lines[5].startswith("fr-fcfs & \\textbf{1.00} & "), lines[5])

    def test_a_difference_below_a_thousandth_is_not_bold(self):
        frame = pl.DataFrame({"policy": ["a_b", "c"], "x": [1.0005, 1.0], "y": [None, 1.0]})
        text = warpmem._figures.latex(frame, 3, True)
        self.assertIn("a\\_b & 1.000 & -- ", text.replace("1.001", "1.000"))
        self.assertNotIn("textbf", text)

    def test_rows_have_one_column_of_policies(self):
        tidy = self.comparison.tidy()
        self.assertEqual(set(tidy["policy"]), {"fcfs", "fr-fcfs"})

    def test_a_plot_ranks_policies_beside_the_workloads(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        figure = self.comparison.plot(self.folder / "plot.pdf")
        self.assertTrue((self.folder / "plot.pdf").read_bytes().startswith(b"%PDF"))
        ranking, change = figure.axes[:2]
        self.assertEqual([t.get_text() for t in ranking.get_yticklabels()], ["fr-fcfs", "fcfs"])
        labels = [t.get_text() for t in change.get_xticklabels()]
        self.assertEqual(labels, ["geometric mean", "gather", "vecadd"])


class Scheduling(unittest.TestCase):
    def test_fr_fcfs_in_python_is_the_built_in_one_command_for_command(self):
        for trace in (GATHER, BFS, SAMPLES / "cache-resident" / "histogram.wmt"):
            built_in = warpmem.run(trace, dram_scheduler="fr-fcfs", commands=True)
            own = warpmem.run(trace, dram_scheduler=FrFcfs, commands=True)
            names = ["run_id", "dram_scheduler"]
            assert_frame_equal(built_in.commands.drop(names), own.commands.drop(names))
            self.assertEqual(built_in["cycles"], own["cycles"])

    def test_schedulers_are_compared_with_built_in_ones(self):
        comparison = warpmem.compare(
            GATHER,
            dram_scheduler=["fr-fcfs", partial(Capped, cap=1), partial(Capped, cap=64)],
            baseline="fr-fcfs",
        )
        names = comparison.rows["dram_scheduler"].to_list()
        self.assertEqual(names, ["fr-fcfs", "Capped(cap=1)", "Capped(cap=64)"])
        hits = comparison.runs["row_hit_rate"].to_list()
        self.assertLess(hits[1], hits[2])
        longest = comparison.policy_counters.filter(pl.col("counter") == "longest")
        self.assertEqual(longest["unit"].unique().to_list(), ["channel"])

    def test_a_row_hit_cap_matches_the_built_in_scheduler(self):
        class Cap(warpmem.DramScheduler):
            """`fr-fcfs(row_hit_cap=4)`: consecutive hits while an older request waits."""

            def __init__(self, channel):
                super().__init__(channel)
                self.hits = {}

            def pick(self, bank):
                capped = self.hits.get(bank.bank, 0) >= 4
                return bank.oldest if capped else bank.fr_fcfs()

            def on_service(self, bank, request):
                passed = bank.is_hit(request) and request is not bank.oldest
                self.hits[bank.bank] = self.hits.get(bank.bank, 0) + 1 if passed else 0

        built_in = warpmem.run(GATHER, dram_scheduler="fr-fcfs(row_hit_cap=4)")
        own = warpmem.run(GATHER, dram_scheduler=Cap)
        self.assertEqual(built_in["cycles"], own["cycles"])
        self.assertNotEqual(built_in["cycles"], warpmem.run(GATHER)["cycles"])

    def test_loads_are_numbered_for_schedulers_with_on_load_complete(self):
        loads = []

        class Asks(FrFcfs):
            def on_arrival(self, request):
                loads.append(request.load)

            def on_load_complete(self, load, now):
                pass

        class DoesNot(FrFcfs):
            on_arrival = Asks.on_arrival

        for scheduler, numbered in ((Asks, True), (DoesNot, False)):
            loads.clear()
            warpmem.run(GATHER, dram_scheduler=scheduler)
            self.assertEqual(any(load is not None for load in loads), numbered)

    def test_an_exception_of_a_scheduler_ends_the_run(self):
        class Broken(warpmem.DramScheduler):
            def pick(self, bank):
                raise ZeroDivisionError("in pick")

        with self.assertRaisesRegex(ZeroDivisionError, "in pick"):
            warpmem.run(GATHER, dram_scheduler=Broken)

    def test_mistakes_are_reported(self):
        class Elsewhere(warpmem.DramScheduler):
            def pick(self, bank):
                self.last = getattr(self, "last", bank.requests[0])
                return self.last

        class Nothing(warpmem.DramScheduler):
            pass

        class Plain:
            pass

        class Taken(FrFcfs):
            name = "fcfs"

        with self.assertRaisesRegex(ValueError, "does not wait for bank"):
            warpmem.run(GATHER, dram_scheduler=Elsewhere)
        with self.assertRaisesRegex(TypeError, "has no method `pick"):
            warpmem.run(GATHER, dram_scheduler=Nothing)
        with self.assertRaisesRegex(warpmem.Error, "another DRAM scheduler is called `fcfs`"):
            warpmem.run(GATHER, dram_scheduler=Taken)
        with self.assertRaisesRegex(warpmem.Error, "only DRAM schedulers can be written"):
            warpmem.run(GATHER, warp_scheduler=FrFcfs)
        with self.assertRaises(TypeError):
            warpmem.run(GATHER, dram_scheduler=Plain)


class Sweeping(InTemporaryFolder):
    PLAN = {
        "traces": [str(GATHER), str(BFS)],
        "policies": {"dram_scheduler": ["fcfs", "fr-fcfs"]},
        "parameters": {"dram.read_queue": [16, 64]},
    }

    def test_workers_give_the_same_tables_byte_for_byte(self):
        here = warpmem.sweep(self.PLAN, self.folder / "here", progress=False)
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
            there = warpmem.sweep(
                self.PLAN, self.folder / "there", executor=workers, shards=3, progress=False
            )
        self.assertEqual(here.runs.height, 8)
        self.assertEqual(here.tables(), there.tables())
        for name in here.tables():
            files = (Path(of.directories[0]) / f"{name}.parquet" for of in (here, there))
            one, other = (file.read_bytes() for file in files)
            self.assertEqual(one, other, name)
        self.assertFalse((self.folder / "there" / "shards").exists())

    def test_results_answer_queries(self):
        results = warpmem.sweep(self.PLAN, self.folder / "r", progress=False)
        rows = results.query("SELECT trace, COUNT(*) AS runs FROM runs GROUP BY trace")
        self.assertEqual(sorted(rows.rows()), [("bfs-rmat", 4), ("gather", 4)])
        self.assertEqual(results.compare("fr-fcfs").rows.height, 8)
        self.assertIn("runs, kernels", repr(results))
        with self.assertRaisesRegex(warpmem.Error, "no column `ipc`"):
            results.query("SELECT ipc FROM runs")

    def test_an_invalid_plan_is_refused(self):
        with self.assertRaisesRegex(warpmem.Error, "no file matches `nothing"):
            warpmem.sweep({"traces": ["nothing-*.wmt"]}, self.folder / "r", progress=False)


class Machines(InTemporaryFolder):
    def test_parameters_are_read_set_and_checked(self):
        machine = warpmem.Machine("accelsim-qv100")
        self.assertEqual(machine["clocks.core_mhz"], 1132)
        machine["dram.read_queue"] = 128
        self.assertEqual(machine["dram.read_queue"], 128)
        self.assertEqual(machine.overrides, ["dram.read_queue=128"])
        with self.assertRaisesRegex(warpmem.Error, "dram.read_queue"):
            machine["dram.read_queue"] = 0
        self.assertEqual(machine["dram.read_queue"], 128)
        with self.assertRaisesRegex(warpmem.Error, "nothing"):
            machine["nothing"]

    def test_a_saved_machine_is_the_same(self):
        machine = warpmem.Machine("accelsim-rtx2060s", set={"l2.queue": 16})
        machine.save(self.folder / "mine.toml")
        self.assertEqual(warpmem.Machine(self.folder / "mine.toml"), machine)
        self.assertEqual(list(machine.diff(warpmem.Machine("accelsim-rtx2060s"))), ["l2.queue"])

    def test_a_changed_clock_without_its_timings_warns(self):
        with self.assertWarnsRegex(UserWarning, "cycles of 850 MHz"):
            warpmem.Machine("accelsim-qv100", set={"clocks.dram_mhz": 1000})
        in_ns = warpmem.Machine("accelsim-qv100", set={"dram.timing.trcd": "13.75ns"})
        self.assertEqual(in_ns["dram.timing.trcd"], 12)
        self.assertEqual(in_ns, warpmem.Machine("accelsim-qv100", set={"dram.timing.trcd": 12}))

    def test_every_key_is_described(self):
        keys = {key.path: key for key in warpmem.Machine().keys()}
        self.assertEqual("command cycles", keys["dram.timing.tcl"].unit)
        self.assertTrue(all(key.meaning for key in keys.values()))
        self.assertIs(type(keys["l1.enabled"].value), bool)


class Traces(InTemporaryFolder):
    def write(self, name="copy.wmt", ctas=16):
        path = self.folder / name
        with warpmem.TraceWriter(path, source="a test") as trace:
            trace.kernel("copy", grid=ctas, block=128)
            for cta in range(ctas):
                trace.cta(cta)
                for warp in range(4):
                    trace.warp(warp)
                    first = 4 * (128 * cta + 32 * warp)
                    trace.load(range(first, first + 128, 4), dest=1)
                    trace.compute("fp32", dests=[2], srcs=[1])
                    trace.store(range(2**20 + first, 2**20 + first + 128, 4), srcs=[2])
        return warpmem.Trace(path)

    def test_a_written_trace_runs(self):
        trace = self.write()
        self.assertEqual(trace.kernels["ctas"].to_list(), [16])
        # A load, a computation, a store and an exit.
        self.assertEqual(trace.kernels["warp_instructions"].to_list(), [16 * 4 * 4])
        run = warpmem.run(trace)
        self.assertEqual(run["loads"], 16 * 4)
        with self.assertRaisesRegex(KeyError, "loads"):
            run["load"]
        self.assertEqual(trace.content_hash, self.write("again.wmt").content_hash)

    def test_ctas_of_a_cluster_access_each_others_shared_memory(self):
        path = self.folder / "cluster.wmt"
        with warpmem.TraceWriter(path) as trace:
            trace.kernel("exchange", grid=4, block=32, shared_bytes=1024, cluster=2)
            for cta in range(4):
                trace.cta(cta)
                trace.warp(0)
                other = (1 - cta % 2) * 2**24
                trace.store(range(other, other + 128, 4), space="cluster")
                trace.cluster_arrive()
                trace.cluster_wait()
        run = warpmem.run(path, machine="h100")
        self.assertEqual(run["cluster_messages"], 4)
        self.assertEqual(run["cluster_message_bytes"], 4 * 128)
        with self.assertRaisesRegex(warpmem.Error, "machine `accelsim-qv100` has no clusters"):
            warpmem.run(path, machine="accelsim-qv100")

    def test_evict_last_lines_survive_a_stream(self):
        def hits(l2):
            path = self.folder / f"{l2}.wmt"
            with warpmem.TraceWriter(path) as trace:
                trace.kernel("again", grid=1, block=32)
                trace.cta(0)
                trace.warp(0)
                for line in [*range(8), *range(100, 1000), *range(8)]:
                    kept = l2 if line < 8 else None
                    trace.load([128 * line], dest=1, srcs=[1], l2=kept)
            keys = {"l2.cache.size_bytes": 2048, "l2.kept_ways": 12, "l1.enabled": False}
            run = warpmem.run(path, "li2015", set=keys)
            return run["l2_read_hits"]

        self.assertGreater(hits("evict-last"), hits("evict-first"))
        with self.assertRaisesRegex(warpmem.Error, "evict-last"):
            hits("evict-never")

    def test_a_reset_makes_persisting_lines_evictable(self):
        def hits(resets):
            path = self.folder / f"{resets}.wmt"
            with warpmem.TraceWriter(path) as trace:
                for launch in range(2):
                    trace.kernel("again", grid=1, block=32)
                    trace.cta(0)
                    trace.warp(0)
                    for line in [*range(8)] if launch == 0 else [*range(100, 1000), *range(8)]:
                        kept = "evict-last" if launch == 0 else None
                        trace.load([128 * line], dest=1, srcs=[1], l2=kept)
                    if resets:
                        trace.reset_l2()
            keys = {"l2.cache.size_bytes": 2048, "l2.kept_ways": 12, "l1.enabled": False}
            return warpmem.run(path, "li2015", set=keys)["l2_read_hits"]

        self.assertGreater(hits(False), hits(True))

    def test_a_partial_barrier_does_not_block_other_warps(self):
        def cycles(warps):
            path = self.folder / f"{warps}.wmt"
            with warpmem.TraceWriter(path) as trace:
                trace.kernel("groups", grid=1, block=128)
                trace.cta(0)
                for warp in range(4):
                    trace.warp(warp)
                    if warp < 3:
                        trace.barrier(1, warps=warps)
                        trace.load(range(4096 * warp, 4096 * warp + 128, 4), dest=1)
                    for step in range(100):
                        trace.compute("fp32", dests=[1], srcs=[1])
                    if warp == 3 and warps == 4:
                        trace.barrier_arrive(1, warps=4)
            return warpmem.run(path)["cycles"]

        self.assertLess(cycles(3) + 300, cycles(4))

    def test_an_exception_leaves_no_file(self):
        with self.assertRaises(RuntimeError):
            with warpmem.TraceWriter(self.folder / "t.wmt") as trace:
                trace.kernel("k", 1, 32)
                raise RuntimeError
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_inconsistent_calls_are_refused(self):
        trace = warpmem.TraceWriter(self.folder / "t.wmt")
        with self.assertRaisesRegex(warpmem.Error, "without a `kernel`"):
            trace.cta(0)
        trace.kernel("k", (2, 2), 64)
        with self.assertRaisesRegex(warpmem.Error, "outside of the grid"):
            trace.cta(4)
        trace.cta((1, 1, 0))
        with self.assertRaisesRegex(warpmem.Error, "has 2 warps"):
            trace.warp(2)
        trace.warp(0)
        with self.assertRaisesRegex(warpmem.Error, "for each of the 1 lanes of the mask"):
            trace.load([0, 4], mask=1)
        with self.assertRaisesRegex(warpmem.Error, "valid: load, store"):
            trace.memory("lod", [0])

    def test_frames_and_files_import_to_the_same_trace(self):
        lanes = [[4 * (32 * warp + lane) for lane in range(32)] for warp in range(8)]
        frame = pl.DataFrame({"warp": range(8), "op": ["load", "store"] * 4, "addresses": lanes})
        frame.write_ndjson(self.folder / "a.jsonl")
        text = pl.col("addresses").list.eval(pl.element().cast(pl.String)).list.join(" ")
        frame.with_columns(text).write_csv(self.folder / "a.csv")
        frame.write_parquet(self.folder / "table")
        traces = [
            warpmem.import_table(frame, self.folder / "0.wmt"),
            warpmem.import_table(self.folder / "a.jsonl", self.folder / "1.wmt"),
            warpmem.import_table(self.folder / "a.csv", self.folder / "2.wmt"),
            warpmem.import_table(self.folder / "table", self.folder / "3.wmt", format="parquet"),
        ]
        self.assertEqual(len({trace.content_hash for trace in traces}), 1)
        run = warpmem.run(traces[0], loads=True)
        # Each of the eight warps ends with an instruction.
        self.assertEqual((run["loads"], run["warp_instructions"]), (4, 16))
        slow = warpmem.import_table(frame, self.folder / "gap.wmt", gap=10)
        self.assertEqual(warpmem.run(slow)["warp_instructions"], 16 + 8 * 10)

    def test_a_malformed_table_is_refused(self):
        out = self.folder / "t.wmt"
        frame = pl.DataFrame({"wrap": [0], "addresses": [[0]]})
        with self.assertRaisesRegex(warpmem.Error, "`wrap`"):
            warpmem.import_table(frame, out)
        warpmem.import_table(frame, out, ignore_columns=["wrap"])
        with self.assertRaisesRegex(ValueError, "'csv', 'jsonl' or 'parquet'"):
            warpmem.import_table("accesses.txt", out)
        with self.assertRaisesRegex(ValueError, "from 0 to 1000"):
            warpmem.import_table(frame, out, gap=1001)

    def test_a_log_of_mem_trace_is_imported(self):
        lanes = " ".join(f"0x{0x7F00 + 4 * lane:016x}" for lane in range(32))
        log = self.folder / "app.log"
        log.write_text(
            "MEMTRACE: CTX 0x55 - LAUNCH - Kernel pc 0x7f00 - Kernel name copy - grid launch id 0"
            " - grid size 1,1,1 - block size 32,1,1 - nregs 8 - shmem 0 - cuda stream id 0\n"
            f"MEMTRACE: CTX 0x55 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - {lanes} \n"
        )
        trace = warpmem.import_mem_trace(log, self.folder / "app.wmt")
        self.assertEqual(trace.kernels["name"].to_list(), ["copy"])
        self.assertEqual(warpmem.run(trace)["loads"], 1)

    def test_generated_traces_follow_their_parameters(self):
        one, two = (
            warpmem.generate("gather", self.folder / f"{n}.wmt", n=2**n, table=2**12) for n in (10, 11)
        )
        self.assertNotEqual(one.content_hash, two.content_hash)
        with self.assertRaisesRegex(warpmem.Error, "did you mean `bfs`"):
            warpmem.generate("bsf", self.folder / "x.wmt")

    def test_captured_kernels(self):
        launch = SAMPLES / "captured" / "hash_table.toml"
        trace = warpmem.capture(launch, self.folder / "hash.wmt")
        self.assertGreater(trace.kernels.height, 0)


class Alone(unittest.TestCase):
    def test_channels(self):
        rows = warpmem.dram("random", requests=20_000, dram_scheduler=["fcfs", "fr-fcfs"])
        self.assertIn("fcfs", rows["dram_scheduler"].to_list())
        with self.assertRaisesRegex(warpmem.Error, "valid: "):
            warpmem.dram("rondom")

    def test_networks(self):
        rows = warpmem.network(topology=["mesh"], nodes=16, loads=[0.1, 0.2], cycles=500)
        self.assertEqual(rows["load"].to_list(), [0.1, 0.2])
        self.assertLess(*rows["latency_mean"].to_list())

    def test_lists(self):
        self.assertIn("accelsim-qv100", warpmem.machines()["machine"].to_list())
        self.assertIn("warped-mc", warpmem.policies("dram_scheduler")["policy"].to_list())
        self.assertIn("bfs", warpmem.generators()["kernel"].to_list())
        self.assertIn("ipc_thread", warpmem.metrics()["metric"].to_list())


class Documents(InTemporaryFolder):
    def test_the_examples_of_the_page_work(self):
        page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
        blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
        script = self.folder / "page.py"
        script.write_text("\n".join(blocks), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run(
            [sys.executable, script], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    unittest.main()
