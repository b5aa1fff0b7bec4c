"""A layer on trial: copied and seeded for every call, on rows that it has not seen."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from synthbench.errors import SynthbenchError
from synthbench.training.layer_checks.answer import reason
from synthbench.training.models.foreign import ForeignMixer
from synthbench.training.models.moved import MOVED, moved
from synthbench.training.options import Setting
from synthbench.training.setting import isolated

#: Lengths at which implementations in chunks, with padding or with windows break.
LENGTHS = (1, 2, 3, 63, 64, 65, 127, 128, 129)


class Trial:
    """A layer and the ways to call it.

    Every call has a fresh copy of the layer and the same seed, so that neither state between calls
    nor random draws of one shape make two calls differ.

    Args:
        make: makes the layer, wrapped in `ForeignMixer`.
        width: size of a state.
        length: positions of the longest row.
        setting: the device.

    Raises:
        SynthbenchError: the layer runs at no length.
    """

    def __init__(
        self, make: Callable[[], ForeignMixer], width: int, length: int, setting: Setting
    ) -> None:
        self._built: ForeignMixer | None = None
        self._make, self.width, self.longest, self.setting = make, width, length, setting
        self.lengths = [shorter for shorter in LENGTHS if shorter < length] + [length]
        self.errors: dict[int, str] = {}
        #: The longest of `lengths` that works. All questions but `lengths` are asked there.
        self.length = 0
        error: SynthbenchError | None = None
        for tried in reversed(self.lengths):
            try:
                if not self.run(self.draw(tried)).isfinite().all():
                    raise SynthbenchError("outputs are not finite")
            except SynthbenchError as caught:
                error, self.errors[tried] = error or caught, reason(caught)
            else:
                self.length = self.length or tried
        if error is not None and not self.length:
            raise error

    def draw(self, length: int, seed: int = 0, rows: int = 1) -> Tensor:
        """States of independent normal numbers, `(rows, length, width)`."""
        numbers = torch.Generator().manual_seed(1 + seed)
        return torch.randn(rows, length, self.width, generator=numbers).to(self.setting.device)

    @contextlib.contextmanager
    def built(self, shift: float = 0.0, seed: int = 0) -> Iterator[ForeignMixer]:
        """A fresh layer in evaluation mode, its parameters moved by `shift`. Randomness is seeded.

        `seed` determines what the layer draws when it is called, not its parameters.
        """
        with isolated(0, self.setting):
            layer = self._copy()
            torch.manual_seed(seed)
            with moved(list(layer.parameters()), shift) if shift else contextlib.nullcontext():
                yield layer

    def _copy(self) -> ForeignMixer:
        """A copy of the layer as it was built. Built again where it cannot be copied."""
        if self._built is None:
            self._built = self._make().to(self.setting.device).eval()
            if any(is_lazy(parameter) for parameter in self._built.parameters()):
                with torch.no_grad():
                    self.call(self._built, self.draw(2))
        try:
            return copy.deepcopy(self._built)
        except Exception:  # layers may hold what cannot be copied, such as tensors with gradients
            self._built = None
            return self._make().to(self.setting.device).eval()

    def call(self, layer: ForeignMixer, states: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The output for some states; `lengths` are those of the rows without padding."""
        rows, width = states.shape[:2]
        if lengths is None:
            lengths = torch.full((rows,), width, device=states.device)
        places = torch.arange(width, device=states.device).expand(rows, width)
        context = {"lengths": lengths, "positions": places, "inputs": 1 + places % 7}
        output: Tensor = layer(states.clone(), **{name: context[name] for name in layer.reads})
        return output.float()

    @torch.no_grad()
    def run(
        self, states: Tensor, lengths: Tensor | None = None, shift: float = 0.0, seed: int = 0
    ) -> Tensor:
        """The output of a fresh layer."""
        with self.built(shift, seed) as layer:
            return self.call(layer, states, lengths)

    @functools.cached_property
    def shifts(self) -> list[float]:
        """By how far parameters are moved: not at all, and where that works, a little.

        A weight that begins with 0 hides what is before it.
        """
        try:
            is_finite = self.run(self.draw(self.length), shift=MOVED).isfinite().all()
        except SynthbenchError:  # a layer may ask more of its parameters than moved parameters give
            is_finite = torch.tensor(False)
        return [MOVED, 0.0] if is_finite else [0.0]

    @functools.cached_property
    def reads_lengths(self) -> bool:
        """True for a layer that declares that it reads the lengths of rows."""
        with self.built() as layer:
            return "lengths" in layer.reads

    @functools.cached_property
    def not_causal(self) -> str:
        """The declaration of a layer that it looks ahead, or an empty text.

        The layer's own `causal` or `is_causal` counts first. Without it, the layer looks ahead if
        any part has `sees_what_follows` or `bidirectional`, if it reads `lengths`, or if all of
        its parts that have `causal` have False there.
        """
        with self.built() as wrapper:
            layer: nn.Module = wrapper.layer
            for name in ("causal", "is_causal"):
                if isinstance(value := getattr(layer, name, None), bool):
                    return "" if value else f"{name} is False"
            for name in ("sees_what_follows", "bidirectional"):
                if any(getattr(part, name, False) is True for part in layer.modules()):
                    return f"{name} is True"
            if "lengths" in wrapper.reads:
                return "it reads lengths"
            values = {getattr(part, "causal", None) for part in layer.modules()} - {None}
            return "causal is False" if values == {False} else ""
