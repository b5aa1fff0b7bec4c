"""Source images: a task whose numbers stand for them."""

import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from synthbench import registry
from synthbench.tasks.images.task import ImageTask
from synthbench.verification.verify import verify
from tests.toy_task import Addition
from tests.verification.spoiling import failures, make, write


class Sourced(Addition, ImageTask):
    """Addition whose first numbers are source images; those above 90 are broken."""

    name = "sourced"
    here = False

    def source_images(self, columns):
        firsts = [text.split()[0] for text in columns["text"].to_pylist()]
        return np.array(firsts, np.uint64)

    def has_sources(self):
        return self.here

    def check_sources(self, columns):
        return np.flatnonzero(self.source_images(columns) > 90).tolist()


@pytest.fixture
def sourced(monkeypatch, tmp_path):
    monkeypatch.setitem(registry._registered, "sourced", Sourced)
    return make(tmp_path / "sourced", "sourced", {"train": 40, "iid": 10, "test": 10})


def texts(directory, split):
    file = f"data/default/{split}-00000-of-00001.parquet"
    return file, pq.read_table(directory / file)["text"].to_pylist()


def test_a_source_image_of_two_splits_is_named_with_a_row_of_each(sourced):
    found = failures(sourced)
    (train, train_rows), (iid, iid_rows) = texts(sourced, "train"), texts(sourced, "iid")
    named = [text for text in found if "source image " in text]
    assert named
    for text in named:
        here, row, code, there, other = re.fullmatch(
            r"(\S+) row (\d+): source image (\d+) is used by (\S+) row (\d+), too", text
        ).groups()
        assert (here, there) == (iid, train)
        assert iid_rows[int(row)].split()[0] == train_rows[int(other)].split()[0] == code


def test_wrong_pixels_are_named_only_where_sources_are_at_hand(sourced, monkeypatch, tmp_path):
    verdict = verify(sourced, workers=1, progress=False)
    assert not any("pixels" in failure for failure in verdict.failures)
    assert verdict.checked["source images"] > 0
    assert "The source images are not here" in str(verdict)

    file, _ = texts(sourced, "test")
    expected = f"{file} row 0: the pixels are not what the sources give"
    assert expected in failures(sourced, source_dir=tmp_path)
    monkeypatch.setattr(Sourced, "here", True)
    verdict = verify(sourced, workers=1, progress=False)
    assert expected in verdict.failures
    assert verdict.checked["rows compared with source images"] == 60
    assert "The source images are not here" not in str(verdict)


def test_many_shared_images_are_counted(sourced):
    file, _ = texts(sourced, "test")
    train = pq.read_table(sourced / texts(sourced, "train")[0])
    write(sourced, file, train.slice(0, 20))
    assert any(re.search(r"in all \d+ source images of default/test", t) for t in failures(sourced))


def test_a_source_directory_means_nothing_to_a_task_without_sources(listops, tmp_path):
    verdict = verify(listops, workers=1, source_dir=tmp_path, progress=False)
    assert verdict.ok
    assert verdict.checked["rows compared with source images"] == 0
