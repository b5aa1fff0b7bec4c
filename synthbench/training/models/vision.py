"""Classifiers of images: a small vision transformer and a residual network.

Source: Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.10. The
transformer follows Hassani et al. (2021), as the paper says, with the initial parameters of Touvron
et al. (2021). For the residual network the paper gives the depth and "a comparable parameter
count". Its program uses torchvision's with one block a stage.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn import functional

from synthbench.errors import ParameterError
from synthbench.training.layers.attention import Attention
from synthbench.training.layers.layer import draw_weights
from synthbench.training.models.output import Output, Record
from synthbench.training.options import check_chances, check_sizes

#: The epsilon of LayerNorm in the published program; PyTorch's default is 1e-5.
_EPSILON = 1e-6


class ViTBlock(nn.Module):
    """A pre-norm encoder layer: attention, then GELU between two linear layers. See `ViT`."""

    def __init__(self, attention: Attention, d_model: int, d_ff: int, drop_path: float) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(d_model, eps=_EPSILON)
        self.norm_feedforward = nn.LayerNorm(d_model, eps=_EPSILON)
        self.attention = attention
        self.feedforward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)
        )
        self.drop_path = drop_path

    def forward(self, states: Tensor, record: Record | None = None) -> Tensor:
        """The states `(rows, length, d_model)` after the layer."""
        states = states + self._drop(self.attention(self.norm_attention(states), record=record))
        if record is not None:
            record.add("attended", states)
        return states + self._drop(self.feedforward(self.norm_feedforward(states)))

    def _drop(self, added: Tensor) -> Tensor:
        """A part's output. In training 0 for some rows, and larger for the others (drop path)."""
        if not self.training or self.drop_path == 0:
            return added
        kept = torch.rand(len(added), 1, 1, device=added.device) >= self.drop_path
        return added * kept / (1 - self.drop_path)


class ViT(nn.Module):
    """Vision transformer: patches, a class token, learned positions, pre-norm layers.

    The defaults are the paper's: 7 layers, 4 heads of 64, MLP ratio 2, patches of 4x4 pixels.
    Weights, positions and the class token start from a normal distribution with deviation 0.02,
    truncated at ±2. Biases start at 0.

    Args:
        classes: number of classes.
        size: height and width of an image, in pixels.
        patch: height and width of a patch, in pixels.
        d_model: size of a state.
        num_heads: number of heads.
        num_layers: number of layers.
        d_ff: width of the feed-forward part.
        normalisation: the attention's, one of `attention.NORMALISATIONS`.
        temperature: the attention's. Default: the square root of a head's size.
        drop_path: chance that a part of the last layer adds nothing to a row (Huang et al., 2016).
            It rises in equal steps from 0 in the first layer. The value is the published program's.
            The paper does not mention it.

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
        drop_path: float = 0.1,
    ) -> None:
        super().__init__()
        check_sizes(size=size, patch=patch, d_model=d_model, num_layers=num_layers, d_ff=d_ff)
        check_chances(drop_path=drop_path)
        if size % patch:
            raise ParameterError(f"Patch {patch}: allowed are the divisors of {size} pixels.")
        self.size = size
        self.patches = nn.Conv2d(3, d_model, kernel_size=patch, stride=patch)
        self.class_token = nn.Parameter(torch.empty(1, 1, d_model))
        self.positions = nn.Parameter(torch.empty(1, 1 + (size // patch) ** 2, d_model))
        self.layers = nn.ModuleList(
            ViTBlock(
                Attention(
                    d_model,
                    num_heads,
                    normalisation=normalisation,
                    temperature=temperature,
                    qkv_bias=False,
                ),
                d_model,
                d_ff,
                drop_path * layer / max(1, num_layers - 1),
            )
            for layer in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model, eps=_EPSILON)
        self.classifier = nn.Linear(d_model, classes)
        draw = functools.partial(nn.init.trunc_normal_, std=0.02)
        draw_weights(self, draw)
        draw(self.class_token)
        draw(self.positions)

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Classify images, float32 `(rows, 3, size, size)` in 0..1, by scores `(rows, classes)`.

        Records `attention` and `scores` of each layer, and `hidden` `(rows, 1 + patches, d_model)`
        after it, the class token first.

        Raises:
            ParameterError: images of another size.
        """
        if inputs.shape[2:] != (self.size, self.size):
            height, width = inputs.shape[2:]
            raise ParameterError(
                f"Images of {height}x{width} pixels: the model is made for {self.size}x{self.size} "
                "(size)."
            )
        patches = self.patches(inputs).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(inputs), -1, -1), patches], dim=1)
        states = tokens + self.positions
        for layer in self.layers:
            states = layer(states, record)
            if record is not None:
                record.add("hidden", states)
        return Output(self.classifier(self.norm(states[:, 0])))


class ResNet(nn.Module):
    """torchvision's residual network with one block in each of its four stages.

    A 7x7 convolution, a pooling, four blocks of two 3x3 convolutions each, the mean of every
    channel, and a linear layer: nine convolutions on the longest path. With the default widths it
    has 4.9 million parameters. The transformer has 3.8 million. Each stage but the first halves
    height and width, and a 1x1 convolution adapts the skip connection.

    Args:
        classes: number of classes.
        widths: channels of the four stages.

    Raises:
        UsageError: not four widths, or one that is not allowed.

    Source: He et al., Deep residual learning for image recognition (2015).
    """

    def __init__(
        self, classes: int, *, widths: tuple[int, int, int, int] = (64, 128, 256, 512)
    ) -> None:
        super().__init__()
        if not isinstance(widths, tuple | list) or len(widths) != 4:
            raise ParameterError(f"Widths {widths!r}: expected four, such as 64,128,256,512.")
        for width in widths:
            check_sizes(widths=width)
        first = widths[0]
        stem = nn.Sequential(
            nn.Conv2d(3, first, kernel_size=7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(first),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        blocks = [
            ResidualUnit(before, width, stride=1 if number == 0 else 2)
            for number, (before, width) in enumerate(
                zip((first, *widths[:-1]), widths, strict=True)
            )
        ]
        self.stages = nn.ModuleList([stem, *blocks])
        self.classifier = nn.Linear(widths[-1], classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(
        self, inputs: Tensor, lengths: Tensor | None = None, record: Record | None = None
    ) -> Output:
        """Classify images, float32 `(rows, 3, height, width)` in 0..1, by scores `(rows, classes)`.

        Records `hidden` `(rows, places, channels)` after the pooling and after each block.
        """
        # A CPU convolves a few channels faster if the channels of a pixel lie together.
        states = inputs.contiguous(memory_format=torch.channels_last)
        for stage in self.stages:
            states = stage(states)
            if record is not None:
                record.add("hidden", states.flatten(2).transpose(1, 2))
        return Output(self.classifier(states.mean(dim=(2, 3))))


class ResidualUnit(nn.Module):
    """Two 3x3 convolutions beside a skip connection. A stride of 2 halves height and width."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, width, kernel_size=3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.skip = nn.Sequential()
        if stride != 1 or channels != width:
            self.skip = nn.Sequential(
                nn.Conv2d(channels, width, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(width),
            )

    def forward(self, states: Tensor) -> Tensor:
        """The states after the block, `(rows, width, height / stride, ...)`."""
        return functional.relu(self.body(states) + self.skip(states))
