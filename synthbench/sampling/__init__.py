"""From candidates to rows: plans, buckets, splits and fingerprints."""
