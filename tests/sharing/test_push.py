"""Pushing to a Hub on this machine: what goes up, what is shown before, and no token anywhere."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import huggingface_hub.constants
import pytest

import synthbench
from synthbench.cli.main import _run, commands
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.sharing.push import push
from tests.sharing.fake_hub import serve
from tests.support import run_program

Tiny = Callable[[str], Path]


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A Hub that the client in this process takes for the real one."""
    with serve() as hub:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
        monkeypatch.setenv("HF_TOKEN", hub.token)
        yield hub


def local(directory):
    found = (file for file in directory.rglob("*") if file.is_file())
    return {file.relative_to(directory).as_posix(): file.read_bytes() for file in found}


@pytest.mark.parametrize("name", ["ctl", "composites"])
def test_the_files_of_a_dataset_go_up_as_they_are(name, tiny, hub):
    pushed = push(tiny(name), f"me/{name}")
    there = hub.repositories[f"me/{name}"]["main"]
    assert there.pop(".gitattributes") == b""
    assert there == local(tiny(name))
    assert pushed.files == {file: len(data) for file, data in there.items()}
    assert pushed.done
    assert pushed.url == f"{hub.url}/datasets/me/{name}"
    assert hub.private == set()


def test_only_what_belongs_to_the_dataset_goes_up_and_older_rows_go(tiny, hub, tmp_path):
    directory = tmp_path / "parity"
    shutil.copytree(tiny("parity"), directory)
    belongs = local(directory)
    for stray in (".env", "notes.txt", "data/default/train-00009-of-00010.parquet", "sheets/a.png"):
        (directory / stray).parent.mkdir(exist_ok=True)
        (directory / stray).write_text("mine alone")
    hub.repositories["me/parity"] = {
        "main": {
            ".gitattributes": b"",
            "data/default/train-00000-of-00001.parquet": b"older rows",
            "sheets/main.png": b"an older sheet",
            "eval.yaml": b"somebody's",
        }
    }
    push(directory, "me/parity")
    there = hub.repositories["me/parity"]["main"]
    assert there == {".gitattributes": b"", "eval.yaml": b"somebody's", **belongs}


def test_a_branch_and_a_private_repository_are_made_where_they_are_asked_for(tiny, hub):
    pushed = push(tiny("parity"), "parity", private=True, revision="v1.0")
    assert pushed.repo_id == "me/parity"  # the token's own user
    assert hub.private == {"me/parity"}
    branches = hub.repositories["me/parity"]
    assert list(branches["main"]) == [".gitattributes"]
    assert "manifest.json" in branches["v1.0"]
    push(tiny("parity"), "me/parity", revision="v1.0")  # again, into what is there


def test_a_dry_run_shows_everything_and_needs_neither_network_nor_token(
    tiny, hub, monkeypatch, capsys
):
    monkeypatch.delenv("HF_TOKEN")
    words = ["push", str(tiny("ctl")), "me/ctl", "--private", "--dry-run"]
    assert _run(commands, words) == 0
    shown = capsys.readouterr().out
    for file, data in local(tiny("ctl")).items():
        (line,) = (line for line in shown.splitlines() if line.startswith(f"{file} "))
        assert line.endswith(f" {len(data):,}")
    size = sum(map(len, local(tiny("ctl")).values()))
    assert f"{len(local(tiny('ctl')))} files, {size:,} bytes\n" in shown
    assert (
        "Card: Compositional table lookup, licence apache-2.0; text-classification; "
        "forward (160 rows), backward (160 rows) "
    ) in " ".join(shown.split())
    assert (
        f"Would be pushed to {hub.url}/datasets/me/ctl,\nprivate if it is new. Branch main" in shown
    )
    assert hub.requests == []
    assert hub.repositories == {}


