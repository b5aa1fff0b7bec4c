"""A corpus in files: what goes, what stays byte for byte, and what is refused."""

import bz2
import gzip
import json

import pyarrow as pa
import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.decontamination import corpus as corpus_files
from synthbench.decontamination.decontaminate import decontaminate
from synthbench.errors import DatasetError, SynthbenchError

ROW = "[MAX 0 [MIN 4 6]]"  # held out
GOOD = [
    '{"text": "Hello.",   "n": 1.50, "extra": {"z": [1, null]}}',
    '{"text": "caf\\u00e9 \\ud83d \u00e9", "text2": "3 + 4 = 7"}',
    "",
    '  [1, "a"]\t',
]
BAD = [
    json.dumps({"id": 7, "text": f"Solve {ROW}."}),
    json.dumps({"messages": [{"role": "user", "content": f"a\n\n{ROW}"}]}),
    json.dumps(["[MAX 0\n[MIN 4\t6", "no row", "[ MAX 0[MIN 4 6]]", "[MAX 0[MIN 4 6]]"]),
]


def files_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_documents_with_rows_go_and_all_others_stay_as_they_are(tmp_path):
    lines = [GOOD[0], BAD[0], GOOD[1], BAD[1], GOOD[2], BAD[2], GOOD[3]]
    corpus, clean, report = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "r.jsonl"))
    corpus.write_bytes("\n".join(lines).encode())
    found = decontaminate(corpus, out=clean, report=report, workers=1)
    assert clean.read_bytes() == "\n".join(GOOD).encode()
    assert (found.documents, found.dropped, found.files) == (6, 3, 1)
    assert found.to_dict()["found"] == [
        {"task": "listops", "variant": "default", "split": "iid", "documents": 3}
    ]
    noted = [json.loads(line) for line in report.read_text().splitlines()]
    assert [one["line"] for one in noted] == [2, 4, 6]
    assert {(one["file"], one["row"]) for one in noted} == {("a.jsonl", "[MAX 0 [MIN 4 6 ] ]")}


def test_a_directory_keeps_its_structure_and_clean_files_their_bytes(tmp_path):
    corpus, clean = tmp_path / "corpus", tmp_path / "out" / "clean"
    (corpus / "deep" / "er").mkdir(parents=True)
    good = "\n".join(GOOD).encode() + b"\n"
    dirty = good + BAD[0].encode() + b"\n" + good
    kept = {
        "a.jsonl": good,
        "windows.ndjson": good.replace(b"\n", b"\r\n"),
        "deep/b.jsonl.gz": gzip.compress(good, 1),
        "deep/er/c.jsonl.bz2": bz2.compress(good, 1),
        "empty.jsonl": b"",
    }
    changed = {
        "d.jsonl": dirty,
        "deep/e.jsonl.gz": gzip.compress(dirty),
        "deep/f.jsonl.zst": pa.compress(dirty, "zstd", asbytes=True),
    }
    for name, content in {**kept, **changed, "README.md": b"read me"}.items():
        (corpus / name).write_bytes(content)
    found = decontaminate(corpus, out=clean, workers=1)
    assert (found.dropped, found.files, found.others) == (3, 8, ["README.md"])
    made = files_in(clean)
    assert {*made} == {*kept, *changed}
    assert {name: made[name] for name in kept} == kept
    for name in changed:
        content = b"".join(part for _, part in corpus_files.blocks(clean / name))
        assert content == good + good, name
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"clean"}


