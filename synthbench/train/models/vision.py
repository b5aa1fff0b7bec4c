"""Classifiers of images: a small vision transformer and a residual network.

Source: Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.10. The
transformer follows Hassani et al. (2021), as the paper says it does; of the residual network the
paper gives the depth and "a comparable parameter count".
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from synthbench.errors import ParameterError
from synthbench.train.attention import Attention
from synthbench.train.models.output import Output
from synthbench.train.record import Record


class Block(nn.Module):
    """A pre-norm encoder layer: attention, then GELU between two linear layers.

    Args:
        d_model: size of a state.
        num_heads: number of heads.
        d_ff: width between the two linear layers.
        normalisation: of the attention, one of `attention.NORMALISATIONS`.
        temperature: of the attention; default: the square root of a head's size.
        dropout: chance that a unit is dropped after each part.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        normalisation: str,
        temperature: float | None,
        dropout: float,
    ) -> None:
        super().__init__()
        self.norm_attention, self.norm_feedforward = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(
            d_model, num_heads, normalisation=normalisation, temperature=temperature
        )
        self.feedforward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, record: Record | None = None) -> Tensor:
        """The states `(rows, length, d_model)` after the layer."""
        attended = self.attention(self.norm_attention(states), record=record)
        states = states + self.dropout(attended)
        added: Tensor = self.dropout(self.feedforward(self.norm_feedforward(states)))
        return states + added


class ViT(nn.Module):
    """Vision transformer: patches, a class token, learned positions, pre-norm layers.

    The defaults are the paper's: 7 layers, 4 heads of 64, MLP ratio 2, patches of 4x4 pixels.

    Args:
        classes: number of classes.
        size: height and width of an image, in pixels.
        patch: height and width of a patch, in pixels.
        d_model: size of a state.
        num_heads: number of heads.
        num_layers: number of layers.
        d_ff: width of the feed-forward part.
        normalisation: of the attention: `softmax`, `normsoftmax`, `normsoftmax-variance`.
        temperature: of the attention; default: the square root of a head's size.
        dropout: chance that a unit is dropped, of the embeddings and after each part of a layer.

    Raises:
        UsageError: an unknown normalisation, or sizes that do not fit.
    """

    def __init__(
        self,
        classes: int,
        *,
        size: int = 56,
        patch: int = 4,
        d_model: int = 256,
        num_heads: int = 4,
        num_layers: int = 7,
        d_ff: int = 512,
        normalisation: str = "softmax",
        temperature: float | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if patch < 1 or size % patch:
            raise ParameterError(f"Patch {patch}: allowed are the divisors of {size} pixels.")
        self.patches = nn.Conv2d(3, d_model, kernel_size=patch, stride=patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.empty(1, 1 + (size // patch) ** 2, d_model))
        nn.init.trunc_normal_(self.positions, std=0.02)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            Block(
                d_model,
                num_heads,
                d_ff,
                normalisation=normalisation,
                temperature=temperature,
                dropout=dropout,
            )
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.classifier = nn.Linear(d_model, classes)

    def set_temperature(self, temperature: float) -> None:
        """Set the attention's temperature in every layer (heat treatment)."""
        for module in self.modules():
            if isinstance(module, Attention):
                module.set_temperature(temperature)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Classify images.

        Args:
            inputs: float32 `(rows, 3, size, size)` in 0..1.
            lengths: None; all images have one size.
            record: gets `attention` and `scores` of each layer, and `hidden`
                `(rows, 1 + patches, d_model)` after it, the class token first.

        Returns:
            Scores `(rows, classes)`.
        """
        patches = self.patches(centred(inputs)).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(inputs), -1, -1), patches], dim=1)
        states = self.dropout(tokens + self.positions)
        for layer in self.layers:
            states = layer(states, record)
            if record is not None:
                record.add("hidden", states)
        return Output(self.classifier(self.norm(states[:, 0])))


class ResNet(nn.Module):
    """A residual network of nine layers: eight convolutions and a linear layer.

    Two stages of a stem convolution, a widening one and a residual pair; three poolings and the
    largest value of each channel at the end. With the default widths it has 4.2 million
    parameters, the transformer 3.8 million.

    Args:
        classes: number of classes.
        widths: channels of the four convolutions that widen.
    """

    def __init__(
        self, classes: int, *, widths: tuple[int, int, int, int] = (64, 128, 256, 384)
    ) -> None:
        super().__init__()
        first, second, third, fourth = widths
        self.stages = nn.ModuleList(
            [
                _convolution(3, first),
                nn.Sequential(_convolution(first, second), nn.MaxPool2d(2)),
                Residual(second),
                nn.Sequential(_convolution(second, third), nn.MaxPool2d(2)),
                nn.Sequential(_convolution(third, fourth), nn.MaxPool2d(2)),
                Residual(fourth),
            ]
        )
        self.classifier = nn.Linear(fourth, classes)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Classify images.

        Args:
            inputs: float32 `(rows, 3, height, width)` in 0..1.
            lengths: None; all images have one size.
            record: gets `hidden` `(rows, places, channels)` after each stage.

        Returns:
            Scores `(rows, classes)`.
        """
        # A processor convolves a few channels faster when they lie together.
        states = centred(inputs).contiguous(memory_format=torch.channels_last)
        for stage in self.stages:
            states = stage(states)
            if record is not None:
                record.add("hidden", states.flatten(2).transpose(1, 2))
        return Output(self.classifier(states.amax(dim=(2, 3))))


class Residual(nn.Module):
    """Two convolutions beside a connection that skips them.

    Args:
        channels: channels in and out.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _convolution(channels, channels), _convolution(channels, channels)
        )

    def forward(self, states: Tensor) -> Tensor:
        """The states `(rows, channels, height, width)` with what the body adds."""
        added: Tensor = self.body(states)
        return states + added


def centred(pixels: Tensor) -> Tensor:
    """Pixels from 0..1 to -1..1."""
    return pixels * 2 - 1


def _convolution(channels: int, out: int) -> nn.Sequential:
    """A 3x3 convolution with batch normalisation and ReLU."""
    return nn.Sequential(
        nn.Conv2d(channels, out, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(out),
        nn.ReLU(),
    )
