"""State tracking (Merrill et al., ICML 2024): products of group elements, at each place."""
