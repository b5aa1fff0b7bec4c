"""Every contrast between models that the four papers claim and that two cores can reach.

`synthbench validate` and the page of results say of each whether our runs show it.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the two figures of a contrast: a measure of a model, trained on a variant."""

    variant: str
    model: str
    measure: str


@dataclasses.dataclass(frozen=True)
class Contrast:
    """A claim that one figure is above, or below, another.

    Attributes:
        task: name of the task.
        study: the study that has both models.
        claim: what the paper says, as a sentence.
        better: the figure that is claimed to be better.
        worse: the other figure.
        below: whether the better figure is the lower one.
        source: paper and table.
    """

    task: str
    study: str
    claim: str
    better: Side
    worse: Side
    below: bool
    source: str


#: A head gives task, study and source. A line has two figures, each as variant, model and measure,
#: with `>` or `<` between them, and the claim.
_TABLE = """
ctl, main, NDR table 1
forward ndr test > forward transformer test | The NDR solves longer forward chains, the Transformer does not.
backward ndr test > backward transformer test | The NDR solves longer backward chains, the Transformer does not.
backward ndr test > backward lstm test | The NDR solves longer backward chains, the LSTM does not.
forward bilstm test > forward transformer test | The bidirectional LSTM solves longer forward chains, the Transformer does not.
backward bilstm test > backward transformer test | The bidirectional LSTM solves longer backward chains, the Transformer does not.
backward bilstm test > backward lstm test | Backward, an LSTM needs both directions.
forward lstm test > forward transformer test | The LSTM solves longer forward chains, the Transformer does not.
forward lstm test > backward lstm test | The LSTM solves longer chains forward, not backward.
forward transformer iid > forward transformer test | The Transformer solves the lengths of training, and no others (forward).
backward transformer iid > backward transformer test | The Transformer solves the lengths of training, and no others (backward).
forward transformer-gated-position test > forward transformer test | A copy gate makes the Transformer solve longer forward chains.
backward transformer-gated-position test > backward transformer test | A copy gate makes the Transformer solve longer backward chains.
forward transformer-relative-gate test > forward transformer-relative test | A copy gate makes the Transformer with relative positions solve longer forward chains.
forward ndr test > forward geometric test | Geometric attention needs the copy gate on longer forward chains.
backward ndr test > backward geometric test | Geometric attention needs the copy gate on longer backward chains.

arithmetic, main, NDR table 2
default ndr test > default transformer test | The NDR evaluates deeper expressions than the Transformer.
default ndr test > default lstm test | The NDR evaluates deeper expressions than the LSTM.
default lstm test > default transformer test | The LSTM evaluates deeper expressions than the Transformer.
default transformer iid > default transformer test | The Transformer evaluates the depths of training, and no others.

listops, main, NDR table 3
default ndr test > default transformer test | The NDR evaluates deeper lists than the Transformer.
default ndr test > default lstm test | The NDR evaluates deeper lists than the LSTM.
default lstm iid > default lstm test | The LSTM evaluates the depths of training, and no others.

parity, main, Eureka section 5.3
default normsoftmax Eureka-ratio > default softmax Eureka-ratio | NormSoftmax learns parity in more runs than softmax.
default heat Eureka-ratio > default softmax Eureka-ratio | Heat treatment learns parity in more runs than softmax.
default normsoftmax Eureka-epoch < default softmax Eureka-epoch | NormSoftmax learns parity sooner than softmax.

composites, main, Eureka table 4
main resnet accuracy > main vit-normsoftmax accuracy | The ResNet has a higher accuracy than the ViT with NormSoftmax.
main resnet Eureka-epoch < main vit-normsoftmax Eureka-epoch | The ResNet has its Eureka-moment before the ViT with NormSoftmax.
main vit-normsoftmax Eureka-ratio > main vit Eureka-ratio | NormSoftmax has its Eureka-moment in more runs than the plain ViT.

grid-count, main, Counting table I
default counting 6x6 > default counting-standard 6x6 | The standard Transformer does not learn to count.
default counting 20x20 > default counting-norm-attention 20x20 | LayerNorm in attention loses large grids.
default counting 20x20 > default counting-norm-feedforward 20x20 | LayerNorm in the feed-forward part loses large grids.
default counting-norm-attention 6x6 > default counting-norm-attention 20x20 | With LayerNorm in attention, counting works for the sizes of training alone.
default counting-norm-feedforward 6x6 > default counting-norm-feedforward 20x20 | With LayerNorm in the feed-forward part, counting works for the sizes of training alone.
default counting-norm-attention 10x10 > default counting-norm-feedforward 10x10 | LayerNorm in the feed-forward part hurts sooner than in attention.

identity, main, Counting table II
default identity iid < default identity-norm iid | With LayerNorm a model cannot repeat numbers it was trained on.
default identity test < default identity-norm test | With LayerNorm a model cannot repeat larger numbers.

clusters, main, DNAS figures 8 and 9
unbalanced clusters-dnas separated > unbalanced clusters-softmax separated | Doubly-normalised attention keeps unbalanced clusters apart, softmax does not.
balanced clusters-softmax separated > unbalanced clusters-softmax separated | Softmax keeps balanced clusters apart, unbalanced ones not.
"""  # noqa: E501


def _read(table: str) -> tuple[Contrast, ...]:
    found = []
    for part in table.strip().split("\n\n"):
        head, *lines = part.splitlines()
        task, study, source = head.split(", ")
        for line in lines:
            figures, claim = line.split(" | ")
            sign = "<" if "<" in figures else ">"
            better, worse = (Side(*side.split()) for side in figures.split(sign))
            found.append(Contrast(task, study, claim, better, worse, sign == "<", source))
    return tuple(found)


CONTRASTS = _read(_TABLE)
