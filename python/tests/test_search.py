"""Scores of policies, the gymnasium environment, and the examples of `docs/examples/search`."""

import contextlib
import io
import runpy
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import polars as pl
import warpmem
from polars.testing import assert_frame_equal

EXAMPLES = Path(__file__).resolve().parents[2] / "docs/examples/search"

#: The default scheduler of `li2015`, as an expression.
HITS_FIRST = "priority(by=hit)"


class WithTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        make = warpmem.generate
        cls.bfs = [
            make("bfs", cls.folder / f"bfs-{seed}.wmt", seed=seed, nodes=2**9) for seed in (1, 2)
        ]
        cls.gups = make("gups", cls.folder / "gups.wmt", n=2**13)


class Evaluating(WithTraces):
    def test_a_score_is_the_mean_ratio_to_the_baseline(self):
        score = warpmem.Evaluator([*self.bfs, self.gups], "li2015", repeat=2)
        fcfs = score("fcfs")
        ratios = fcfs.workloads.sort("trace")["ipc_ratio"].to_list()
        self.assertEqual(fcfs.workloads.sort("trace")["trace"].to_list(), ["bfs-*", "gups"])
        self.assertAlmostEqual(fcfs.score, (ratios[0] * ratios[1]) ** 0.5)
        self.assertTrue(fcfs.low < fcfs.score < fcfs.high < 1)
        self.assertEqual((fcfs.value, fcfs.bits_stored), (fcfs.score, 0))
        self.assertEqual(score(HITS_FIRST).score, 1)
        self.assertEqual(score("fr-fcfs").score, 1)
        self.assertIn("fcfs: 0.", str(fcfs))

    def test_a_score_is_that_of_a_comparison(self):
        evaluation = warpmem.evaluate("fcfs", self.gups, "li2015", budget=3000, repeat=2)
        comparison = warpmem.compare(
            self.gups, "li2015", dram_scheduler=["fcfs", "fr-fcfs"], baseline="fr-fcfs", repeat=2,
            set={"run.launch_instructions": 3000}, bound=False,
        )  # fmt: skip
        [other] = comparison.workloads.filter(dram_scheduler="fcfs").to_dicts()
        ours = (evaluation.score, evaluation.low, evaluation.high)
        self.assertEqual(ours, (other["ipc_ratio"], other["ipc_ratio_low"], other["ipc_ratio_high"]))

    def test_scores_do_not_depend_on_what_was_scored_before(self):
        policies = [f"priority(by=hit-{weight}*warp_requests)" for weight in range(4)]
        options = {"budget": 500, "repeat": 1}
        score = warpmem.Evaluator(self.gups, "li2015", **options)
        forward = [score(policy) for policy in policies]
        again = warpmem.Evaluator(self.gups, "li2015", jobs=1, **options)
        backward = [again(policy) for policy in reversed(policies)]
        self.assertEqual(forward, backward[::-1])
        for ours, theirs in zip(forward, backward[::-1]):
            assert_frame_equal(ours.workloads, theirs.workloads)

    def test_starvation_breaks_a_limit(self):
        limits = warpmem.Limits(longest_wait=1.5)
        score = warpmem.Evaluator(self.gups, "li2015", repeat=1, limits=limits)
        fcfs = score("fcfs")
        self.assertGreater(fcfs.longest_wait, 1.5)
        self.assertEqual((fcfs.value, len(fcfs.violations)), (0, 1))
        self.assertRegex(str(fcfs), "a read waits .* as under fr-fcfs; 1.5 is the limit")
        self.assertEqual(score(HITS_FIRST).violations, ())

    def test_policies_beyond_the_hardware_are_not_run(self):
        limits = warpmem.Limits(bits_stored=5000, bits_compared=7000)
        score = warpmem.Evaluator(self.gups, "li2015", repeat=1, limits=limits)
        dear = score("mshr-s")
        self.assertEqual((dear.score, dear.value), (None, 0))
        self.assertIn("mshr-s: not run, it stores 24576 bits; 5000 is the limit", str(dear))
        self.assertEqual(score("delay").violations, ("it states no hardware cost",))
        self.assertGreater(score(HITS_FIRST).value, 0)
        bits = warpmem.complexity("mshr-s", "li2015")
        self.assertEqual(bits, {"bits_stored": 24576, "bits_compared": 11520})

    def test_policies_in_python_and_of_other_slots_have_scores(self):
        class Oldest(warpmem.DramScheduler):
            def pick(self, bank):
                return bank.oldest

        score = warpmem.Evaluator(self.gups, "li2015", repeat=1)
        self.assertEqual(score(Oldest).score, score("priority(by=0)").score)
        warps = warpmem.Evaluator(
            self.gups, "li2015", slot="warp_scheduler", baseline="lrr", repeat=1
        )
        self.assertGreater(warps("gto").score, 0)

    def test_errors_match_the_command_line(self):
        score = warpmem.Evaluator(self.gups, "li2015", repeat=1)
        with self.assertRaisesRegex(warpmem.Error, "unknown `hitt` .did you mean `hit`"):
            score("priority(by=hitt)")
        with self.assertRaisesRegex(warpmem.Error, "valid are 1 to 100"):
            warpmem.Evaluator(self.gups, repeat=0)
        with self.assertRaisesRegex(warpmem.Error, "launch_instructions"):
            warpmem.Evaluator(self.gups, budget=-1)

    def test_a_split_keeps_seeds_together(self):
        traces = [*self.bfs, self.gups]
        train, held_out = warpmem.split(traces)
        self.assertEqual({len(train), len(held_out)}, {1, 2})
        self.assertCountEqual([*train, *held_out], traces)
        self.assertEqual(warpmem.split(traces[::-1])[0][::-1], train)
        swapped = {warpmem.split(traces, seed=seed)[0] == train for seed in range(8)}
        self.assertEqual(swapped, {True, False})
        with self.assertRaisesRegex(ValueError, "two or more workloads"):
            warpmem.split(self.bfs)
        with self.assertRaisesRegex(ValueError, "held_out"):
            warpmem.split(traces, 1.5)


