"""Where blocks and shards are made: in this process, in worker processes or on a Dask cluster."""
