"""Rows are found in whatever way they are written; each way that is not found is tested, too."""

import csv
import html
import io
import itertools
import json
import re
import textwrap

import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench.decontamination.decontaminate import decontaminate
from synthbench.decontamination.search import Search, text_tasks
from synthbench.sampling.preview import sample_rows
from synthbench.tasks.registry import task

TASKS = text_tasks()


def ints(words):
    return [int(one) if one.isdigit() and str(int(one)) == one else one for one in words]


def wide(text):
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else "\u3000" for one in text)


def lines(text, width=70):
    return textwrap.wrap(text, width)


#: Ways to write a row, by its text and its tokens.
WAYS = {
    # In the text of a program, which may be quoted again.
    "escaped line": lambda row, words: rf"question\n{row}\nanswer",
    "escaped twice": lambda row, words: rf"question\\n{row}\\nanswer",
    "JSON": lambda row, words: json.dumps({"text": f"Solve\n{row}\n", "label": 1}),
    "JSON in JSON": lambda row, words: json.dumps(json.dumps({"text": f"Solve\n{row}\n"})),
    "codes": lambda row, words: "xx " + "".join(f"\\u{ord(one):04x}" for one in row),
    "long codes": lambda row, words: "".join(f"\\U{ord(one):08x}" for one in row),
    "codes in braces": lambda row, words: "".join(f"\\u{{{ord(one):x}}}" for one in row),
    "octal codes": lambda row, words: "".join(f"\\{ord(one):03o}" for one in row),
    "code": lambda row, words: f"x = '{row}'\nassert solve(x) == 3  # {row}",
    "SQL": lambda row, words: f"INSERT INTO t VALUES (7,'{row}',3);",
    "chat": lambda row, words: f"<|im_start|>user\nSolve:\n{row}<|im_end|>",
    # In a table.
    "CSV": lambda row, words: f"id,text\n7,{row},1",
    "CSV, two digits": lambda row, words: f"1,{row},5",
    "CSV, quoted": lambda row, words: f'7,"{row}",1',
    "semicolons": lambda row, words: f"12;{row};3",
    "TSV": lambda row, words: f"0\t{row}\t1",
    "Markdown table": lambda row, words: f"| 7 | {row} | 1 |",
    "HTML table": lambda row, words: f"<tr><td>7</td><td>{row}</td><td>1</td></tr>",
    "log": lambda row, words: f"2024-01-02 10:11:12,345 INFO row={row} label=3",
    # Tokens that are separated by something else.
    **{
        f"with {sign!r}": lambda row, words, sign=sign: sign.join(words)
        for sign in (",", ", ", "; ", " | ", "\t", "  ", " & ", " \u2192 ", '" "', "\u2009", "~")
    },
    # Tokens in a list.
    "list": lambda row, words: str(words),
    "tuple": lambda row, words: str(tuple(words)),
    "list of numbers": lambda row, words: json.dumps(ints(words)),
    "JSON list": lambda row, words: json.dumps({"id": 3, "tokens": words, "n": 4}),
    "escaped list": lambda row, words: json.dumps(json.dumps({"id": 3, "tokens": words})),
    "list in lines": lambda row, words: json.dumps({"tokens": words, "n": 4}, indent=2),
    "YAML list": lambda row, words: "x:\n" + "\n".join(f"- '{one}'" for one in words) + "\ny: 1",
    "cells": lambda row, words: "<tr>\n" + "\n".join(f"<td>{one}</td>" for one in words),
    "strings of NumPy": lambda row, words: str([f"np.str_({one!r})" for one in words]),
    "bytes": lambda row, words: str([one.encode() for one in words]),
    "items": lambda row, words: "<ul>" + "".join(f"<li>{html.escape(one)}</li>" for one in words),
    "open items": lambda row, words: "<ul>\n" + "\n".join(f"<li>{one}" for one in words) + "</ul>",
    "XML": lambda row, words: "".join(f"<token>{html.escape(one)}</token>\n" for one in words),
    "braces": lambda row, words: "".join(f"{{{one}}}" for one in words),
    # Markdown, HTML, LaTeX, wide characters.
    **{
        f"in {form}": lambda row, words, form=form: form.format(row)
        for form in (
            "**{}**", "*{}*", "_{}_", "`{}`", "The row _{}_ is", "> {}", "- {}", "* {}", "1. {}",
            "# {}", "## {}", "({})", "[{}]", "<{}>",
            "\u201c{}\u201d", "${}$", "f({}).", "Question 3 - {}",
            "{} -> 3", "{}    3", "text={}", "+ {}", "[12:01:33] {}", "\\texttt{{{}}}",
        )
    },
    "Markdown escapes": lambda row, words: re.sub(r"([][\\*_+\-#().])", r"\\\1", row),
    "entities": lambda row, words: "".join(f"&#{ord(one)};" for one in row),
    "spaces that do not break": lambda row, words: row.replace(" ", "&nbsp;"),
    "the same, escaped": lambda row, words: row.replace(" ", "&amp;nbsp;"),
    "HTML": lambda row, words: f"<p>{html.escape(row)}</p>",
    "LaTeX": lambda row, words: row.replace("*", "\\times ").replace(" ", "\\,"),
    "wide": lambda row, words: wide(row),
    "signs of mathematics": lambda row, words: row.replace("-", "\u2212").replace("*", "\u00d7"),
    # Wrapped.
    "wrapped": lambda row, words: textwrap.fill(row, 80),
    "wrapped with words": lambda row, words: textwrap.fill(
        f"Please solve the following row, if you can: {row} and give me the answer.", 72
    ),
    "wrapped quote": lambda row, words: "\n".join(f"> {one}" for one in lines(row)),
    "wrapped list": lambda row, words: textwrap.fill(f"tokens = {words}", 88),
    "lines of HTML": lambda row, words: "<br>\n".join(map(html.escape, lines(row))),
    "lines that go on": lambda row, words: " \\\n".join(lines(row)),
    "wrapped and escaped": lambda row, words: json.dumps(textwrap.fill(row, 80)),
}  # fmt: skip


