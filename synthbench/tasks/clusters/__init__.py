"""Two Gaussian clusters (DNAS, appendix E)."""
