"""Contrasts that the four papers claim and two cores can reach, and whether our runs show them.

`synthbench reproduce` and the page of results print them.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from synthbench.training.fit import UNFINISHED, state_of


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
forward transformer iid > forward transformer test | The Transformer solves the lengths of training, not nine and ten functions (forward).
backward transformer iid > backward transformer test | The Transformer solves the lengths of training, not nine and ten functions (backward).
forward transformer-gated-position test > forward transformer test | A Transformer with a copy gate and gated positions solves longer forward chains, the plain one does not.
backward transformer-gated-position test > backward transformer test | A Transformer with a copy gate and gated positions solves longer backward chains, the plain one does not.
forward transformer-relative-gate test > forward transformer-relative test | A copy gate makes the Transformer with relative positions solve longer forward chains.
forward ndr test > forward geometric test | Geometric attention needs the copy gate on longer forward chains.
backward ndr test > backward geometric test | Geometric attention needs the copy gate on longer backward chains.

arithmetic, main, NDR table 2
default ndr test > default transformer test | The NDR evaluates deeper expressions than the Transformer.
default ndr test > default lstm test | The NDR evaluates deeper expressions than the LSTM.
default lstm test > default transformer test | The LSTM evaluates deeper expressions than the Transformer.
default transformer iid > default transformer test | The Transformer is better at the depths of training than at deeper expressions.

listops, main, NDR table 3
default ndr test > default transformer test | The NDR evaluates deeper lists than the Transformer.
default ndr test > default lstm test | The NDR evaluates deeper lists than the LSTM.
default lstm iid > default lstm test | The LSTM is better at the depths of training than at deeper lists.

parity, main, Eureka section 5.3
default normsoftmax Eureka-ratio > default softmax Eureka-ratio | NormSoftmax learns parity in more runs of 10,000 epochs than softmax.
default heat Eureka-ratio > default softmax Eureka-ratio | Heat treatment learns parity in more runs of 10,000 epochs than softmax.
default normsoftmax Eureka-epoch < default softmax Eureka-epoch | NormSoftmax learns parity sooner than softmax.

composites, main, Eureka table 4
main resnet accuracy > main vit-normsoftmax accuracy | The ResNet has a higher accuracy than the ViT with NormSoftmax.
main resnet Eureka-epoch < main vit-normsoftmax Eureka-epoch | The ResNet has its Eureka-moment before the ViT with NormSoftmax.
main vit-normsoftmax Eureka-ratio > main vit Eureka-ratio | NormSoftmax has its Eureka-moment in more runs than the plain ViT.

grid-count, main, Counting table I
default counting 6x6 > default counting-standard 6x6 | The standard Transformer does not learn to count.
default counting 20x20 > default counting-norm-attention 20x20 | LayerNorm in attention loses large grids.
default counting 20x20 > default counting-norm-feedforward 20x20 | LayerNorm in the feed-forward part loses large grids.
default counting-norm-attention 6x6 > default counting-norm-attention 20x20 | With LayerNorm in attention, counting works at 6×6, not at 20×20.
default counting-norm-feedforward 6x6 > default counting-norm-feedforward 20x20 | With LayerNorm in the feed-forward part, counting works at 6×6, not at 20×20.
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


#: Deviations between two means, and the chance of as large a difference between two numbers of
#: runs if there were none, from which on a contrast is shown.
_DEVIATIONS, _CHANCE = 2.0, 0.05
#: The difference that counts between two shares, and between two single runs.
_LEAST, _LEAST_SINGLE = 0.02, 0.1

#: Metrics that say when, or in how many runs, a moment came.
_MOMENTS = ("eureka_ratio", "eureka_epoch")

SHOWN, NOT_SHOWN, NOT_RUN = "shown", "not shown", "not run"


@dataclasses.dataclass(frozen=True)
class Finding:
    """What our runs say of a contrast.

    Attributes:
        contrast: the paper's claim.
        state: `shown`, `not shown` or `not run`.
        figures: the two figures, the better one first; empty if one was not measured.
        reason: by how much it is shown, or why it is not.
        profile: the sizes of the runs.
        others: what runs of other profiles say.
    """

    contrast: Contrast
    state: str
    figures: str = ""
    reason: str = ""
    profile: str = ""
    others: tuple[Finding, ...] = ()

    @property
    def evidence(self) -> str:
        """The two figures and what follows from them, as tables show it."""
        own = f"{self.figures} ({self.reason})" if self.figures else self.reason
        others = [f"profile {one.profile}, {one.state}: {one.evidence}" for one in self.others]
        return "; ".join([own, *others])


def judge(comparisons: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What the comparisons of `reproduce` say of every contrast of their tasks and studies.

    A contrast with runs of several profiles is judged by the one that shows it, if possible at the
    paper's sizes, and says what the others have.
    """
    order = (SHOWN, NOT_SHOWN, NOT_RUN)
    found = []
    for contrast in CONTRASTS:
        tried = [
            judge_one(contrast, one)
            for one in comparisons
            if (one["task"], one["study"]) == (contrast.task, contrast.study)
        ]
        if tried:
            best, *others = sorted(
                tried, key=lambda one: (order.index(one.state), one.profile != "paper")
            )
            run = tuple(one for one in others if one.state != NOT_RUN)
            found.append(dataclasses.replace(best, others=run))
    return found


