"""The check that the site's search answers the questions of newcomers."""

import importlib
import json

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.dev  # MkDocs is there when the gate runs tests with this mark


@pytest.fixture
def hooks(monkeypatch):
    """The module of hooks, which MkDocs imports."""
    pytest.importorskip("mkdocs", reason="MkDocs is not installed")
    pytest.importorskip("griffe", reason="mkdocstrings is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("hooks")


@pytest.fixture
def checks(hooks):
    """The module of checks of the built site."""
    return importlib.import_module("site_checks")


def write(place, sections):
    """A search index with (location, title, text) of each section."""
    docs = [dict(zip(("location", "title", "text"), one, strict=True)) for one in sections]
    place.write_text(json.dumps({"docs": docs}), encoding="utf-8")
    return place


def test_a_question_is_answered_by_its_page_alone(checks, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "QUESTIONS", {"GPU time": "guides/train"})
    index = tmp_path / "index.json"
    right = ("guides/train.html#gpus", "Train", "Time on GPUs")
    assert checks.unanswered(write(index, [right])) == []
    elsewhere = ("results/speed.html", "Speed", "Time on GPUs")
    (fault,) = checks.unanswered(write(index, [elsewhere]))
    assert "'GPU time'" in fault and "guides/train" in fault and "results/speed.html" in fault
    assert checks.unanswered(write(index, [("guides/train.html", "Train", "GPUs")]))


def test_sections_with_the_words_in_their_title_come_first(checks, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "QUESTIONS", {"hub": "guides/share"})
    others = [(f"changelog.html#{n}", "Added", "the Hub") for n in range(checks.SEEN)]
    index = tmp_path / "index.json"
    named = ("guides/share.html#hub", "The Hub", "")
    assert checks.unanswered(write(index, [*others, named])) == []
    assert checks.unanswered(write(index, [*others, ("guides/share.html", "Share", "the Hub")]))


def test_scripts_lead_to_their_code(hooks):
    class Page:
        class file:  # noqa: N801
            src_uri = "guides/train.md"

    shown = hooks.on_page_markdown("see `examples/llm/sft.py`", page=Page())
    assert shown == "see [`examples/llm/sft.py`](examples.md#llm-sft-py)"
    assert "## llm/sft.py { #llm-sft-py }" in hooks.examples()