#: Grids on several lines.
GRIDS = {
    "as prompts show them": lambda lines: lines,
    "without borders": lambda lines: [one.replace("| ", "") for one in lines if "--" not in one],
    "commas": lambda lines: [one.replace(" | ", " ").replace(" ", ", ") for one in lines],
    "lists": lambda lines: [str(one.replace("| ", "").split()) for one in lines if "--" not in one],
    "indented": lambda lines: [f"    {one}" for one in lines],
    "quoted": lambda lines: [f"> {one}" for one in lines],
    "table": lambda lines: [
        "| " + " | ".join(one.replace("| ", "").split()) + " |" for one in lines
    ],
}


def rows_and_words(name, count=4, split="test"):
    one = task(name)
    rows = [row["text"] for row in sample_rows(one, split, count)]
    return [(row, row.split() if one.separator else [*row]) for row in rows]


@pytest.mark.parametrize(
    ("name", "variant", "parameters"),
    [
        ("sudoku", "6x6", {}),
        *(("maze", "tree", {"size": (9,), "test_size": (size,)}) for size in (11, 21)),
    ],
)
def test_grids_on_several_lines_are_found_if_they_are_held_out(name, variant, parameters, search):
    one = task(name, variant, **parameters)
    for split in ("test", "train"):
        rows = [row["text"] for row in sample_rows(one, split, 3)]
        ways = [*GRIDS.values()]
        if name == "maze":
            ways.append(lambda lines: [line.replace(" ", "") for line in lines])
        for write in ways:
            texts = ["\n".join(write(one.columns["text"].show(row).splitlines())) for row in rows]
            around = [f"Solve this:\n\n{text}\n\nAnswer:" for text in texts]
            around += [f"Two:\n{text}\n{text}\nThe answer is 7." for text in texts]
            for row, found in zip((*rows, *rows), search.find(around), strict=True):
                assert [each.row for each in found] == [row] * (split == "test"), write(["1 | 2"])


# Rows of maze begin with the sign of headings, and are grids of signs on other lines. Those of
# sudoku have points, and as many tokens as ordinary texts at 4 x 4.
@pytest.mark.parametrize("name", [name for name in TASKS if name not in ("maze", "sudoku")])
def test_rows_are_found_in_whatever_way_they_are_written(name, search):
    if name == "modular-arithmetic":  # whose rows are ordinary sums
        search = Search([name], min_bits=0)
    rows = rows_and_words(name)
    texts = [write(*row) for write in WAYS.values() for row in rows]
    found = iter(search.find(texts))
    missed = {
        (way, row)
        for way in WAYS
        for row, _ in rows
        if (name, row) not in {(one.task, one.row) for one in next(found)}
    }
    assert not missed


@pytest.mark.parametrize("name", ["parity", "ctl", "state-tracking", "chomsky"])
def test_an_export_is_found_as_a_document_of_one_string(name, tmp_path, search):
    """As corpora of repositories hold files."""
    small = {"preset": "small", "rows": {"train": 20, "test": 40}}
    variant = next(iter(task(name).variants))
    synthbench.generate(task(name, variant), out=tmp_path / "d", progress=False, **small)
    tables = [pq.read_table(file, columns=["text"]) for file in tmp_path.rglob("test-*.parquet")]
    rows = {row for table in tables for row in table["text"].to_pylist()}
    assert len(rows) == 40
    for to in ("chat", "openai-batch", "jsonl", "tsv", "nemo-gym"):
        out, options = tmp_path / to, {"model": "m"} if to == "openai-batch" else {}
        synthbench.export(tmp_path / "d", to, out, splits=["test"], progress=False, **options)
        files = [file for file in sorted(out.rglob("*")) if file.suffix in (".jsonl", ".tsv")]
        content = "".join(file.read_text() for file in files)
        (corpus := tmp_path / f"{to}.jsonl").write_text(
            json.dumps({"path": to, "content": content})
        )
        report = tmp_path / f"{to}-found.jsonl"
        decontaminate(corpus, out=tmp_path / f"{to}-clean", report=report, workers=1, tasks=[name])
        found = {json.loads(line)["row"] for line in report.read_text().splitlines()}
        assert found >= {row for row in rows if search.counts(task(name), row.split())}, to


