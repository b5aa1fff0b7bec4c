"""Training and validating the papers' models; needs PyTorch, the extra `train`.

`train` makes one run, `reproduce` all runs of a study, `figures` draws a run. `train` and
`reproduce` load PyTorch only when they are called: the public names of `synthbench` are light to
look up.
"""
