"""Types of the package, by mypy where the Python under test has it."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = Path(__file__).with_name("typed_example.py")

#: Mistakes in a line each, and a word of the error.
MISTAKES = {
    'warpmem.compare("t.wmt", dram_scheduler="fr-fcsf")': "dram_scheduler",
    'warpmem.compare("t.wmt", dram_scheduler=["fcfs", "fr-fcsf"])': "fr-fcsf",
    'warpmem.compare("t.wmt", dram_schedular="fcfs")': "dram_schedular",
    'warpmem.run("t.wmt", warp_scheduler="fr-fcfs")': "warp_scheduler",
    'warpmem.run("t.wmt", dram_scheduler="all")': "dram_scheduler",
    'warpmem.policy("fr-fcsf", row_hit_cap=4)': "fr-fcsf",
    'warpmem.network(topology="mash")': "topology",
}


@unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy: types are not checked")
class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            mistakes = Path(folder) / "mistakes.py"
            mistakes.write_text("\n".join(["import warpmem", *MISTAKES]), encoding="utf-8")
            cls.errors = errors(Path(folder), ROOT / "python" / "warpmem", EXAMPLE, mistakes)

    def test_the_package_and_an_example_have_no_errors(self):
        self.assertEqual([error for error in self.errors if "mistakes.py" not in error], [])

    def test_misspelt_names_are_errors(self):
        for number, (line, word) in enumerate(MISTAKES.items(), 2):
            own = [error for error in self.errors if f"mistakes.py:{number}: " in error]
            self.assertTrue(own and word in own[0], (line, self.errors))


def errors(cache, *paths):
    """Returns the errors that mypy reports on these files, one line each."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-pretty"]
    command += ["--cache-dir", cache, "--config-file", ROOT / "pyproject.toml", *paths]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    # The installed package has the files under test as well.
    environment.pop("PYTHONPATH", None)
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if ran.returncode not in (0, 1):
        raise RuntimeError(ran.stdout + ran.stderr)
    return [line for line in ran.stdout.splitlines() if ": error: " in line]


if __name__ == "__main__":
    unittest.main()
