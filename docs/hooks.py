"""What MkDocs calls as it builds the site: generated pages, and a check that no name is missing."""

from __future__ import annotations

import functools
import posixpath
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from synthbench.cli.main import commands
from synthbench.dataset.card import prose
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the image sources that the tests make

import gallery  # noqa: E402
import language_models as of_language_models  # noqa: E402
import task_results  # noqa: E402
from beside import beside_paper  # noqa: E402
from chance import chance  # noqa: E402
from drawings import depth_two, way_of_the_data  # noqa: E402
from levels import levels_table  # noqa: E402
from overview import matrices  # noqa: E402
from pictures import picture  # noqa: E402
from public_layers import failures_table, passes_table  # noqa: E402
from public_tasks import counts_table, tasks_table  # noqa: E402
from results import contrasts_section, figure, read_comparisons  # noqa: E402
from site_checks import unanswered, undocumented  # noqa: E402
from suite import suite_section  # noqa: E402
from tried import budget_section, tried_section  # noqa: E402

from synthbench.training.runs import stored_runs  # noqa: E402


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the tasks' pages under "Gallery", and those with results under "Results"."""
    nav = {title: entry for entry in config.nav or [] for title in entry}
    nav["Gallery"]["Gallery"] = [
        "gallery/index.md",
        *(f"gallery/{name}.md" for name in list_tasks()),
    ]
    pages = [{name: f"results/tasks/{name}.md"} for name in _with_results()]
    nav["Results"]["Results"].insert(1, {"By task": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the package."""
    for path, text in generated_pages():
        files.append(File.generated(config, path, content=text))
    gates = str(ROOT / "examples/gates.png")
    files.append(File.generated(config, "assets/gates.png", abs_src_path=gates))
    return files


def generated_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of each generated page."""
    yield from gallery.pages(_with_results())
    yield from task_results.pages(_results())
    yield "reference/command-line.md", command_line()
    yield EXAMPLES, examples()
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Put what is made from the package where a page asks for it, as in `{{ results }}`.

    A figure of a model is asked for within a sentence, as in `{{ ctl cpu forward ndr test }}`; if
    the model is not fitted, the figure says so. Scripts that are named lead to their code.
    """
    place = page.file.src_uri
    if place not in (EXAMPLES, "changelog.md"):
        code = posixpath.relpath(EXAMPLES, posixpath.dirname(place))
        markdown = re.sub(
            r"`examples/((?:llm/)?\w+\.py)`",
            lambda match: f"[`{match[0][1:-1]}`]({code}#{_anchor(match[1])})",
            markdown,
        )
    inserted = re.sub(
        r"^{{ (\w+) }}$", lambda match: _INSERTS[match[1]](), markdown, flags=re.MULTILINE
    )
    return re.sub(
        r"{{ ([\w-]+(?: [\w./-]+){4,}) }}", lambda match: figure(_results(), match[1]), inserted
    )


def on_page_content(html: str, **_: Any) -> str:
    """Keep a mean and its deviation on one line."""
    return html.replace(" \u00b1 ", "\u00a0\u00b1\u00a0")


@functools.cache
def _results() -> list[dict[str, Any]]:
    return read_comparisons()


def _with_results() -> list[str]:
    """The tasks that have stored results, in order."""
    return list(dict.fromkeys(comparison["task"] for comparison in _results()))


def meanings() -> str:
    """The meaning of a pass and a fail of every task."""
    return task_results.meanings(_results())


def chomsky_table() -> str:
    """Ours beside table 2 of the Chomsky hierarchy."""
    matches = (
        comparison
        for comparison in _results()
        if (comparison["task"], comparison["study"]) == ("chomsky", "main")
    )
    comparison = next(matches)
    return beside_paper(comparison, "test", lambda variant: chance(comparison, variant, "test"))


def suite() -> str:
    """The baselines of the suite of layers."""
    return suite_section()


def language_models() -> str:
    """The table and the pictures of what language models score."""
    results = of_language_models.read_results(ROOT / "examples/results/llm")
    return of_language_models.results_section(results)


def results_matrix() -> str:
    """Models and tasks, with the accuracy beyond training as colour."""
    return matrices(_results())


def contrasts() -> str:
    """What our runs say of every contrast that the papers claim."""
    return contrasts_section(_results())


def tried() -> str:
    """Every setting in which a model was trained."""
    return tried_section(stored_runs())


def tuning_budget() -> str:
    """How much every model was tuned, for the datasheet."""
    return budget_section(stored_runs())


def new_task() -> str:
    """The example of the smallest task, whole."""
    return f"```python\n{(ROOT / 'examples/new_task.py').read_text(encoding='utf-8')}```"


def examples() -> str:
    """All scripts of `examples/`, whole."""
    parts = [
        "# Examples",
        "The scripts in `examples/` are short and run as written. Those in `examples/llm/` run a "
        "[real language model](language-models.md#a-real-model-without-a-download).",
    ]
    folder = ROOT / "examples"
    for file in [*sorted(folder.glob("*.py")), *sorted(folder.glob("llm/*.py"))]:
        name = file.relative_to(folder).as_posix()
        code = file.read_text(encoding="utf-8")
        parts += [f"## {name} {{ #{_anchor(name)} }}", f"```python\n{code}```"]
    return "\n\n".join(parts) + "\n"


def _anchor(name: str) -> str:
    return re.sub(r"\W", "-", name)


def citation() -> str:
    """How to cite this package, from `CITATION.cff`."""
    known = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in known["authors"])
    return (
        f"```bibtex\n@software{{synthbench,\n  title   = {{{known['title']}}},\n"
        f"  author  = {{{authors}}},\n  version = {{{known['version']}}},\n"
        f"  year    = {{{known['date-released'].year}}}\n}}\n```"
    )


def papers() -> str:
    """The citations of the tasks' cards, each with the tasks that it belongs to."""
    tasks: dict[str, list[str]] = {}
    for name in list_tasks():
        for entry in re.findall(r"^@.*?^}$", prose(make_task(name)), re.MULTILINE | re.DOTALL):
            tasks.setdefault(entry, []).append(f"`{name}`")
    return "\n\n".join(
        f"For {', '.join(names)}:\n\n```bibtex\n{entry}\n```" for entry, names in tasks.items()
    )


def listops_row() -> str:
    """A row of listops as a tree."""
    row = {"text": "[SM 2 [MED 4 8 5 [MAX 8 4 9 ] ] [MIN 7 3 ] ]"}
    return f'<div class="rows">{picture(make_task("listops"), row)}</div>'


#: The page of all scripts.
EXAMPLES = "guides/examples.md"
_INSERTS: Mapping[str, Callable[[], str]] = {
    "chomsky_table": chomsky_table,
    "citation": citation,
    "contrasts": contrasts,
    "language_models": language_models,
    "layers_that_fail": failures_table,
    "layers_that_pass": passes_table,
    "levels": levels_table,
    "listops_row": listops_row,
    "meanings": meanings,
    "new_task": new_task,
    "papers": papers,
    "public_counts": counts_table,
    "public_tasks": tasks_table,
    "results_matrix": results_matrix,
    "sampling_drawing": depth_two,
    "suite": suite,
    "tried": tried,
    "tuning_budget": tuning_budget,
    "way_of_the_data": way_of_the_data,
}


def command_line() -> str:
    """The help of every command."""
    parts = [
        "# Command line",
        "`python -m synthbench` runs the same program as `synthbench`. Results go to standard "
        "output, progress to standard error. The exit status is 0 when the command is done, 1 when "
        "a check failed or data are bad, 2 when it was used wrongly, and 130 when it was "
        "interrupted. With `SYNTHBENCH_DEBUG=1` an error also shows its traceback. Output has the "
        "width of the terminal (80 columns in a pipe; `COLUMNS` sets another), and colours on a "
        "terminal alone, none with `NO_COLOR`.",
    ]
    for name in sorted(commands.commands):
        command = commands.commands[name]
        context = command.make_context(f"synthbench {name}", [], resilient_parsing=True)
        parts += [f"## {name}", f"```text\n{command.get_help(context)}\n```"]
    return "\n\n".join(parts) + "\n"


@event_priority(-100)  # when the search index is there
def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a public name lacks a docstring or an entry, or a question of newcomers its answer.

    Raises:
        PluginError: names all that is missing.
    """
    site = Path(config.site_dir)
    missing = unanswered(site / "search" / "search_index.json")
    missing += undocumented(site / "reference", ROOT)
    if missing:
        raise PluginError("\n".join(missing))
