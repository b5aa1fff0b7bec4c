"""Checksums and digests of a dataset, taken again: the part of `verify` that reads every byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from synthbench.digest import RowDigest, file_sha256
from synthbench.errors import DatasetError
from synthbench.features import Features
from synthbench.parquet import read_batches


def hash_split(
    directory: Path, files: Sequence[str], features: Features | None
) -> tuple[list[str | None], str | None]:
    """The SHA-256 of every shard of a split, and the digest of its rows.

    Args:
        directory: the dataset directory.
        files: the shards, in order.
        features: the columns; None if some shard cannot be read or has others.

    Returns:
        None for what cannot be read.
    """
    checksums: list[str | None] = []
    for file in files:
        try:
            checksums.append(file_sha256(directory / file))
        except OSError:
            checksums.append(None)
    if features is None:
        return checksums, None
    digest = RowDigest(features)
    try:
        for file in files:
            for batch in read_batches(directory / file):
                digest.update(batch)
    except (DatasetError, pa.ArrowException, ValueError, TypeError, IndexError):
        return checksums, None
    return checksums, digest.hexdigest()
