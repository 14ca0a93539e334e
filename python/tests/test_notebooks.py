"""The notebooks of the documentation, executed from top to bottom.

A cell that raises fails the test, and so does one whose output is not the stored one. Outputs are
compared by their words and numbers; pictures, and cells tagged `varies`, whose outputs are not
stored, are not compared. With UPDATE_NOTEBOOKS=1 the outputs are written instead.

Needs nbclient, ipykernel and matplotlib.
"""

import html
import json
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

try:
    import ipykernel  # noqa: F401
    import matplotlib.font_manager  # noqa: F401  Makes its cache here, where no cell tells of it.
    import nbclient
    import nbformat
except ImportError as error:
    MISSING = str(error)
else:
    MISSING = None

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 150_000


def source_of(cell):
    return "".join(cell["source"])


def has_tag(cell, tag):
    return tag in cell["metadata"].get("tags", [])


def without_layout(text):
    """Splits a text, or an HTML table, into words and numbers."""
    if text.lstrip().startswith("<"):
        text = html.unescape(re.sub(r"(?s)<style.*?</style>|<[^<>]+>", " ", text))
    return re.findall(r"[^\s\u2500-\u257f]+", text)


def texts_of(cell):
    """Returns the text of a cell, output by output."""
    texts = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            texts.append((output["name"], without_layout("".join(output["text"]))))
        for kind, text in sorted(output.get("data", {}).items()):
            if kind.startswith("text/"):
                texts.append((kind, without_layout("".join(text))))
    return texts


def executed(path):
    """Executes a notebook, and removes output that differs between executions."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code" and has_tag(cell, "varies"):
            cell.outputs = []
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return json.loads(nbformat.writes(notebook))


@unittest.skipIf(MISSING, f"notebooks are not executed: {MISSING}")
class Executed(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        # The user's own settings have no effect, and progress bars leave no outputs.
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        names = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        environment = {name: folder.name for name in names}
        environment["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        environment["TQDM_DISABLE"] = "1"
        patched = mock.patch.dict(os.environ, environment)
        patched.start()
        cls.addClassCleanup(patched.stop)

    def test_outputs_are_current(self):
        self.assertTrue(NOTEBOOKS)
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                notebook = executed(path)
                if os.environ.get("UPDATE_NOTEBOOKS"):
                    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
                    path.write_text(text + "\n", encoding="utf-8")
                stored = json.loads(path.read_text(encoding="utf-8"))
                for old, new in zip(stored["cells"], notebook["cells"], strict=True):
                    if new["cell_type"] == "code":
                        again = "outputs have changed: UPDATE_NOTEBOOKS=1 writes them\n"
                        self.assertEqual(texts_of(old), texts_of(new), again + source_of(new))


class Stored(unittest.TestCase):
    def test_notebooks_are_small_and_contain_no_local_paths(self):
        for path in NOTEBOOKS:
            text = path.read_text(encoding="utf-8")
            self.assertLess(len(text.encode()), MOST_BYTES, path.name)
            for place in (str(REPOSITORY), tempfile.gettempdir() + "/", str(Path.home()) + "/"):
                self.assertNotIn(place, text, path.name)
            for cell in json.loads(text)["cells"]:
                outputs = cell.get("outputs", [])
                told = [output.get("name") for output in outputs]
                self.assertNotIn("stderr", told, source_of(cell))
                self.assertFalse(outputs and has_tag(cell, "varies"), source_of(cell))

    def test_links_resolve(self):
        python = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
        for path in NOTEBOOKS:
            self.assertIn(f"](notebooks/{path.name})", python)
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "markdown":
                    for link in re.findall(r"\]\(([^)#]+)", source_of(cell)):
                        self.assertTrue((FOLDER / link).exists(), f"{path.name} leads to {link}")


if __name__ == "__main__":
    unittest.main()
