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
3. `sampling.grow` does this level by level for thousands of trees at once. It drops a tree once its
   final length must exceed `max_length`. Length depends on the tree alone, so the rest keep the
   conditional distribution.

An example to check by hand: arithmetic with `p_op` 0.2, trees of depth 2 with at most two levels.
An operand of the root has one level left: it has depth 0 (a digit) with probability 0.8, depth 1
with 0.2. So the root has depth 2 with operands of depths (1, 0), (0, 1) and (1, 1), with
probabilities 0.16, 0.16 and 0.04, together 0.36. Given depth 2 these are 4/9, 4/9 and 1/9: of nine
trees four look like `((1+2)*3)`, four like `(3*(1+2))`, one like `((1+2)*(3+4))`. Rejection would
throw away 64 of 100 trees. Here all are kept. `tests/tasks/test_trees.py` runs this example, the
documentation's page on exact conditional sampling goes one level deeper.

Which trees are held out for evaluation is decided by a hash that does not depend on the order of
arguments: see `problems`.
"""