def test_the_command_pushes_in_a_process_of_its_own(tiny, hub, tmp_path):
    done = run_program(
        "push", str(tiny("parity")), "me/parity", cwd=tmp_path,
        HF_ENDPOINT=hub.url, HF_TOKEN=hub.token, HF_HUB_OFFLINE="0", HF_HOME=str(tmp_path),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Pushed to {hub.url}/datasets/me/parity" in done.stdout
    assert set(local(tiny("parity"))) < set(hub.repositories["me/parity"]["main"])


# No token.


@pytest.mark.parametrize("debug", ["0", "1"])
def test_no_token_is_shown_whatever_the_hub_says(debug, tiny, hub, tmp_path):
    token = "hf_" + "Planted" * 5
    hub.token = "hf_another"  # so it is refused, and sent back in the answer
    done = run_program(
        "push", str(tiny("parity")), "me/parity", cwd=tmp_path,
        HF_ENDPOINT=hub.url, HF_TOKEN=token, HF_HUB_OFFLINE="0", HF_HOME=str(tmp_path),
        HF_DEBUG=debug, HF_HUB_VERBOSITY="debug" if debug == "1" else "warning",
        SYNTHBENCH_DEBUG=debug,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Error: Pushing to" in done.stderr
    assert "Invalid credentials: Bearer ***" in done.stderr
    assert "run `hf auth login`, or set HF_TOKEN" in done.stderr
    assert ("Traceback" in done.stderr) == (debug == "1")
    assert token not in done.stdout + done.stderr
    assert "Planted" not in done.stdout + done.stderr


def test_the_error_keeps_no_token_in_its_causes_either(tiny, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "not-of-the-usual-form")
    with pytest.raises(SynthbenchError) as caught:
        push(tiny("parity"), "me/parity")
    assert "not-of-the-usual-form" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


# Errors.


def test_without_a_token_nothing_is_sent(tiny, hub, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(SynthbenchError, match="There is no token for the Hugging Face Hub"):
        push(tiny("parity"), "me/parity")
    assert hub.requests == []


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (401, "The Hub does not know the token"),
        (403, "The token may not write there"),
        (404, "There is no such repository"),
        (400, "Pushing to .*: no such luck"),
        (500, "Pushing to "),
    ],
)
def test_a_refusal_is_explained_in_a_line_or_two(status, text, tiny, hub):
    hub.refusal = status, json.dumps({"error": "no such luck\nat all"})
    with pytest.raises(SynthbenchError, match=text) as caught:
        push(tiny("parity"), "me/parity")
    assert len(str(caught.value).splitlines()) <= 2
    assert caught.value.exit_status == 1


def test_a_network_that_is_down_is_said_to_be(tiny, hub, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SynthbenchError, match=r"127.0.0.1:9/datasets/me/parity failed: .*refused"):
        push(tiny("parity"), "me/parity")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(SynthbenchError, match="offline mode is enabled"):
        push(tiny("parity"), "me/parity")


@pytest.mark.parametrize(
    "repo_id", ["", "a b", "me/ctl/x", "me/.ctl", "https://hub/me/ctl", "a..b"]
)
def test_what_is_no_name_of_a_repository_is_refused(repo_id, tiny):
    with pytest.raises(UsageError, match=r"^Repository '"):
        push(tiny("parity"), repo_id, dry_run=True)


@pytest.mark.parametrize("revision", ["", "-x", "a b", "../x"])
def test_what_is_no_name_of_a_branch_is_refused(revision, tiny):
    with pytest.raises(UsageError, match="expected the name of a branch"):
        push(tiny("parity"), "me/parity", revision=revision, dry_run=True)


def test_nothing_goes_up_of_a_dataset_that_is_not_whole(tiny, hub, tmp_path):
    directory = tmp_path / "parity"

    def fresh():
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(tiny("parity"), directory)

    def refused(text):
        for dry_run in (True, False):
            with pytest.raises(DatasetError, match=text):
                push(directory, "me/parity", dry_run=dry_run)

    with pytest.raises(DatasetError, match="No dataset at"):
        push(tmp_path, "me/parity")
    fresh()
    shard = directory / "data/default/test-00000-of-00002.parquet"
    shard.write_bytes(shard.read_bytes() + b"x")
    refused("missing or has another size")
    fresh()
    (directory / "README.md").unlink()
    refused("README.md: is missing.\n`synthbench verify` lists everything.")
    fresh()
    (directory / "README.md").write_text("Just text.")
    refused("README.md: cannot be read: it does not begin with values")
    fresh()
    synthbench.generate(
        synthbench.task("parity", seed=1),
        out=tmp_path / "other",
        rows={"train": 40, "test": 40},
        progress=False,
        workers=1,
    )
    shutil.copy(tmp_path / "other/README.md", directory / "README.md")
    refused("README.md: configs does not match the manifest")
    assert hub.requests == []


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_a_link_that_leads_out_of_the_directory_is_not_followed(tiny, hub, tmp_path):
    directory = tmp_path / "parity"
    shutil.copytree(tiny("parity"), directory)
    shard = directory / "data/default/test-00000-of-00002.parquet"
    shard.rename(tmp_path / "secret")
    shard.symlink_to(tmp_path / "secret")
    with pytest.raises(DatasetError):
        push(directory, "me/parity")
    assert hub.requests == []