@pytest.mark.slow
@pytest.mark.parametrize("to", ["verl", "skyrl", "lm-eval"])
def test_an_export_of_tables_is_found_as_a_document_of_one_string(to, tiny, tmp_path, search):
    """As JSON Lines, as CSV and as Python prints it."""
    for name in ("parity", "mqar"):
        out = tmp_path / name
        synthbench.export(tiny(name), to, out, splits=["test"], progress=False)
        tables = [pq.read_table(file).to_pylist() for file in out.rglob("*.parquet")]
        rows = list(itertools.chain.from_iterable(tables))
        (variant,) = synthbench.DatasetDirectory.open(tiny(name)).manifest.variants
        dataset = synthbench.DatasetDirectory.open(tiny(name)).rows(variant, "test")
        texts = {row["text"] for row in dataset if search.counts(task(name), row["text"].split())}
        csv.writer(table := io.StringIO()).writerows(
            [json.dumps(cell) for cell in row.values()] for row in rows
        )
        lines = "\n".join(map(json.dumps, rows))
        assert texts
        for document in (lines, table.getvalue(), "\n".join(map(str, rows))):
            (found,) = search.find([document])
            assert {one.row for one in found} >= texts


def test_rows_of_images_grids_and_numbers_are_not_found(tiny, tmp_path):
    for name, to in (
        ("composites", "openai-batch"),
        ("grid-count", "jsonl"),
        ("identity", "jsonl"),
    ):
        options = {"model": "m"} if to == "openai-batch" else {}
        synthbench.export(
            tiny(name), to, tmp_path / name, splits=["test"], progress=False, **options
        )
        out = tmp_path / f"{name}-clean"
        decontaminate(tmp_path / name, out=out, workers=1, tasks=["listops", "parity", "ctl"])
        files = sorted((tmp_path / name).rglob("*.jsonl"))
        assert files
        for file in files:
            clean = out / file.relative_to(tmp_path / name)
            assert clean.read_bytes() == file.read_bytes()


def test_tokens_in_a_list_of_a_document_are_found(tmp_path):
    documents = [
        {"tokens": ["3", "1", "2", "1", "="]},
        {"rows": [{"tokens": [3, 1, 2, 1, "="], "label": 1}]},
        {"text": ["3", "1 2", "1", "="]},
        {"a": [3, 1], "b": [2, 1, "="]},
    ]
    corpus = tmp_path / "a.jsonl"
    corpus.write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    decontaminate(corpus, out=tmp_path / "b.jsonl", workers=1)
    assert [
        json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()
    ] == documents[2:]


def test_the_guide_lists_what_is_not_found(search):
    """Each line of the list in `docs/pages/guides/held-out.md`."""
    bits = rows_and_words("chomsky", 60)
    (pairs, words), *_ = (row for row in bits if len(row[1]) % 4 == 0)
    halves = [" ".join(words[:30]), " ".join(words[30:])]
    parity = "3 1 2 1 ="
    sum_row = next(row for row, words in rows_and_words("addition", 40) if len(words) > 20)
    short = next(row for row, words in rows_and_words("ctl", 40, "iid") if len(words) == 4)
    limits = {
        "a column of bare tokens": parity.replace(" ", "\n"),
        "digits in groups": re.sub("(.{4})", r"\1 ", pairs.replace(" ", "")),
        "a number across lines": re.sub("(.{20})", "\\\\1\n", pairs.replace(" ", "")),
        "separators of thousands": re.sub(
            r"(?<=\d)(?=(\d{3})+(?!\d))", ",", sum_row.replace(" ", "")
        ),
        "cut like a table": re.sub("((?:[01] ){3}[01]) ", r"\1\n", pairs),
        "cut at any place": "\n".join(halves),
        "across an empty line": parity.replace("1 2", "1\n\n2"),
        "an answer behind a space": f"{pairs} 1",
        "few tokens with signs": ", ".join(short.split()),
        "between operators": parity.replace(" ", " - "),
        "described in words": "three one two one equals",
        "token ids": " ".join(str(1_000 + ord(sign)) for sign in pairs),
        "percent codes": parity.replace(" ", "%20"),
        "lower case": "[max 0 [min 4 6 ] ]",
    }
    kept = dict(zip(limits, search.find([*limits.values()]), strict=True))
    rows = {parity, pairs, sum_row, short, "[MAX 0 [MIN 4 6 ] ]"}
    assert not [name for name, found in kept.items() if rows & {one.row for one in found}]
    assert all(search.find([row])[0] for row in rows)


@pytest.mark.parametrize("variant", ["cycle-navigation", "modular-arithmetic-simple"])
@pytest.mark.parametrize("form", ["- {}", "+ {}", "* {}", "Question 3 - {}", "3) {}", "{} -> 1"])
def test_a_row_is_found_behind_a_sign_that_may_be_its_own(variant, form, search):
    rows = [row["text"] for row in sample_rows(task("chomsky", variant), "test", 8)]
    found = search.find([form.format(row) for row in rows])
    assert [
        row for row, here in zip(rows, found, strict=True) if row not in {r.row for r in here}
    ] == []
