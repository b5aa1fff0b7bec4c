"""The page of an audit: whole, valid, loading nothing, readable in light, in dark and by ear."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from html.parser import HTMLParser

import pytest

from synthbench.auditing.page import DATA, PAGE, page, report_directory, write_report
from synthbench.auditing.sections import variant_sections
from tests.auditing.planting import look, make

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Reader(HTMLParser):
    """Elements with their attributes; every one that is opened must be closed in its turn."""

    def __init__(self):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "planted"
    return look(make(out, parameters={"plant": "first"}))


@pytest.fixture(scope="module")
def html(found):
    return page(found)


@pytest.fixture(scope="module")
def reader(html):
    return read(html)


def test_the_page_loads_nothing_and_runs_nothing(html, reader):
    for name, attributes in reader.elements:
        assert name not in ("script", "link", "iframe", "object", "embed", "img", "base")
        for attribute, value in attributes.items():
            assert not attribute.startswith("on")
            if attribute in ("href", "src", "xlink:href", "action"):
                assert value.startswith("#")
    assert not re.search(r"url\(|@import|https?:|//", html.replace("<!DOCTYPE html>", ""))


def test_the_page_has_a_figure_for_every_metric_and_distribution_with_its_numbers(found, reader):
    variant = found.variants["default"]
    figures = reader.named("svg")
    assert len(figures) == len(variant.metrics) * len(variant.splits) + len(variant.balance)
    words = " ".join(reader.words)
    for distribution in variant.balance:
        assert f"test: {distribution.name}, share of each value" in words
    for shortcut in variant.shortcuts:
        assert shortcut.name in words and shortcut.text in words
        for score in shortcut.splits.values():
            assert f"{shortcut.name}: {score.figures['accuracy'].mean:.3f} (" in words
    for text in variant.findings:
        assert text in words
    classes = [group["class"].split()[0] for group in reader.named("g")]
    assert classes.count("bar") == sum(len(found.values) for found in variant.balance)
    assert classes.count("mark") == sum(len(shortcut.splits) for shortcut in variant.shortcuts)


def test_figures_and_tables_can_be_read_by_ear_and_by_keyboard(reader):
    (html,) = reader.named("html")
    assert html["lang"] == "en"
    assert len(reader.named("h1")) == 1
    for figure in reader.named("svg"):
        assert figure["role"] == "img"
        assert figure["aria-label"]
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(head.get("scope") in ("row", "col") for head in reader.named("th"))
    regions = [one for one in reader.named("div") if one.get("class") == "wide"]
    assert len(regions) == len(reader.named("table"))
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in regions)
    assert any(one.get("name") == "viewport" for one in reader.named("meta"))


def luminance(color):
    channels = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """WCAG 2.2, contrast ratio."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_letters_and_marks_stand_out_in_light_and_in_dark(html, theme):
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    colors = dict(re.findall(r"--(\w+): (#\w{6})", style.split("@media")[theme]))
    if theme == 0:
        assert len(colors) == 7
    assert set(colors) == {"ink", "paper", "faint", "quiet", "link", "split", "other"}
    for name in ("ink", "quiet", "link"):
        assert contrast(colors[name], colors["paper"]) >= 4.5, name
    for name in ("split", "other"):
        assert contrast(colors[name], colors["paper"]) >= 3.0, name


def test_everything_drawn_has_a_class_that_the_style_colours(html):
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    drawn = "".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL))
    kinds = {kind for kinds in re.findall(r'class="(.*?)"', drawn) for kind in kinds.split()}
    assert kinds == {"grid", "bar", "tick", "mark", "near", "reference"}
    for kind in kinds:
        assert re.search(rf"^\.{kind} {{ (fill|stroke): var\(--\w+\);", style, re.MULTILINE)
    assert not re.search(r"#|fill=|stroke=|style=", drawn)


def test_the_page_and_the_text_show_the_same_tables(found, reader):
    words, text = " ".join(reader.words), " ".join(str(found).split())
    for section in variant_sections(found.variants["default"]):
        assert section.title in words and section.folded != (section.title in text)
        for sentence in map(str, section.items):
            assert sentence in words and sentence in text
        for table in section.tables:
            for cell in (cell for row in table.rows for cell in row):
                assert cell in words
                assert section.folded or cell in text
            for note in table.notes:
                assert note in words
                assert section.folded or note in text


def test_the_verdict_comes_first_and_the_figures_of_test_are_open(found, reader):
    words = [word.strip() for word in reader.words if word.strip()]
    assert words[3:5] == [
        "Verdict",
        "test: best shortcut 1.00, chance 0.25, solver 1.00 (best: first token)",
    ]
    is_open = ["open" in one for one in reader.named("details")]
    assert is_open == [True, *[False] * (len(found.variants["default"].splits) + 1)]


def test_the_page_is_always_the_same(found, html):
    assert page(found) == html
    assert str(datetime.date.today().year) not in re.sub(r"\d\.\d+", "", html)


def test_names_cannot_break_the_page(found):
    nasty = "<script>alert('x')</script>&\""
    variant = found.variants["default"]
    shortcuts = [dataclasses.replace(variant.shortcuts[0], name=nasty, text=nasty)]
    balance = [
        dataclasses.replace(variant.balance[0], name=nasty, values=[nasty, "$x", "\x07", "語"])
    ]
    variant = dataclasses.replace(
        variant, findings=[nasty], shortcuts=shortcuts, balance=balance, level_name=nasty
    )
    text = page(dataclasses.replace(found, task=nasty, variants={nasty: variant}))
    reader = read(text)
    assert not reader.named("script")
    words = "".join(reader.words)
    # Title, h1, h2, finding; shortcut in a figure, its title and two tables; two tables of balance.
    assert words.count(nasty) >= 10
    assert "$x" in words and "語" in words
    assert "\x07" not in text and r"\x07" in text


def test_variants_are_reached_from_the_top(found):
    variant = found.variants["default"]
    reader = read(page(dataclasses.replace(found, variants={"one": variant, "two": variant})))
    links = [one["href"] for one in reader.named("a")]
    assert links == ["#one", "#two"]
    sections = [one["id"] for one in reader.named("section")]
    assert sections == ["one", "two"]
    ids = [one["id"] for _, one in reader.elements if "id" in one]
    assert len(ids) == len(set(ids))


# Files.


def test_the_files_are_the_page_and_the_values(found, html, tmp_path):
    place = report_directory(tmp_path / "deep" / "report", overwrite=False)
    write_report(found, place)
    assert sorted(one.name for one in place.iterdir()) == [PAGE, DATA]
    assert (place / PAGE).read_text(encoding="utf-8") == html

    def refuse(text):
        raise ValueError(text)

    text = (place / DATA).read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=refuse) == found.to_dict()
