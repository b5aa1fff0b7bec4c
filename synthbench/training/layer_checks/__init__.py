"""Questions about a layer that take seconds and need no training: `check_layer`."""
