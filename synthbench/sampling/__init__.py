"""Which candidates become rows: plans, buckets, splits and fingerprints."""
