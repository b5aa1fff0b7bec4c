"""Upload a dataset to the Hugging Face Hub."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

from synthbench.arguments import checked
from synthbench.checks import needs
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import regular_file
from synthbench.dataset.manifest import MANIFEST
from synthbench.dataset.staging import check_whole
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.text.progress import on_terminal
from synthbench.text.tables import Table, render, stack, styled
from synthbench.verification.card import CARD, check_card, read_card
from synthbench.verification.files import make_tasks

if TYPE_CHECKING:
    from rich.console import Group

_KIND = "dataset"
#: Files of an older dataset, deleted because readers would mix them with the new files.
_REPLACED = ["data/*", "sheets/*"]


@dataclasses.dataclass(frozen=True)
class Push:
    """An upload: its files and its destination.

    Attributes:
        repo_id: the repository on the Hub.
        url: its address.
        private: whether a new repository is private.
        revision: the branch; None for the main branch.
        files: bytes of each file, by its path.
        card: the front matter of the card.
        done: whether it was uploaded; False after a dry run.
    """

    repo_id: str
    url: str
    private: bool
    revision: str | None
    files: dict[str, int]
    card: dict[str, Any]
    done: bool = False

    def __str__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The files, the card in short, and where they go."""
        rows = [(file, f"{size:,}") for file, size in self.files.items()]
        configs = [
            f"{info['config_name']} "
            f"({sum(split['num_examples'] for split in info['splits']):,} rows)"
            for info in self.card["dataset_info"]
        ]
        kind = "private" if self.private else "public"
        card = (
            f"Card: {self.card['pretty_name']}, licence {_listed(self.card['license'])}; "
            f"{_listed(self.card['task_categories'])}; {', '.join(configs)}"
        )
        verdict, color = ("Pushed", "green") if self.done else ("Would be pushed", "")
        return stack(
            Table(("file", "bytes"), rows, right=(1,)),
            f"{len(self.files)} files, {sum(self.files.values()):,} bytes",
            styled(card),
            styled(f"{verdict} to {self.url},", color, whole=True),
            f"{kind} if it is new. Branch {self.revision or 'main'}",
        )


def _listed(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


@checked
def push(
    dataset: str | PathLike[str],
    repo_id: str,
    *,
    private: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    progress: bool = True,
) -> Push:
    """Upload a dataset to the Hugging Face Hub, replacing an older version there.

    Only the dataset's own files are uploaded: shards, manifest, card and contact sheets. The token
    comes from `hf auth login` or `HF_TOKEN`.

    Args:
        dataset: the dataset directory.
        repo_id: `USER/NAME`, or `NAME` for the token's own user. Created if it does not exist.
        private: whether a new repository is private.
        revision: the branch, created if it does not exist. Default: the main branch.
        dry_run: upload nothing. Needs neither network nor token.
        progress: show bars on standard error, if that is a terminal.

    Returns:
        The upload. After a dry run, the planned upload.

    Raises:
        UsageError: an invalid name of a repository or branch, or missing source images.
        DatasetError: the directory holds no complete dataset, or its card is of another dataset.
        SynthbenchError: the token is missing, or the Hub cannot be reached or refuses.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> planned = synthbench.push("parity", "someone/parity", dry_run=True)
        >>> sorted(planned.files)[:2], planned.done
        (['README.md', 'data/default/test-00000-of-00001.parquet'], False)
    """
    with needs("Pushing", "huggingface_hub", "hub"):
        from huggingface_hub import HfApi
        from huggingface_hub.utils import HFValidationError, validate_repo_id
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise UsageError(f"Repository {repo_id!r}: {error}") from None
    if revision is not None and not re.fullmatch(r"\w[\w./-]*", revision):
        raise UsageError(f"Revision {revision!r}: expected the name of a branch.")
    opened = DatasetDirectory.open(dataset)
    check_whole(opened)
    url = f"{HfApi().endpoint}/datasets/{repo_id}"
    card = _read_card(opened)
    planned = Push(repo_id, url, private, revision, _files(opened), card)
    if dry_run:
        return planned
    try:
        with _bars(progress):
            return _upload(opened, planned)
    except SynthbenchError:
        raise
    except Exception as error:  # the class depends on the client's version
        failure = _explain(error, url)
    # Raised here, without cause or context, because the client's messages may hold the token.
    raise failure


def _read_card(dataset: DatasetDirectory) -> dict[str, Any]:
    """The card's front matter, if manifest and card agree with each other."""
    findings: list[str] = []
    tasks = make_tasks(dataset, findings)
    if wrong := findings or list(check_card(dataset, tasks)):
        raise DatasetError(f"{dataset.path / wrong[0]}\n`synthbench verify` lists everything.")
    _, front = read_card(dataset.path)
    return front


def _files(dataset: DatasetDirectory) -> dict[str, int]:
    """The files of a dataset, with their sizes."""
    names = [CARD, MANIFEST]
    for variant, splits in dataset.manifest.variants.items():
        names += [shard.file for record in splits.values() for shard in record.shards]
        names += [sheet for sheet in [f"sheets/{variant}.png"] if (dataset.path / sheet).exists()]
    return {name: regular_file(dataset.path, name).stat().st_size for name in names}


def _upload(dataset: DatasetDirectory, planned: Push) -> Push:
    from huggingface_hub import HfApi, get_token

    if get_token() is None:
        raise SynthbenchError(
            "There is no token for the Hugging Face Hub: run `hf auth login`, or set HF_TOKEN."
        )
    api = HfApi(library_name="synthbench")
    repo = api.create_repo(planned.repo_id, repo_type=_KIND, private=planned.private, exist_ok=True)
    branch = planned.revision
    if branch is not None and not branch.startswith("refs/"):
        api.create_branch(repo.repo_id, branch=branch, repo_type=_KIND, exist_ok=True)
    api.upload_folder(
        repo_id=repo.repo_id,
        repo_type=_KIND,
        folder_path=dataset.path,
        revision=branch,
        allow_patterns=list(planned.files),
        delete_patterns=_REPLACED,
        commit_message=f"{planned.card['pretty_name']}, made by synthbench",
    )
    return dataclasses.replace(planned, repo_id=repo.repo_id, url=repo.url, done=True)


_REMEDIES = {
    401: "The Hub does not know the token: run `hf auth login`, or set HF_TOKEN.",
    403: "The token may not write there: create a token that may write.",
    404: "There is no such repository, or the token may not see it.",
}


def _explain(error: Exception, url: str) -> SynthbenchError:
    """An error of the Hub's client in a line or two, without the token."""
    from huggingface_hub import get_token

    status = getattr(getattr(error, "response", None), "status_code", None)
    said = getattr(error, "server_message", None) or str(error)
    line = next(iter(said.strip().splitlines()), type(error).__name__)
    if token := get_token():
        line = line.replace(token, "***")
    line = re.sub(r"\bhf_\w+", "***", line)
    text = f"Pushing to {url} failed: {line}"
    return SynthbenchError(f"{text}\n{_REMEDIES[status]}" if status in _REMEDIES else text)


@contextlib.contextmanager
def _bars(progress: bool) -> Iterator[None]:
    """Hide the client's bars unless they are wanted and there is a terminal."""
    from huggingface_hub import utils

    if (progress and on_terminal()) or utils.are_progress_bars_disabled():
        yield
        return
    utils.disable_progress_bars()
    try:
        yield
    finally:
        utils.enable_progress_bars()