@pytest.mark.slow
def test_blocks_and_processes_change_nothing(tmp_path, monkeypatch):
    rows = next(synthbench.stream("listops", split="test", batch_size=40))["text"]
    lines = [json.dumps({"text": f"{number} {'x' * number}"}) for number in range(300)]
    for number, row in enumerate(rows):
        lines.insert(7 * number, json.dumps({"text": f"What is {row}?"}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    corpus, tasks = tmp_path / "a.jsonl", ["listops"]
    whole = decontaminate(corpus, out=tmp_path / "1.jsonl", tasks=tasks, workers=1)
    assert whole.dropped == len(rows)
    monkeypatch.setattr(corpus_files, "BLOCK", 100)
    reports = [tmp_path / f"r{workers}" for workers in (1, 2)]
    for workers, report in enumerate(reports, 1):
        out = tmp_path / f"{workers}b.jsonl"
        parts = decontaminate(corpus, out=out, tasks=tasks, report=report, workers=workers)
        assert out.read_bytes() == (tmp_path / "1.jsonl").read_bytes()
        assert (parts.documents, parts.found) == (whole.documents, whole.found)
    assert reports[0].read_bytes() == reports[1].read_bytes()


def test_wrong_use_is_refused_before_anything_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("no documents")
    (tmp_path / "a.jsonl").write_text(f"{BAD[0]}\n")
    (tmp_path / "b.txt").write_text("no documents")
    (tmp_path / "there").write_text("")
    before = files_in(tmp_path)
    cases = {
        "nothing.jsonl --out c": "Corpus 'nothing.jsonl' is missing.",
        "b.txt --out c": "Corpus 'b.txt': allowed are names in .jsonl or .ndjson, also with .gz",
        "folder --out c": "Corpus 'folder' has no file in .jsonl",
        "folder --out folder/c": "Output 'folder/c' lies in the corpus",
        "a.jsonl --out there": "Output 'there' exists already. Name a path that does not.",
        "a.jsonl --out a.jsonl": "Output 'a.jsonl' exists already",
        "a.jsonl --out c --report there": "Report 'there' exists already",
        "a.jsonl --out c --task lisops": "Unknown task 'lisops'",
        "a.jsonl --out c --task clusters": "Task 'clusters': its rows are not texts",
        "a.jsonl --out c --min-bits -1": "Least bits -1.0: allowed are numbers from 0 to 49152.",
        "a.jsonl --out c --min-bits inf": "Least bits inf: allowed are numbers from 0 to 49152.",
        "a.jsonl --out c --workers 0": "Workers 0: allowed are whole numbers from 1",
        "a.jsonl": "Missing option '--out'",
    }
    for words, text in cases.items():
        assert _run(commands, ["decontaminate", *words.split()]) == 2, words
        assert text in capsys.readouterr().err, words
    assert files_in(tmp_path) == before


def test_bad_data_is_named_and_nothing_is_left(tmp_path):
    for content, text in {
        b'{"text": "a"}\n{"text": }\n': "a.jsonl, line 2 is not JSON: Expecting value.",
        b'\n\n{"text": "\xff"}': "a.jsonl, line 3 is not JSON: is not UTF-8.",
        b"{}\n" + b"[" * 100_000: "a.jsonl, line 2 is not JSON",
    }.items():
        (tmp_path / "a.jsonl").write_bytes(content)
        with pytest.raises(DatasetError) as refused:
            decontaminate(tmp_path / "a.jsonl", out=tmp_path / "b.jsonl", workers=1)
        assert str(refused.value).startswith(text)
        assert {*files_in(tmp_path)} == {"a.jsonl"}
    (tmp_path / "a.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(DatasetError, match="cannot be read"):
        decontaminate(tmp_path / "a.jsonl.gz", out=tmp_path / "b.jsonl", workers=1)


def test_any_json_is_a_document_and_bits_may_be_a_whole_number(tmp_path):
    lines = [f'{{"n": {"1" * 5_000}, "text": "none"}}', f'{{"n": {"1" * 5_000}, "text": "{ROW}"}}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    decontaminate(tmp_path / "a.jsonl", out=tmp_path / "b.jsonl", workers=1, min_bits=12)
    assert (tmp_path / "b.jsonl").read_text() == lines[0] + "\n"


def test_an_output_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n")
    with pytest.raises(SynthbenchError, match=r"b.jsonl' cannot be written: File exists\."):
        decontaminate(tmp_path / "a.jsonl", out=tmp_path / "a.jsonl" / "b.jsonl", workers=1)


def test_the_command_tells_what_it_found(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text("\n".join([*BAD, *GOOD]))
    assert _run(commands, ["decontaminate", "a.jsonl", "--out", "b.jsonl", "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    assert "listops  iid            3" in shown
    assert "3 of 6 documents hold held-out rows; 3 are kept." in shown
    words = "decontaminate a.jsonl --out c.jsonl --workers 1 --task parity --json"
    assert _run(commands, words.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dropped"], told["least_tokens"]) == (0, {"parity": 3})
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
