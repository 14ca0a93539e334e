"""Studies through the public interface: reports, classes, suites, samples, papers, references."""

import inspect
import json
import tempfile
import unittest
from pathlib import Path

import polars as pl

import warpmem

SAMPLES = Path(__file__).parents[2] / "sample-traces"
GATHER = SAMPLES / "gather.wmt"
VECADD = SAMPLES / "vecadd.wmt"


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Studies(InTemporaryFolder):
    def test_a_report_is_a_page_beside_the_results(self):
        plan = {"traces": [str(VECADD)], "policies": {"dram_scheduler": ["fcfs", "fr-fcfs"]}}
        results = warpmem.sweep(plan, self.folder / "results", progress=False)
        page = results.report(title="A title")
        self.assertEqual(page, self.folder / "results" / "report.html")
        self.assertIn("A title", page.read_text(encoding="utf-8"))
        style = self.folder / "style.toml"
        style.write_text('[policies]\norder = ["fr-fcfs", "nothing"]\n', encoding="utf-8")
        markdown = self.folder / "report.md"
        with self.assertWarnsRegex(UserWarning, "nothing"):
            warpmem.report(
                results.directories, self.folder / "page.html", markdown=markdown, style=style
            )
        self.assertTrue((self.folder / "page.html").exists() and markdown.exists())
        self.assertTrue(list((self.folder / "report-plots").glob("*.svg")))

    def test_mistakes_in_a_report_are_refused(self):
        warpmem.sweep({"traces": [str(VECADD)]}, self.folder / "results", progress=False)
        with self.assertRaisesRegex(warpmem.Error, "no mean `median`; valid: arithmetic"):
            warpmem.report(self.folder / "results", mean="median")
        with self.assertRaisesRegex(warpmem.Error, "runs.parquet"):
            warpmem.report(self.folder / "results", self.folder / "results" / "runs.parquet")
        with self.assertRaisesRegex(warpmem.Error, "nowhere"):
            warpmem.report(self.folder / "nowhere")

    def test_info_has_a_frame_for_each_part(self):
        info = warpmem.info(GATHER, "li2015")
        self.assertEqual(info.summary.row(0, named=True)["memory_records"], 3072)
        self.assertEqual(info.kernels["grid"].to_list(), ["128,1,1"])
        self.assertEqual(info.parts["kernel"].to_list(), [None, "gather"])
        loads = info.divergence.filter(pl.col("access") == "load", pl.col("kernel") == "gather")
        self.assertEqual(loads["lines_max"].to_list(), [32])
        self.assertEqual(info.translation["page_bytes"].n_unique(), 3)
        frames = (info.mix, info.sites, info.footprint, info.reuse, info.caches, info.sharing)
        self.assertTrue(all(frame.height > 0 for frame in frames))
        self.assertEqual(info.content["profile"]["spread"]["machine"], "li2015")

    def test_a_brief_info_is_only_the_index(self):
        info = warpmem.info(GATHER, brief=True)
        self.assertEqual((info.kernels.height, info.parts.height), (1, 0))
        self.assertNotIn("profile", info.content)
        with self.assertRaisesRegex(warpmem.Error, "line"):
            warpmem.info(GATHER, line=100)

    def test_traces_are_classified(self):
        classes = warpmem.classify([GATHER, VECADD], "li2015", warp_scheduler="lrr")
        self.assertEqual(classes["trace"].to_list(), ["gather", "vecadd"])
        self.assertEqual(classes["warp_scheduler"].unique().to_list(), ["lrr"])
        self.assertEqual(classes["translation_class"].to_list(), ["HTD", "LTD"])
        with self.assertRaisesRegex(warpmem.Error, "ideal mode `perfect-l2`"):
            warpmem.classify(GATHER, ideal="perfect-l2")
        with self.assertRaisesRegex(TypeError, "must be the name of a built-in policy"):
            warpmem.classify(GATHER, dram_scheduler=warpmem.DramScheduler)

    def test_suites_are_listed_and_generated(self):
        self.assertIn("llm", warpmem.suites()["name"].to_list())
        workloads = warpmem.suites("llm")
        self.assertIn("decode-linear", workloads["name"].to_list())
        [trace] = warpmem.suite("warpmem", self.folder / "suite", only="vecadd")
        self.assertEqual(trace.path, str(self.folder / "suite" / "vecadd.wmt"))
        self.assertTrue((self.folder / "suite" / "suite.toml").exists())
        with self.assertRaisesRegex(warpmem.Error, "did you mean `llm`"):
            warpmem.suite("lm")

    def test_parts_of_traces_have_estimates(self):
        part = warpmem.sample(GATHER, self.folder / "part.wmt", fraction="25%", seed=2)
        self.assertEqual(part.kernels["sampled_ctas"].to_list(), [32])
        lines = part.estimates.filter(pl.col("quantity") == "global_lines").row(0, named=True)
        self.assertLess(abs(lines["error"]), 0.1)
        command = warpmem.info(part, brief=True).summary["command"][0]
        self.assertTrue(command.endswith("gather.wmt --fraction 0.25 --seed 2"), command)
        first = warpmem.sample(GATHER, self.folder / "first.wmt", ctas="..8", longest=True)
        self.assertEqual(first.trace.kernels["ctas"].to_list(), [8])
        self.assertEqual(first.estimates.height, 0)
        with self.assertRaisesRegex(warpmem.Error, "`fraction` = '0%' is not valid"):
            warpmem.sample(GATHER, self.folder / "none.wmt", fraction="0%")
        with self.assertRaisesRegex(warpmem.Error, "apply to random samples"):
            warpmem.sample(GATHER, self.folder / "none.wmt", run=2)
        with self.assertRaisesRegex(warpmem.Error, "gather.wmt"):
            warpmem.sample(GATHER, GATHER)

    def test_papers_are_reproduced(self):
        self.assertIn("calrs2015", warpmem.papers()["name"].to_list())
        trace = warpmem.generate("vecadd", self.folder / "vecadd.wmt", n=2**10)
        claims = warpmem.reproduce(
            "calrs2015", trace, quick=True, launch_instructions=2000, output=self.folder / "calrs"
        )
        self.assertIn("no verdict", claims["verdict"].to_list())
        self.assertTrue((self.folder / "calrs" / "runs.parquet").exists())
        self.assertTrue(list((self.folder / "calrs").glob("*.md")))
        with self.assertRaisesRegex(warpmem.Error, "did you mean `li2015`"):
            warpmem.reproduce("li2014")
        with self.assertRaisesRegex(warpmem.Error, "`error` = 0.5 is not valid"):
            warpmem.reproduce("li2015", error=0.5)

    def test_runs_are_compared_with_a_reference(self):
        trace = warpmem.generate("vecadd", self.folder / "small.wmt", n=2**11)
        ours = warpmem.run(trace, "accelsim-qv100", set={"run.launch_latency": 0, "run.launch": "none"})
        cycles, instructions = ours["cycles"], ours["thread_instructions"]
        kernel = {"gpu_sim_cycle": 2 * cycles, "gpu_sim_insn": instructions}
        totals = {"gpu_tot_sim_cycle": 2 * cycles, "gpu_tot_sim_insn": instructions}
        reference = {
            "trace": "small",
            "trace_dir": "small.wmt",
            "config": "SM7_QV100",
            "dram_scheduler": "FR-FCFS",
            "launch_latency_cycles_per_kernel": 0,
            "n_kernels": 1,
            "kernels": [kernel],
            "totals": totals,
            "host": {"user_s": 100.0},
        }
        missing = {**reference, "trace": "other", "trace_dir": "other.wmt"}
        file = self.folder / "reference.json"
        file.write_text(json.dumps({"runs": [reference, missing]}), encoding="utf-8")
        with self.assertWarnsRegex(UserWarning, "left out: other"):
            correlation = warpmem.correlate(file, traces=self.folder, kernels=True)
        self.assertEqual(correlation.runs["cycles_error"].to_list(), [-0.5])
        self.assertEqual((correlation.kernels.height, correlation.points.height), (1, 0))
        self.assertEqual(correlation.cycles["mape"].to_list(), [0.5])
        self.assertIn("cycles", correlation.metrics["metric"].to_list())
        with self.assertRaisesRegex(warpmem.Error, "nowhere.json"):
            warpmem.correlate(self.folder / "nowhere.json")
        with self.assertRaisesRegex(TypeError, "give references, points or profiles"):
            warpmem.correlate()

    def test_profiles_stand_beside_our_figures(self):
        trace = warpmem.generate("bfs", self.folder / "bfs.wmt", nodes=2**8)
        name = trace.kernels["name"][0]
        profile = self.folder / "ncu.csv"
        profile.write_text(
            '"ID","Kernel Name","Block Size","Grid Size","gpc__cycles_elapsed.max"\n'
            '"","","","","cycle"\n'
            f'"0","{name}","(256, 1, 1)","(1, 1, 1)","1000"\n',
            encoding="utf-8",
        )
        with self.assertWarnsRegex(UserWarning, "left out"):
            correlation = warpmem.correlate(profiles=profile, trace=trace, machine="v100")
        self.assertEqual(correlation.figures["measured"].to_list(), [1000.0])
        self.assertEqual(correlation.summary["kernels"].to_list(), [1])
        with self.assertRaisesRegex(TypeError, "need a trace and a machine"):
            warpmem.correlate(profiles=profile)

    def test_measured_points_stand_beside_our_figures(self):
        file = self.folder / "points.csv"
        file.write_text(
            "gpu,class,machine,set,workload,less,figure,work,unit,value,source\n"
            "GTX 480,chase,li2015,,pointer-chase --nodes 16 --hops 300,"
            "pointer-chase --nodes 16 --hops 100,16 nodes,200,cycles/load,1.0,own\n",
            encoding="utf-8",
        )
        points = warpmem.correlate(points=file, gpus="GTX 480")
        self.assertEqual(points.points["measured"].to_list(), [1.0])
        self.assertEqual(points.summary["points"].unique().to_list(), [1])
        again = warpmem.correlate(points=file, set={"l1.latency": 60}, cache=self.folder / "cache")
        self.assertGreater(again.points["warpmem"][0], points.points["warpmem"][0])
        self.assertTrue((self.folder / "cache" / "runs.txt").exists())
        with self.assertRaisesRegex(warpmem.Error, "no point of GPU `H1`"):
            warpmem.correlate(points=file, gpus="H1")


class Policies(unittest.TestCase):
    def test_policies_with_parameters_are_their_names_on_the_command_line(self):
        capped = warpmem.policy("fr-fcfs", row_hit_cap=4)
        self.assertEqual(capped, "fr-fcfs(row_hit_cap=4)")
        self.assertEqual(warpmem.policy("lrr"), "lrr")
        run = warpmem.run(VECADD, dram_scheduler=capped)
        self.assertEqual(run["dram_scheduler"], capped)
        with self.assertRaisesRegex(warpmem.Error, "row_hit_cab"):
            warpmem.run(VECADD, dram_scheduler=warpmem.policy("fr-fcfs", row_hit_cab=4))

    def test_slots_are_parameters_in_help(self):
        for function in (warpmem.run, warpmem.compare, warpmem.classify):
            self.assertIn("dram_scheduler", inspect.signature(function).parameters)


if __name__ == "__main__":
    unittest.main()
