"""Tasks of texts with a variant `own`, whose rule is a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from synthbench.errors import ParameterError
from synthbench.tasks.base import Parameters, TextTask

#: The variant whose rule is the user's.
OWN = "own"


class OwnVariant(TextTask):
    """A task whose parameter `own_parameter` is the rule of the variant `own` alone.

    Without a variant, a changed value of this parameter chooses `own`.
    """

    own_parameter: ClassVar[str]

    def __init__(
        self,
        variant: str | None = None,
        parameters: Mapping[str, Any] | Parameters | None = None,
        seed: int = 0,
    ) -> None:
        parsed = self.parameters_type.make({} if parameters is None else parameters)
        if self.own_parameter in parsed.changed():
            if variant in self.variants and variant != OWN:
                name = self.own_parameter
                raise ParameterError(
                    f"Parameter {name}: variant {variant} has a {name}. Choose variant {OWN!r}, or "
                    "no variant."
                )
            variant = OWN if variant is None else variant
        super().__init__(variant, parsed, seed)
