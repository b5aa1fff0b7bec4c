"""Backbones: models that turn tokens into states. A form's head turns states into answers.

A backbone is a module with the attribute `d_model` whose forward pass

    forward(inputs, lengths, record=None, positions=None) -> States

takes tokens int64 `(rows, width)`, padded with 0 behind each row's `lengths`, int64 `(rows,)`, and
gives states `(rows, width, d_model)`. `positions`, int64 `(rows, width)`, are the positions of
tasks that have their own. One file holds one kind, its equation first.

A backbone may have a method `initialise(head)`. It is called once, after the head is made, and
draws what is not left to PyTorch: the backbone's initial parameters, and the head's if it likes.
"""

from synthbench.training.backbones.states import States

__all__ = ["States"]
