"""Nested expressions, drawn given their depth: what listops and arithmetic share.

The papers define a proposal distribution: the root is an operator, each argument is an operator
with probability `p_op`, otherwise a digit, and operators, digits and numbers of arguments are
uniform. The datasets are balanced over a depth, and deep trees are rare in the proposal, so
rejection sampling wastes nearly all of them. Here every tree is sampled from the proposal
conditioned on its depth, with exactly the distribution that rejection sampling would give.

Every node has a *key*: its value and its depth (in arithmetic the depth alone). The key of an
operator follows from the operator and the keys of its arguments, and the subtrees under the
arguments are independent of each other given their keys. So a tree with a given key at its root
can be drawn from the top: draw an operator and the keys of its arguments given the operator's key,
then do the same for each argument.

    P(tree | key) = P(operator, keys of its arguments | key) * product of P(subtree | its key)

1. `distribution.KeyDistribution` says how keys follow from each other. From the bottom up it gives
   the probability of every key of an operator that may have at most 1, 2, 3 ... levels, itself
   included (`operator_chances`).
2. `sampling.sample_given_keys` draws operators with the keys of their arguments, given their own
   keys.
3. `growing.grow` does this level by level for thousands of trees at once. It drops a tree once its
   final length must exceed `max_length`. Length depends on the tree alone, so the rest keep the
   conditional distribution.

Which trees are held out for evaluation is decided by a hash that does not depend on the order of
arguments: see `problems`. The documentation's page on exact conditional sampling works out an
example, which `tests/tasks/test_trees.py` runs.
"""