@unittest.skipIf(find_spec("gymnasium") is None, "needs gymnasium")
class Environment(WithTraces):
    def env(self, **options):
        from warpmem.gym import ChannelEnv

        return ChannelEnv(self.gups, "li2015", budget=2000, **options)

    def play(self, env, choose):
        """Returns the total reward, the number of steps and the metrics of an episode."""
        observation, _ = env.reset()
        total, steps, ended = 0.0, 0, False
        while not ended:
            observation, reward, ended, _, info = env.step(choose(observation))
            total, steps = total + reward, steps + 1
        return total, steps, info

    def test_hits_first_is_fr_fcfs(self):
        metrics = warpmem.run(self.gups, "li2015", set={"run.launch_instructions": 2000}).metrics
        hits = lambda seen: int((seen[:, 0] + seen[:, 1]).argmax())
        everywhere = tuple(range(warpmem.Machine("li2015")["dram.channels"]))
        for channels in ((0,), everywhere):
            _, steps, info = self.play(self.env(channels=channels, slots=64), hits)
            self.assertGreater(steps, 10)
            self.assertEqual(info["cycles"], metrics["cycles"])

    def test_rewards_are_times(self):
        run = warpmem.run(
            self.gups, "li2015", set={"run.launch_instructions": 2000}, commands=True,
            dram_scheduler="priority(by=0)",
        )  # fmt: skip
        columns = run.commands.filter(pl.col("channel") == 0, pl.col("command") == "RD")
        total, _, _ = self.play(self.env(), lambda seen: 0)
        self.assertAlmostEqual(total, -columns["cycle"].max() / 1000, delta=0.5)
        waits, _, _ = self.play(self.env(reward="latency"), lambda seen: 0)
        self.assertLess(waits, total)
        with self.assertRaisesRegex(ValueError, "no reward `speed`"):
            self.env(reward="speed")

    def test_it_follows_the_interface(self):
        from gymnasium.utils.env_checker import check_env

        with contextlib.redirect_stderr(io.StringIO()), self.assertNoLogs():
            check_env(self.env(), skip_render_check=True)

    def test_masks_mark_the_waiting_requests(self):
        env = self.env()
        observation, info = env.reset()
        waiting = int(env.action_masks().sum())
        self.assertGreaterEqual(waiting, 2)
        self.assertEqual(int(observation[:, 0].sum()), waiting)
        self.assertLess(env.action_space.sample(mask=env.action_masks()), waiting)
        env.step(env.action_space.n - 1)
        env.close()
        with self.assertRaisesRegex(RuntimeError, "call reset"):
            env.step(0)

    def test_errors_reach_the_caller(self):
        from warpmem.gym import ChannelEnv

        with self.assertRaisesRegex(warpmem.Error, "nowhere.wmt"):
            ChannelEnv("nowhere.wmt").reset()


class Examples(WithTraces):
    def printed(self, example, *options):
        arguments = [example, *(str(trace.path) for trace in (*self.bfs, self.gups))]
        arguments += ["--machine", "li2015", "--budget", "300", *options]
        told = io.StringIO()
        with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(told):
            runpy.run_path(str(EXAMPLES / example), run_name="__main__")
        return told.getvalue()

    def test_trees_are_searched(self):
        told = self.printed("trees.py", "--generations", "2", "--population", "4")
        self.assertRegex(told, r"(?s)  0 1\..*  1 1\..*held out, over fr-fcfs:\npriority\(by=")
        self.assertEqual(told, self.printed("trees.py", "--generations", "2", "--population", "4"))

    @unittest.skipIf(find_spec("optuna") is None, "needs optuna")
    def test_parameters_are_tuned(self):
        told = self.printed("tune.py", "--trials", "3")
        self.assertRegex(told, r"best of 3: fr-fcfs\(row_hit_cap=\d+,starvation_limit=\d+\)")
        self.assertIn("held out, over fr-fcfs: fr-fcfs(", told)


if __name__ == "__main__":
    unittest.main()
