"""Composites: four small pictures, two of which say which of the other two to classify.

    main              red 1   | Bag            the digits are the same: the label is what is
                      Dress   | blue 1         at top-right, Bag

    color-or-fashion  green 2 | pink Coat      the digits differ: the label is the colour at
                      red Bag | gray 1         top-right, pink

A row is an image of 56x56 pixels in four quadrants. The answer takes two steps: compare the
indicators (here the digits), then classify the target (here the clothing) that they point to.
Labels supervise only the second step. `rules` has the seven variants side by side.

Source: Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), section 4, A.8 and A.9.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block, Breakdown, Split
from synthbench.tasks.column import Column
from synthbench.tasks.composites import quadrants
from synthbench.tasks.composites.parameters import CompositesParameters
from synthbench.tasks.composites.parts import (
    FIRST_TARGET,
    FIXED_QUADRANTS,
    SECOND_TARGET,
    Parts,
    draw_rgb,
)
from synthbench.tasks.composites.rules import (
    DESIGNS,
    QUADRANTS,
    RED_OR_BLUE,
    TEN_COLORS,
    Design,
    decide,
)
from synthbench.tasks.features import class_answer, class_label, image, value
from synthbench.tasks.images import load, png
from synthbench.tasks.images.task import ORIGINS, OWN_PICTURES, ImageTask, Origin


class Composites(ImageTask):
    """Four pictures in an image, and a question in two steps."""

    name = "composites"
    title = "Two-step image composites"
    summary = "Two of four pictures say which of the other two to classify: what does it show?"
    source = "Eureka (Hoffmann et al., ICML 2024), section 4, A.8 and A.9"
    variants: ClassVar[Mapping[str, str]] = {name: part.rule for name, part in DESIGNS.items()}
    parameters_type = CompositesParameters
    bucket_name = "outcome and label"
    inputs = ("quadrants",)
    group_by = (Breakdown("outcome"), Breakdown("selected"), Breakdown("label"))
    scored_columns = ("label",)
    block_rows = 512
    round_rows = 10_240
    shard_rows = 8_192
    group_rows = 1_000

    @property
    def design(self) -> Design:
        """The rule of the variant."""
        return DESIGNS[self.variant]

    def check_parameters(self) -> None:
        self.parameters.check_fit(self.variant, self.design)

    # The reference solver.

    def solve(self, question: Sequence[Mapping[str, Any]]) -> int | str:
        """The name of the label, from the row's four quadrants."""
        answer = decide(self.variant, self.parts.kinds[1:], question).answer
        return class_answer(self.label_names, answer)

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        outcome, selected, answer = decide(self.variant, self.parts.kinds[1:], row["quadrants"])
        return {"label": answer, "outcome": outcome, "selected": selected}

    # Columns, splits and buckets.

    @functools.cached_property
    def parts(self) -> Parts:
        """The two indicators, the first and the second target, with their sources."""
        specs = self.parameters.part_sources(self.design)
        return Parts(self.design, specs, self.source_dirs)

    @functools.cached_property
    def answers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the answers in the rule's first and second case."""
        targets = self.parts.specs[FIRST_TARGET:]
        first, second = (load.class_names(spec, self.source_dirs) for spec in targets)
        return first, TEN_COLORS if self.design.color_answers else second

    @functools.cached_property
    def label_names(self) -> tuple[str, ...]:
        """The labels. Answers of both cases share the same numbers, so ten classes are enough."""
        pairs = itertools.zip_longest(*self.answers)
        return tuple(" or ".join(dict.fromkeys(filter(None, pair))) for pair in pairs)

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "image": image(),
            "label": class_label(self.label_names),
            "outcome": value("bool"),
            "selected": value("int8"),
            "quadrants": quadrants.COLUMN,
        }

    @property
    def instruction(self) -> str:
        """The rule, and the answers from which to choose."""
        names = dict.fromkeys(itertools.chain(*self.answers))
        return f"{self.design.instruction} The answer is one of: {', '.join(names)}."

    @property
    def splits(self) -> tuple[Split, ...]:
        buckets = tuple(self._bucket_weights)
        return (
            Split("train", 60_000, buckets, evaluation=False),
            Split("validation", 5_000, buckets),
            Split("test", 10_000, buckets),
        )

    def bucket_weights(self, split: Split) -> tuple[float, ...]:
        return tuple(self._bucket_weights[bucket] for bucket in split.buckets)

    @functools.cached_property
    def _bucket_weights(self) -> dict[int, float]:
        """The share of each bucket: its label, plus the number of labels in the second case.

        The cases alternate, because the first buckets get the rows that are left over when rows do
        not divide evenly.
        """
        labels, p_first = len(self.label_names), self.parameters.p_first
        first, second = map(len, self.answers)
        weights = {}
        for label in range(labels):
            if label < first:
                weights[label] = p_first / first
            if label < second:
                weights[labels + label] = (1.0 - p_first) / second
        return weights

    def _case(self, bucket: int) -> tuple[bool, int]:
        """The outcome and the label of a bucket's rows."""
        second_case, label = divmod(bucket, len(self.label_names))
        return not second_case, label

    @property
    def stream(self) -> dict[str, object]:
        """The coordinates of the random streams, without the parameters.

        So `p_first` changes only how many rows have each outcome, `noise` changes only the colours,
        and the path of a class-folder tree changes nothing.
        """
        return {**super().stream, "parameters": {}}

    @property
    def tables(self) -> dict[str, Any]:
        """The sources: how many images, class names, a checksum over the decoded pixels."""
        loaded = {spec: load.load(spec, self.source_dirs) for spec in self.parts.sources}
        return {"sources": {spec: source.describe() for spec, source in loaded.items()}}

    # Making rows.

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        outcome, label = self._case(bucket)
        # Each indicator belongs to one of two groups. The outcome is whether both are in the same.
        group = draws.integers(2, (n, 2))
        group[:, 1] = group[:, 0] if outcome else 1 - group[:, 0]
        quadrants = self.parts.quadrants(draws, group)
        classes = self.parts.classes(draws, group)
        colors = self.parts.colors(draws, group)
        decisive = FIRST_TARGET if outcome or self.design.color_answers else SECOND_TARGET
        answers = classes if outcome or not self.design.color_answers else colors
        answers[:, decisive] = label
        numbers = self.parts.numbers(draws, classes, split.name)
        columns = self.parts.in_quadrants(quadrants, classes, colors, numbers)
        return Block(
            {
                **columns,
                "rgb": draw_rgb(draws, columns["color"], self.parameters.noise),
                "label": np.full(n, label, np.int16),
                "outcome": np.full(n, outcome),
                "selected": quadrants[:, decisive].astype(np.int8),
            }
        )

    def content(self, block: Block) -> NDArray[np.uint8]:
        return np.column_stack([quadrants.to_bytes(block), np.ones(len(block), np.uint8)])

    def pixels(self, block: Block) -> NDArray[np.uint8]:
        """The images of a block's rows, uint8 `(rows, 56, 56, 3)`. See `quadrants.to_pixels`."""
        sources = [load.load(spec, self.source_dirs) for spec in self.parts.sources]
        return quadrants.to_pixels(block, sources, self.parts.sources_of(block["kind"]))

    def render(self, block: Block) -> dict[str, Any]:
        encoded = png.encode(self.pixels(block))
        paths = pa.nulls(len(block), pa.string())
        return {
            "image": pa.StructArray.from_arrays([encoded, paths], names=["bytes", "path"]),
            "label": block["label"],
            "outcome": block["outcome"],
            "selected": block["selected"],
            "quadrants": quadrants.to_arrow(block),
        }

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """The columns in NumPy.

        Returns:
            `image` uint8 `(n, 56, 56, 3)`, `label` int64, `outcome` bool and `selected` int8
            `(n,)`, and `quadrants`, a structured array `(n, 4)` with the fields of the column; in
            an empty quadrant `class` and `source_index` are -1, `color` is empty and `rgb` is 0.
        """
        return {
            "image": self.pixels(block),
            "label": block["label"].astype(np.int64),
            "outcome": block["outcome"],
            "selected": block["selected"],
            "quadrants": quadrants.to_numpy(block),
        }

    # Reading rows.

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = quadrants.from_arrow(columns["quadrants"])
        right = self.parts.fit(block["kind"])
        if not right.all():
            shown = [quadrants.KINDS[code] for code in block["kind"][np.argmin(right)]]
            raise ValueError(f"variant {self.variant} has no quadrants {', '.join(shown)}")
        return block

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        second_case = ~numpy_array(columns["outcome"])
        label = numpy_array(columns["label"]).astype(np.int64)
        buckets: NDArray[np.int64] = label + len(self.label_names) * second_case
        return buckets

    def bucket_label(self, bucket: int) -> str:
        outcome, label = self._case(bucket)
        return f"{str(outcome).lower()} {self.answers[not outcome][label]}"

    @property
    def origins(self) -> tuple[Origin, ...]:
        return tuple(dict.fromkeys(ORIGINS.get(spec, OWN_PICTURES) for spec in self.parts.sources))

    def source_images(self, columns: Mapping[str, pa.Array]) -> NDArray[np.uint64]:
        block = self.parse(columns)
        owner = self.parts.sources_of(block["kind"]).astype(np.int64)
        codes: NDArray[np.uint64] = ((owner << 32) | block["source_index"]).astype(np.uint64)
        return codes[owner >= 0]

    @property
    def source_directories(self) -> tuple[str, ...]:
        parted = [spec.partition(":") for spec in self.parts.sources]
        return tuple(path for kind, _, path in parted if kind == "folder")

    def has_sources(self) -> bool:
        return all(load.is_here(spec, self.source_dirs) for spec in self.parts.sources)

    # Scoring.

    def baseline(self) -> dict[str, float]:
        """The accuracy that is possible without the first step.

        A model that classifies both targets perfectly but always answers with the likelier is
        right if that target is asked for, or if the other happens to have the same label: with ten
        labels and `p_first` 0.5 in 55% of the rows.

        Source: Eureka, section 4 ("by only solving task 2") and A.8.
        """
        likelier = max(self.parameters.p_first, 1.0 - self.parameters.p_first)
        return {"solving only task 2": likelier + (1.0 - likelier) / len(self.label_names)}

    def probe_targets(self, row: Mapping[str, Any]) -> dict[str, int]:
        """Label, outcome, selected, each quadrant's class, and its colour if colours are compared.

        If the parts have fixed places, a quadrant's name says which part it is.
        """
        targets = super().probe_targets(row)
        for index, quadrant in enumerate(row["quadrants"]):
            name = QUADRANTS[index]
            if self.design.layout == "fixed":
                part = FIXED_QUADRANTS.index(index)
                name = f"{'indicator' if part < FIRST_TARGET else 'target'} ({name})"
            kind = 1000 * quadrants.KINDS.index(quadrant["kind"])
            targets[name] = kind + (quadrant["class"] or 0)
            if self.design.compared == "color":
                targets[f"{name}, colour"] = RED_OR_BLUE.index(quadrant["color"])
        return targets

    def regions(self) -> dict[str, tuple[int, ...]]:
        """The quadrants of the indicators and of the targets, if their places are fixed."""
        if self.design.layout != "fixed":
            return {}
        indicators, targets = FIXED_QUADRANTS[:FIRST_TARGET], FIXED_QUADRANTS[FIRST_TARGET:]
        return {"indicators": indicators, "targets": targets}
