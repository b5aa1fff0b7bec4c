"""Sets are fetched whole or not at all."""

import gzip
import hashlib
import io
import pickle
import shutil
import tarfile
import urllib.error

import pytest

from synthbench.errors import SynthbenchError, UsageError
from synthbench.tasks.images import load

pytestmark = pytest.mark.torch  # which torchvision needs


@pytest.fixture
def transport(monkeypatch):
    """A stand-in for the network: what it serves, by the end of the address."""
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    served = {}

    def urlopen(request, *args, **kwargs):
        address = request if isinstance(request, str) else request.full_url
        for end, data in served.items():
            if address.endswith(end):
                response = io.BytesIO(data)
                response.url, response.length = address, len(data)
                response.headers = {"Content-Length": str(len(data))}
                return response
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)

    def serve(kind, folder):
        """Serve a written set as its publisher does, and let torchvision expect its checksums."""
        if kind == "cifar":
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w:gz") as archive:
                archive.add(folder, arcname="cifar-10-batches-py")
            served["cifar-10-python.tar.gz"] = packed.getvalue()
            checksums = {
                file.name: hashlib.md5(file.read_bytes()).hexdigest() for file in folder.iterdir()
            }
            cifar = datasets.CIFAR10
            monkeypatch.setattr(cifar, "tgz_md5", hashlib.md5(packed.getvalue()).hexdigest())
            for name in ("train_list", "test_list"):
                listed = [[file, checksums[file]] for file, _ in getattr(cifar, name)]
                monkeypatch.setattr(cifar, name, listed)
            meta = {**cifar.meta, "md5": checksums["batches.meta"]}
            monkeypatch.setattr(cifar, "meta", meta)
            return
        resources = []
        for name in (
            "train-images-idx3",
            "train-labels-idx1",
            "t10k-images-idx3",
            "t10k-labels-idx1",
        ):
            data = gzip.compress((folder / f"{name}-ubyte").read_bytes())
            served[f"{name}-ubyte.gz"] = data
            resources.append((f"{name}-ubyte.gz", hashlib.md5(data).hexdigest()))
        title = {"mnist": "MNIST", "fashion": "FashionMNIST"}[kind]
        monkeypatch.setattr(getattr(datasets, title), "resources", resources)

    return serve


@pytest.mark.parametrize(
    ("kind", "folder"),
    [("mnist", "MNIST/raw"), ("fashion", "FashionMNIST/raw"), ("cifar", "cifar-10-batches-py")],
)
def test_fetched_sets_are_what_was_served(sources, tmp_path, monkeypatch, transport, kind, folder):
    expected = load.load(kind).describe()
    served = shutil.copytree(sources / folder, tmp_path / "served")
    if kind == "cifar":
        (served / "batches.meta").write_bytes(pickle.dumps({"label_names": list("0123456789")}))
    transport(kind, served)
    root = tmp_path / "deep" / "cache"
    assert load.fetch(kind, root) == root / folder
    monkeypatch.setenv("SYNTHBENCH_DATA", str(root))
    assert load.load(kind).describe() == expected
    assert [path.name for path in root.iterdir()] == [folder.split("/")[0]]


def test_a_failed_download_leaves_nothing_behind(tmp_path, transport):
    with pytest.raises(SynthbenchError, match=f"MNIST could not be fetched to {tmp_path}: "):
        load.fetch("mnist", tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_download_with_another_checksum_leaves_nothing_behind(sources, tmp_path, transport):
    transport("mnist", sources / "MNIST/raw")
    transport("fashion", sources / "FashionMNIST/raw")  # under the same names: MNIST's are wrong
    with pytest.raises(SynthbenchError, match="MNIST could not be fetched"):
        load.fetch("mnist", tmp_path)
    assert not any(tmp_path.iterdir())


def test_what_is_there_is_not_fetched_again(sources):
    assert load.fetch("mnist", sources) == sources / "MNIST/raw"
    with pytest.raises(UsageError, match=r"Unknown source 'minst'.*Did you mean 'mnist'"):
        load.fetch("minst", sources)


def test_the_command_fetches_and_says_where(sources, tmp_path, transport, capsys):
    transport("mnist", sources / "MNIST/raw")
    assert load.main(["mnist", "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'MNIST/raw'}\n"
    assert load.main(["fashion", "--to", str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("Error: FashionMNIST could not")
    with pytest.raises(SystemExit) as stopped:
        load.main(["imagenet"])
    assert stopped.value.code == 2
