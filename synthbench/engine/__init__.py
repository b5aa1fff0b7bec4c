"""Engines make blocks and shards: in this process, in worker processes or on a Dask cluster."""
