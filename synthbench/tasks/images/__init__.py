"""Source images: where they lie, how they are read and scaled, and the class of tasks made of them.

`python -m synthbench.tasks.images mnist fashion cifar` fetches the sets.
"""
