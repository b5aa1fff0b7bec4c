"""Source images: where they are, how they are read and scaled, and the class of their tasks.

`python -m synthbench.tasks.images mnist fashion cifar` fetches the sets.
"""
