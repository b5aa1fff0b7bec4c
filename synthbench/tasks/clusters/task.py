"""Two clusters of points: are they still two after attention has moved them?

    500 points around (1.8, 0.7), 50 around (-1, -1)         unbalanced
    225 points around each                                   balanced

A row is a set of points in the plane with the cluster of each point. It lacks a label: a method (in
the paper, four steps of attention among the points) moves the points, and the answer is the moved
points. Softmax attention pulls the smaller cluster into the larger.

Source: DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020), appendix E, figures 6, 8 and 9.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, cached_parts, normal_deviates
from synthbench.tasks.base import Block, Parameters, Split, Task, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import list_of, value
from synthbench.tasks.numeric import nest, read_numbers, unnest

if TYPE_CHECKING:
    import pyarrow as pa

#: Where the two clusters are centred.
CENTRES = ((1.8, 0.7), (-1.0, -1.0))
#: Points of the two clusters, by variant.
POINTS = {"balanced": (225, 225), "unbalanced": (500, 50)}
#: The most points of a cluster.
MOST_POINTS = 10_000
#: A stream's first round takes two seconds with so many coordinates in a row. The order of the
#: points takes as long as one and a half coordinates of each.
_STREAMED, _OF_ORDER = 9_700, 1.5


@dataclasses.dataclass(frozen=True)
class ClustersParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    variance: float = parameter(
        0.1, "variance of a point's place in each direction", least=1e-4, most=1.0
    )
    first_points: int = parameter(
        0, "points of cluster 0, or 0 for as many as the variant has", least=0, most=MOST_POINTS
    )
    second_points: int = parameter(
        0, "points of cluster 1, or 0 for as many as the variant has", least=0, most=MOST_POINTS
    )
    distance: float = parameter(
        0.0,
        "distance of the centres on the first axis, with 0 halfway between them, or 0 for the "
        "paper's centres",
        least=0.0,
        most=100.0,
    )
    dimension: int = parameter(
        2,
        "number of axes, of which the paper's centres use the first two",
        least=1,
        most=16,
    )


class Clusters(Task):
    """Point sets of two Gaussians, to see whether attention merges them."""

    name = "clusters"
    title = "Two clusters under attention"
    summary = "After attention has moved the points of two clusters, are they still two?"
    source = "DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020), appendix E"
    variants: ClassVar[Mapping[str, str]] = {
        "balanced": "225 points in each cluster.",
        "unbalanced": "500 points in one cluster, 50 in the other.",
    }
    parameters_type = ClustersParameters
    categories = ("other",)
    bucket_name = "point sets"
    inputs = ("points", "cluster")
    splits = (Split("test", 1_000),)
    metrics = ("distance", "separated")
    binary_metrics = ("separated",)

    # A row of the paper takes about 5 kB.

    @property
    def block_rows(self) -> int:
        coordinates = sum(self.sizes) * self.parameters.dimension
        return int(min(1_024, max(1, (1 << 21) // coordinates)))

    @property
    def round_rows(self) -> int:
        return 8 * self.block_rows

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round.

        Raises:
            ParameterError: the first row would take too long.
        """
        axes = self.parameters.dimension
        most = int(_STREAMED / (axes + _OF_ORDER))
        if (points := sum(self.sizes)) > most:
            raise ParameterError(
                "Parameters first_points and second_points: the first row of a stream waits for "
                f"many rows of {points:,} points. With dimension={axes} {most:,} points in all are "
                "allowed. Datasets may have such rows."
            )
        return self.round_rows

    @property
    def group_rows(self) -> int:
        return 8 * self.block_rows

    @property
    def shard_rows(self) -> int:
        return 64 * self.block_rows

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of points of both clusters."""
        first, second = POINTS[self.variant]
        return self.parameters.first_points or first, self.parameters.second_points or second

    @property
    def centres(self) -> NDArray[np.float64]:
        """The centres of both clusters, float64 `(2, axes)`."""
        centres = np.zeros((2, self.parameters.dimension))
        if self.parameters.distance:
            centres[:, 0] = np.array([0.5, -0.5]) * self.parameters.distance
        else:
            axes = min(2, self.parameters.dimension)
            centres[:, :axes] = np.array(CENTRES)[:, :axes]
        return centres

    @property
    def instruction(self) -> str:
        """The rule, with the number of axes if it is not the paper's."""
        axes = self.parameters.dimension
        kind = (
            "points of the plane, as pairs of coordinates"
            if axes == 2
            else (f"points with {axes} coordinate{'s' if axes > 1 else ''} each")
        )
        return (
            f"These are {kind}, and for each point the cluster that it belongs to, 0 or 1. Move "
            "the points by the method under test. The answer is the list of moved points, in the "
            "same order. The two clusters must stay apart."
        )

    def solve(self, question: list[list[float]]) -> list[list[float]]:
        """The points unmoved, which keeps the clusters apart."""
        return [list(point) for point in question]

    @property
    def columns(self) -> dict[str, Column]:
        return {"points": list_of(list_of(value("float32"))), "cluster": list_of(value("int8"))}

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        first, second = self.sizes
        dimension = self.parameters.dimension
        cluster = draws.arrangements(n, first, second)
        # The index of a coordinate is that of its cluster and axis, then that of its deviate.
        starts = (np.arange(2 * dimension, dtype=np.uint32) << 16).reshape(2, dimension)
        points = np.empty((n, first + second, dimension), np.float32)
        done = 0
        for part in cached_parts(points):
            index = draws.normal_indices(part.shape)
            index += starts.take(cluster[done : done + len(part)], axis=0)
            self._coordinates.take(index, out=part, mode="clip")  # quicker than with errors
            done += len(part)
        return Block({"points": points, "cluster": cluster})

    @functools.cached_property
    def _coordinates(self) -> NDArray[np.float32]:
        """Every coordinate that a point can have, by cluster, axis and deviate, float32."""
        # IEEE 754: square root, product and sum are rounded in the same way everywhere.
        spread = normal_deviates() * math.sqrt(self.parameters.variance)
        coordinates: NDArray[np.float32] = np.add.outer(self.centres, spread).astype(np.float32)
        return coordinates.reshape(-1)

    def content(self, block: Block) -> NDArray[np.uint8]:
        flat = block["points"].reshape(len(block), math.prod(block["points"].shape[1:]))
        points = np.ascontiguousarray(flat, "<f4")
        cluster = block["cluster"].astype(np.uint8) + np.uint8(1)
        return np.concatenate([points.view(np.uint8), cluster], axis=1)

    def render(self, block: Block) -> dict[str, pa.Array]:
        return {"points": nest(block["points"]), "cluster": nest(block["cluster"])}

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """`points` float32 `(rows, points, axes)` and `cluster` int8 `(rows, points)`."""
        return dict(block.columns)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        first, second = self.sizes
        shape = (first + second, self.parameters.dimension)
        points = unnest(columns["points"], shape, "points").astype(np.float32)
        cluster = unnest(columns["cluster"], (first + second,), "cluster")
        if not np.isfinite(points).all():
            raise ValueError("points has a coordinate that is not a finite number")
        if not ((cluster == 0) | (cluster == 1)).all() or (cluster.sum(axis=1) != second).any():
            raise ValueError(f"cluster has a row that is not {first} times 0 and {second} times 1")
        return Block({"points": points, "cluster": cluster.astype(np.int8)})

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> NDArray[np.float64] | None:
        """The moved points in the row's order, float64 `(points, axes)`."""
        return read_numbers(prediction, (len(row["points"]), self.parameters.dimension))

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """The distance between the centres of the moved clusters, and whether these are still two.

        They are two if every moved point is nearer to the centre of its own cluster than to the
        other cluster, and the distance of the centres exceeds the larger width of the row's own
        clusters: the root mean square distance of a cluster's points from their centre.
        """
        if answer is None:
            return dict.fromkeys(self.metrics, 0.0)
        cluster = np.asarray(row["cluster"])
        centres = [answer[cluster == index].mean(axis=0) for index in (0, 1)]
        distance = math.dist(*centres)
        to_first, to_second = (np.linalg.norm(answer - centre, axis=1) for centre in centres)
        own_nearer = np.where(cluster == 0, to_first < to_second, to_second < to_first)
        separated = bool(own_nearer.all()) and distance > _width(row)
        return {"distance": distance, "separated": float(separated)}


def _width(row: Mapping[str, Any]) -> float:
    """The larger of the clusters' root mean square distances of points from their centre."""
    points, cluster = np.asarray(row["points"], np.float64), np.asarray(row["cluster"])
    parts = (points[cluster == index] for index in (0, 1))
    return math.sqrt(max(float(part.var(axis=0).sum()) for part in parts))
