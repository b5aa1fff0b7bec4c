"""What the documentation shows, run page by page, each in an empty directory.

All is run as it is printed, with fewer training steps and smaller datasets.
"""

import re
import shlex

import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.sampling.plan import PRESETS
from synthbench.tasks.base import Split
from synthbench.tasks.clusters.task import Clusters
from tests.support import ROOT
from tests.tasks.tiny_sources import write_sources

PAGES = ROOT / "docs/pages"
#: Blocks of Python, and those of commands that run here. What is in `bash` or `text` blocks needs
#: another package, a model or a network.
#: A block with a title is a file of this name.
BLOCKS = re.compile(r'^```(python|sh)(?: title="([\w.]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
SHOWN = {
    str(page.relative_to(PAGES)): blocks
    for page in sorted(PAGES.rglob("*.md"))
    if (blocks := BLOCKS.findall(page.read_text(encoding="utf-8")))
}


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {synthbench.__version__}\n" in citation


def test_the_guides_have_something_to_run():
    assert {"index.md", "start/five-minutes.md", "guides/held-out.md"} <= set(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWN)
@pytest.mark.torch
def test_a_page_runs_from_its_first_block_to_its_last(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNTHBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path / "sources")))
    # Fewer rows, because four models compute attention among 500 points.
    monkeypatch.setattr(Clusters, "splits", (Split("test", 100),))
    monkeypatch.setitem(PRESETS, "small", 10 * PRESETS["small"])
    scope: dict[str, object] = {}
    for kind, file, text in SHOWN[page]:
        if file:
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif kind == "python":
            exec(compile(text, page, "exec"), scope)
        else:
            few = re.sub(r"steps=\d+", "steps=5", text.replace("test=700", "test=70"))
            for line in few.replace("\\\n", "").splitlines():
                program, *words = shlex.split(line, comments=True)
                assert program == "synthbench", line
                assert _run(commands, words) == 0, line
