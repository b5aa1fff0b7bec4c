"""Parameters of composites: where pictures come from, and whether a variant can use them."""

from __future__ import annotations

import dataclasses

from synthbench.errors import ParameterError
from synthbench.tasks.composites.rules import Design
from synthbench.tasks.parameters import Parameters, parameter

#: The value of a source parameter that means the paper's images.
_OWN = "torchvision"
_SOURCES = ("indicator_source", "target_source", "digit_source")


@dataclasses.dataclass(frozen=True)
class CompositesParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    p_first: float = parameter(0.5, "how often the rule's first case holds")
    noise: float = parameter(
        0.05, "standard deviation of the noise on colours from 0 to 1", least=0.0, most=1.0
    )
    indicator_source: str = parameter(
        _OWN, "images of the indicators: torchvision, or folder:PATH for a class-folder tree"
    )
    target_source: str = parameter(
        _OWN, "images of the targets: torchvision, or folder:PATH for a class-folder tree"
    )
    digit_source: str = parameter(
        _OWN, "images of the digits that are targets in cifar: torchvision, or folder:PATH"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.p_first < 1.0:
            raise ParameterError(
                f"Parameter p_first={self.p_first}: allowed are numbers between 0 and 1."
            )
        for name in _SOURCES:
            source = getattr(self, name)
            if source != _OWN and not (source.startswith("folder:") and source != "folder:"):
                raise ParameterError(
                    f"Parameter {name}={source!r}: allowed are {_OWN} and folder:PATH."
                )

    def check_fit(self, variant: str, design: Design) -> None:
        """Make sure that a variant uses the chosen sources and can tell them apart.

        Raises:
            ParameterError: it does not or cannot.
        """
        unused = {
            "indicator_source": design.indicators == "empty",
            "digit_source": design.targets[0] == design.targets[1],
        }
        folders = [name for name in _SOURCES if getattr(self, name) != _OWN]
        for name in folders:
            if unused.get(name):
                raise ParameterError(
                    f"Parameter {name}={getattr(self, name)!r}: variant {variant} "
                    "has no such images."
                )
        if design.layout != "fixed" and len(folders) > 1:
            raise ParameterError(
                f"Parameters {' and '.join(folders)}: only one of them is allowed, because in "
                f"variant {variant} the kind of an image shows which part of the row it is."
            )

    def part_sources(self, design: Design) -> tuple[str, ...]:
        """The source of each part: two indicators, the first and the second target."""
        first, second = design.targets
        sources = (
            (self.indicator_source, design.indicators),
            (self.indicator_source, design.indicators),
            (self.target_source, first),
            (self.target_source if first == second else self.digit_source, second),
        )
        return tuple(kind if source == _OWN else source for source, kind in sources)
