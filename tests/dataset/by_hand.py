"""A manifest without a row, written by hand."""

SPLIT = {"rows": 1, "buckets": {}, "candidates": 1, "digest": "0" * 64, "shards": []}
MANIFEST = {
    **{"format": 1, "synthbench": "0", "task": "numbers", "seed": 0, "parameters": {}},
    **{"shard_rows": 1, "tables": {}, "variants": {"main": {"splits": {"train": SPLIT}}}},
}