def judge_one(contrast: Contrast, comparison: Mapping[str, Any]) -> Finding:
    """What one comparison says of a contrast.

    Figures of runs are compared in units of their standard deviation, and single runs by their
    difference. Numbers of runs are compared by Fisher's exact test. A model that is not trained to
    the end shows nothing, with one exception. A moment stays where it was if training goes on, so
    it counts if every run of the better model had one; then each run of the other model that is
    not trained to the end counts as one that will have its moment.
    """
    sides = [_line(side, comparison) for side in (contrast.better, contrast.worse)]
    profile = comparison["profile"]
    if None in sides:
        return Finding(contrast, NOT_RUN, profile=profile)
    lines = [side for side in sides if side is not None]
    names = [contrast.better.measure, contrast.worse.measure]
    values = [
        [value for value in line["measures"][name]["values"] if value is not None]
        for line, name in zip(lines, names, strict=True)
    ]
    if not all(values):
        return Finding(contrast, NOT_SHOWN, reason="no run has this figure", profile=profile)
    metrics = {one["name"]: one["metric"] for one in comparison["measures"]}
    metric = metrics[names[0]]
    settled = metric in _MOMENTS and all(run["eureka"] for run in lines[0]["runs"])
    if metric == "eureka_ratio":
        open_runs = sum(
            settled and run["fit"]["state"] == UNFINISHED and not run["eureka"]
            for run in lines[1]["runs"]
        )
        shown, figures, reason = _compare_counts(values[0], values[1], open_runs)
    else:
        sign = -1 if contrast.below else 1
        better, worse = ([sign * value for value in one] for one in values)
        share = metric not in ("mse", "eureka_epoch", "distance")
        shown, reason = _compare_figures(better, worse, _LEAST if share else 0.0)
        figures = " and ".join(f"{statistics.fmean(one):.3g}" for one in values)
    unfinished = dict.fromkeys(
        line["model"] for line in lines if state_of(line["runs"]) == UNFINISHED
    )
    if unfinished and not settled:
        shown, reason = False, f"runs of {' and '.join(unfinished)} are {UNFINISHED}"
    return Finding(contrast, SHOWN if shown else NOT_SHOWN, figures, reason, profile)


def _line(side: Side, comparison: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The line of a comparison that has a figure."""
    for line in comparison["models"]:
        if (line["variant"], line["model"]) == (side.variant, side.model):
            found: Mapping[str, Any] = line
            return found
    return None


def _compare_figures(
    better: Sequence[float], worse: Sequence[float], least: float
) -> tuple[bool, str]:
    """Whether the first figures are higher, and by how much."""
    difference = statistics.fmean(better) - statistics.fmean(worse)
    if min(len(better), len(worse)) == 1:
        return difference >= _LEAST_SINGLE, "a single run"
    spread = math.sqrt((statistics.variance(better) + statistics.variance(worse)) / 2)
    if spread == 0:
        return difference > least, "every run the same"
    deviations = difference / spread
    return (
        deviations >= _DEVIATIONS and difference > least,
        f"{deviations:,.1f} standard deviations",
    )


def _compare_counts(
    better: Sequence[float], worse: Sequence[float], open_runs: int
) -> tuple[bool, str, str]:
    """Whether more of the first runs have a moment; the counts; and how likely that is by chance.

    Fisher's exact test, one-sided. The last argument is the number of the second runs that may
    still have their moment; the test counts them as if they had it.
    """
    first, second, runs, others = int(sum(better)), int(sum(worse)), len(better), len(worse)
    total = first + second + open_runs
    ways = math.comb(runs + others, total)
    chance = sum(
        math.comb(runs, one) * math.comb(others, total - one)
        for one in range(first, min(runs, total) + 1)
    )
    figures = f"{first} of {runs} and {second} of {others} runs"
    reason = f"p = {chance / ways:.2g}"
    if open_runs:
        reason += f" with the {open_runs} of them that are {UNFINISHED} counted as learned"
    return chance / ways < _CHANCE, figures, reason
