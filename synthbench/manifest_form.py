"""What `manifest.json` must look like before anything in it is used."""

from __future__ import annotations

import re

from synthbench.files import PLAIN_NAME
from synthbench.jsonforms import ANYTHING, PLAIN_OR_LIST, TEXT, WHOLE, ListOf, MapOf, Value


def _matching(expected: str, pattern: str) -> Value:
    found = re.compile(pattern)
    return Value(
        expected, lambda given: isinstance(given, str) and found.fullmatch(given) is not None
    )


_NAME = _matching("a name of letters, digits, '_', '-' and '.'", PLAIN_NAME)
_SHA256 = _matching("64 hexadecimal digits", "[0-9a-f]{64}")
_COUNT = Value("a whole number from 1", lambda given: WHOLE.fits(given) and given > 0)
_SEED = Value("a whole number from 0", lambda given: type(given) is int and given >= 0)
_FILE = _matching(
    "a path such as 'data/VARIANT/SPLIT-00000-of-00001.parquet'",
    rf"data/{PLAIN_NAME}/{PLAIN_NAME}\.parquet",
)
#: What a split's record must look like, and a manifest.
SPLIT_FORM = {
    "rows": _COUNT,
    "buckets": MapOf(TEXT, WHOLE),
    "candidates": WHOLE,
    "digest": _SHA256,
    "shards": ListOf({"file": _FILE, "rows": _COUNT, "bytes": WHOLE, "sha256": _SHA256}),
}
MANIFEST_FORM = {
    "format": _COUNT,
    "synthbench": TEXT,
    "task": _NAME,
    "seed": _SEED,
    "parameters": MapOf(_NAME, PLAIN_OR_LIST),
    "shard_rows": _COUNT,
    "tables": MapOf(TEXT, ANYTHING),
    "variants": MapOf(_NAME, {"splits": MapOf(_NAME, SPLIT_FORM, least=1)}, least=1),
}
