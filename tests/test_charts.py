"""The documentation's charts: no curve without a colour, a stroke, a mark and a key of its own."""

import importlib
import itertools
import re

import numpy as np
import pytest

from synthbench.tasks.registry import list_tasks
from synthbench.training.suite.report import line_of
from synthbench.training.train_fit import FITTED, NOT_FITTED
from tests.support import ROOT

STYLE = (ROOT / "docs/pages/assets/site.css").read_text(encoding="utf-8")
MOST_CURVES = 8
NUMBERS = [str(number) for number in range(1, MOST_CURVES + 1)]
#: How people without red, green or blue cones see linear RGB (Machado, Oliveira and Fernandes,
#: IEEE Transactions on Visualization and Computer Graphics, 2009).
EYES = {
    "all cones": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
LIGHT = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


@pytest.fixture
def docs(monkeypatch):
    """From a name to a module of the documentation; MkDocs finds them beside its hooks."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module


@pytest.fixture
def line_chart(docs):
    return docs("charts").line_chart


def schemes():
    """The colours of curves, in order, on the background of each scheme."""
    light, _, dark = STYLE.partition('[data-md-color-scheme="slate"]')
    for background, rules in (("#ffffff", light), ("#1e2129", dark)):
        colors = dict(re.findall(r"--(\w+): (#\w{6});", rules))
        strokes = dict(re.findall(r"^\.curve-(\d) { stroke: var\(--(\w+)\);", STYLE, re.MULTILINE))
        fills = dict(re.findall(r"\.dot-(\d) { fill: var\(--(\w+)\);", STYLE))
        assert strokes == fills and list(strokes) == NUMBERS
        yield background, [colors[strokes[number]] for number in NUMBERS]


def linear(color):
    """A colour as linear RGB."""
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """Linear RGB in the CIE's space L*a*b*, where distances are about as large as they look."""
    values = LIGHT @ rgb.clip(0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(values > 0.008856, np.cbrt(values), 7.787 * values + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.torch
def test_every_curve_of_the_gallery_has_a_line_marks_and_a_key(docs):
    comparisons = docs("results").read_comparisons()
    groups = [chart for one in comparisons for chart in docs("curves").charts(one)]
    drawn = [chart for group in groups for chart in group.split('<div class="chart">')[1:]]
    assert len(drawn) >= len(groups) > 20
    most = 0
    for chart in drawn:
        picture, _, legend = chart.partition("</svg>")
        names = re.findall(r"</svg></i>([^<]+)</span>", legend)
        assert set(re.findall(r"curve-(\d)", picture)) == set(NUMBERS[: len(names)])
        assert set(re.findall(r"dot-(\d)", picture)) == set(NUMBERS[: len(names)])
        assert re.findall(r"curve-(\d)", legend) == NUMBERS[: len(names)]
        most = max(most, len(names))
    assert most == MOST_CURVES  # of ctl


def comparison(task, models, **line):
    """A comparison of some models whose lines have `line`."""
    run = {"fit": None, "curve": []}
    usual = {"variant": "Z2", "by_bucket": {}, "measures": {}, "runs": [run]}
    lines = [{**usual, **line, "model": f"model {number}"} for number in range(models)]
    about = {
        "task": task,
        "profile": "cpu",
        "study": "main",
        "data": {"parameters": {}, "stream": False},
    }
    return {**about, "measures": [], "models": lines}


def test_a_chart_of_many_lengths_labels_few_of_them(docs):
    shares = {str(length): 0.5 for length in (*range(4, 41), 64, 128, 256)}
    (chart,) = docs("curves").charts(comparison("state-tracking", 2, by_bucket=shares))
    labels = re.findall(r"<text[^>]*>(\d+)</text>", chart)
    assert {"100", "200"} <= set(labels) and len(labels) < 12
    assert "seen in training" in chart  # up to 32
    (charts,) = docs("curves").charts(comparison("state-tracking", 9, by_bucket=shares))
    assert charts.count('<div class="chart">') == 2  # more curves could not be told apart


def test_buckets_that_are_ranges_have_no_curve(docs):
    by_bucket = docs("curves").by_bucket
    assert by_bucket([{"model": "looped", "by_bucket": {"-19..0": 0.5, "1..9": 0.25}}]) == {}
    assert by_bucket([{"model": "gru", "by_bucket": {"9": 0.5, "-1.5": 1.0}}]) == {
        "gru": [[(-1.5, 1.0), (9.0, 0.5)]]
    }


def test_of_two_models_the_accuracy_in_training_is_drawn_too(docs):
    curve = [
        {"step": step, "split": split, "accuracy": accuracy}
        for step in (50, 100)
        for split, accuracy in (("train", 1.0), ("test", 0.1))
    ]
    for models, curves in ((2, 4), (3, 3)):
        runs = [{"fit": None, "curve": curve}]
        made = comparison("modular-arithmetic", models, variant="add", runs=runs)
        (chart,) = docs("curves").charts(made)
        assert chart.count("<polyline") == 2 * curves  # and its key


@pytest.mark.torch
def test_a_cell_of_the_matrix_leads_to_a_curve_if_one_is_drawn_and_marks_what_is_not_fitted(
    docs, monkeypatch
):
    monkeypatch.setattr(docs("overview"), "chance", lambda *_: 0.25)  # drawn rows take time
    comparisons = docs("results").read_comparisons()
    anchors = {
        f"tasks/{one['task']}.html#{anchor}"
        for one in comparisons
        for chart in docs("curves").charts(one)
        for anchor in re.findall(r'id="([\w-]+)"', chart)
    }
    matrix = docs("overview").matrix(comparisons)
    cells = re.findall(
        r'"--share: ([\d.]+)"><a href="(.*?)" title="(.*?)">([\d.]+)(\u2020?)'
        r"(?: <small>\d+/\d+</small>)?<",
        matrix,
    )
    assert len(cells) > 30
    places = {place for _, place, *_ in cells if "#" in place}
    assert len(places) > 10 and places <= anchors
    grey = re.findall(r'<td class="unlearned" title="(.*?)"></td>', matrix)
    assert len(grey) > 10 and all("not fitted in" in words for words in grey)
    for share, _, words, shown, single in cells:
        assert bool(single) == ("one run" in words)
        assert abs(float(share) - float(shown)) < 0.01
        of_moments = words.partition(" on ")[2].startswith("parity")
        assert of_moments or "not fitted in" not in words
    assert "1.00 <small>6/20</small>" in matrix, "heat on parity"
    assert not [words for _, _, words, *_ in cells if " on composites" in words], "none learned"
    tasks, columns, guesses = matrix.split("</tr>")[:3]
    names = [
        name
        for width, name in re.findall(r'colspan="(\d+)"><b>(.*?)</b>', tasks)
        for _ in range(int(width))
    ]
    heads = re.findall(r"<th>(.*?)</th>", columns)[1:]
    assert guesses.count('<td style="--share: 0.250">0.25</td>') == len(heads)
    marked = {
        name for name, words in zip(names, heads, strict=True) if "\u2260 paper</abbr>" in words
    }
    assert "arithmetic" in marked and not {"ctl", "parity", "grid-count"} & marked
    assert "`modulus` 5 (paper: 10)" not in matrix, "a size that was searched"


@pytest.mark.torch
def test_a_task_stands_in_one_matrix_and_no_matrix_has_more_columns_than_a_page(docs, monkeypatch):
    monkeypatch.setattr(docs("overview"), "chance", lambda *_: 0.25)
    results = docs("results")
    comparisons = results.read_comparisons()
    parts = docs("overview").matrices(comparisons).split("\n\n")
    heads = [re.findall(r'colspan="(\d+)"><b>(.*?)</b>', part) for part in parts]
    assert len(parts) > 1
    assert all(sum(int(width) for width, _ in head) <= 15 for head in heads)
    whole = re.findall(r'colspan="(\d+)"><b>(.*?)</b>', docs("overview").matrix(comparisons))
    assert [one for head in heads for one in head] == whole


@pytest.mark.torch
def test_the_table_of_the_suite_has_figures_of_layers_that_learned_their_rows_alone(docs):
    module = docs("suite")
    rows = [(0, 0.25, True), (1, 0.75, True), (2, 0.5, False)]
    learned, failed = (
        line_of(name, [run_row(*one) for one in rows[:count]], seeds=2, tried=1)
        for name, count in (("gru", 2), ("other", 3))
    )
    about = {"name": "S3", "title": "", "steps": 10, "pass": "p", "fail": "f", "size": "length"}
    report = {"settings": [{**about, "models": [learned, failed]}], "width": 64}
    table = module.table(report)
    assert 'style="--share: 0.500"' in table
    assert ">0.50 (0.25 to 0.75, 2 seeds)</td>" in table
    assert '<td class="unlearned">not learned in 10 steps, 2 of 3</td>' in table
    drawn = module.figure(report)
    assert drawn.startswith('<div class="suite"><svg')
    assert module.figure(report) == drawn


@pytest.mark.torch
def test_every_setting_that_the_page_shows_holds_by_the_rule_of_the_suite(docs):
    report = docs("suite").baselines()
    for setting in report["settings"]:
        every = [line["learned"] == line["seeds"] for line in setting["models"]]
        assert sum(every) >= 3, setting["name"]
    assert docs("suite").suite_section()


def run_row(seed, beyond, fitted):
    return {
        **{"seed": seed, "rate": 1, "beyond": beyond, "fitted": fitted, "steps": 10},
        **{"validation": 1.0, "parameters": 7, "by_size": {"20": beyond}, "curve": []},
        **{"seconds": None, "tokens_per_second": None},
    }


def test_a_table_beside_the_papers_has_the_best_seed_and_no_figure_of_what_is_not_fitted(docs):
    def line(variant, model, *values, state=FITTED, paper=None):
        mean = sum(values) / len(values)
        published = None if paper is None else {"mean": paper}
        figure = {"mean": mean, "values": list(values), "published": published}
        fit = {"metric": "accuracy", "chosen": 1.0, "state": state}
        runs = [{"fit": fit, "steps": 10} for _ in values]
        return {"variant": variant, "model": model, "measures": {"test": figure}, "runs": runs}

    models = [
        line("parity", "rnn", 0.5, 1.0, paper=1.0),
        line("parity", "lstm", 0.25, state=NOT_FITTED),
        line("sort", "lstm", 0.75),
    ]
    chance = {"parity": 0.5, "sort": 0.25}.__getitem__
    table = docs("beside").beside_paper({"models": models}, "test", chance).splitlines()
    assert table[0] == "| variant | seeds | chance | `rnn` | `lstm` |"
    assert table[2:] == [
        "| parity | 1 or 2 | 0.50 | 0.750, best 1.000, paper 1.000 | not fitted |",
        "| sort | 1 | 0.25 |  | 0.750 |",
    ]


@pytest.mark.torch
def test_chance_is_the_answer_to_another_row_of_the_same_size(docs):
    stored = {
        (one["task"], one["profile"]): one
        for one in docs("results").read_comparisons()
        if one["study"] == "main"
    }
    chance, beyond = docs("chance").chance, docs("overview")._beyond
    state = stored["state-tracking", "cpu"]
    for variant, share in {"Z2": 1 / 2, "S3": 1 / 6}.items():
        assert chance(state, variant, beyond(state)) == pytest.approx(share, abs=0.01)
    addition = stored["modular-arithmetic", "cpu"]
    assert chance(addition, "add", beyond(addition)) == 1 / 97
    strings = stored["chomsky", "cpu"]
    assert chance(strings, "reverse-string", "test") == pytest.approx(1 / 2, abs=0.01)
    assert 0.7 < chance(strings, "bucket-sort", "test") < 0.95  # sorted strings are alike


def test_every_task_has_the_meaning_of_a_pass_and_a_fail_in_one_line(docs, monkeypatch):
    monkeypatch.setattr(docs("overview"), "chance", lambda *_: 0.25)
    module = docs("task_results")
    monkeypatch.setattr(module, "charts", lambda _: ["<svg>"])
    comparisons = docs("results").read_comparisons()
    text = module.meanings(comparisons)
    assert text.count("<tr>") == 1 + len(list_tasks())
    assert all(len(words) <= 80 for task in list_tasks() for words in module.meaning(task))
    assert "<td>0.12 to 1.00</td>" in text, "ctl"
    with_results = {one["task"] for one in comparisons}
    assert set(re.findall(r'href="tasks/(.*?)\.html"', text)) == with_results
    page = module.page("ctl", [one for one in comparisons if one["task"] == "ctl"])
    places = [page.index(words) for words in ("A pass means", "<svg", "| `ndr` |", "<details")]
    assert places == sorted(places)


def test_a_chart_of_more_curves_than_can_be_told_apart_is_refused(line_chart):
    curves = {f"model {number}": [[(0.0, 0.5), (1.0, 1.0)]] for number in range(MOST_CURVES + 1)}
    with pytest.raises(ValueError, match=r"by length has 9 curves; 8 can be told apart: model 0"):
        line_chart(curves, "length")
    curves.pop("model 0")
    outlines = re.findall(r'<path d="(.*?)" transform="\S+ \S+\)(.*?)"', line_chart(curves, "x"))
    assert len(set(outlines)) == MOST_CURVES


def test_marks_of_models_with_the_same_accuracies_stand_beside_each_other(line_chart):
    curves = {f"model {number}": [[(2.0, 1.0), (3.0, 1.0)]] for number in range(MOST_CURVES)}
    chart, _, _ = line_chart(curves, "length", ticks=[2, 3]).partition("</svg>")
    places = sorted(float(x) for x in re.findall(r"translate\((\S+) ", chart))
    assert len(places) == 2 * MOST_CURVES
    assert min(np.diff(places)) > 4


def test_colours_are_told_apart_by_every_eye_and_strokes_in_grey_print():
    strokes = re.findall(r"^\.curve-\d {.*?(dasharray: [\d ]+)?; }", STYLE, re.MULTILINE)
    assert len(set(strokes)) == len(strokes) == MOST_CURVES
    for background, colors in schemes():
        behind = LIGHT[1] @ linear(background)
        for color in colors:
            low, high = sorted((behind, LIGHT[1] @ linear(color)))
            assert (high + 0.05) / (low + 0.05) > 3, f"{color} on {background}"
        for eye, matrix in EYES.items():
            seen = {color: lab(matrix @ linear(color)) for color in colors}
            for one, other in itertools.combinations(colors, 2):
                assert np.linalg.norm(seen[one] - seen[other]) > 10, f"{eye}: {one} and {other}"
