"""Nested expressions, drawn given their depth: what listops and arithmetic share.

**The problem.** The papers define a proposal distribution. The root is an operator. Each argument
is an operator with probability `p_op`, otherwise a digit. Operators, digits and numbers of
arguments are uniform. The datasets are balanced over a depth, and deep trees are rare in the
proposal, so rejection sampling wastes nearly all of them: of 1,000 listops trees with at most 8
levels, 4 have dependency depth 8, and 96% of those exceed 50 tokens. Here every tree is sampled
from the proposal conditioned on its depth, exactly as rejection sampling would give it.

**The idea.** Every node has a *key*: its value and its depth (in arithmetic the depth alone). The
key of an operator follows from the operator and the keys of its arguments, and the subtrees under
the arguments are independent of each other given their keys. So a tree with a given key at its
root can be drawn from the top: draw an operator and the keys of its arguments given the operator's
key, then do the same for each argument.

    P(tree | key) = P(operator, keys of its arguments | key) * product of P(subtree | its key)

1. `distribution.KeyDistribution` says how keys follow from each other. From the bottom up it gives
   the probability of every key of an operator that may have at most 1, 2, 3 ... levels, itself
   included (`operator_chances`).
2. `sampling.sample_given_keys` draws operators with the keys of their arguments, given their own
   keys. Where there are few combinations, all are listed and one is chosen. Where there are many,
   arguments are drawn given only that one of them is deep enough; then each drawn operator is
   assigned to a node with the same key.
3. `growing.grow` does this level by level for thousands of trees at once. It drops a tree once its
   final length must exceed `max_length`. Length depends on the tree alone, so the rest keep the
   conditional distribution.

Which trees are held out for evaluation is decided by a hash that does not depend on the order of
arguments: see `problems`.

**A worked example.** Arithmetic with `p_op` 0.2: an operation has two operands, each of them an
operation with probability 0.2, and keys are depths. What does a tree of depth 2 look like, with at
most 2 levels?

An operand has one level left. It is a digit (depth 0) with probability 0.8 and an operation over
two digits (depth 1) with probability 0.2. The depth of the root is 1 + the larger operand depth:

    depths of the operands    probability         depth of the root
    0 and 0                   0.8 * 0.8 = 0.64    1
    1 and 0                   0.2 * 0.8 = 0.16    2
    0 and 1                   0.8 * 0.2 = 0.16    2
    1 and 1                   0.2 * 0.2 = 0.04    2

Depth 2 has probability 0.16 + 0.16 + 0.04 = 0.36, so rejection would throw away 64 of 100 trees.
Instead the depths of the operands are drawn from the three lines that are left, with probabilities
0.16 / 0.36 = 4/9, 4/9 and 1/9: of nine trees four look like `((1+2)*3)`, four like `(3*(1+2))` and
one like `((1+2)*(3+4))`. Below an operand of depth 1 there are only digits, and the tree is done.

If there are too many lines to list, the *first* operand of depth 1 is chosen instead: the left one
with probability 0.2 / 0.36 = 5/9, the right one with 0.8 * 0.2 / 0.36 = 4/9. Earlier operands have
a smaller depth; later ones are unrestricted. If the left operand is first, the right one has depth
1 with probability 0.2, so both have depth 1 in 5/9 * 0.2 = 1/9 of the trees, as above.

With one level more the same step is repeated. An operand with two levels left is a digit with
probability 0.8, has depth 1 with probability 0.2 * 0.64 = 0.128 and depth 2 with probability
0.2 * 0.36 = 0.072. A root has depth 3 if at least one of its operands has depth 2: with probability
1 - (1 - 0.072)^2 = 0.138816.

`tests/tasks/test_trees.py` runs this example.
"""
