"""Initial parameters that the papers' programs do not leave to PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor, nn

from synthbench.training.layers.layer import Layer

#: The initial variance of an embedding, from its number of rows and the size of a state.
EMBEDDINGS: dict[str, Callable[[int, int], float]] = {
    "unit": lambda rows, d_model: 1.0,
    "normal": lambda rows, d_model: 1 / d_model,
    "kaiming": lambda rows, d_model: 2 / d_model,
    "xavier": lambda rows, d_model: 2 / (rows + d_model),
}


def draw_weights(model: nn.Module, draw: Callable[[Tensor], object]) -> None:
    """Draw the weights of linear maps, convolutions and embeddings; set their biases to 0.

    `draw` fills a weight in place, as the functions of `nn.init` do.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d | nn.Embedding):
            draw(module.weight)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)  # type: ignore[arg-type]


def xavier_layer(layer: Layer) -> None:
    """Draw the weights of an encoder's layer as NDR's program does (Glorot & Bengio, 2010).

    Each head's projections are separate maps: fan-in d_model, fan-out d_head. The attention's
    logits then have a deviation of 1 with one head and more with several; with PyTorch's default
    it is 1/3. The two maps of the feed-forward part have gains of √2 and 5/3, those of the gate √2
    and 1. The attention's output and all biases keep PyTorch's default.
    """
    attention = layer.attention
    projections = [attention.query, attention.key, attention.value]
    if attention.positions is not None:
        projections.append(attention.positions.key)
    d_model = attention.query.in_features
    bound = math.sqrt(6 / (d_model + d_model // attention.num_heads))
    for projection in projections:
        nn.init.uniform_(projection.weight, -bound, bound)
    parts = [(layer.feedforward, nn.init.calculate_gain("tanh"))]
    if layer.gate is not None:
        parts.append((layer.gate, 1.0))
    for part, outer_gain in parts:
        nn.init.xavier_uniform_(part.inner.weight, nn.init.calculate_gain("relu"))
        nn.init.xavier_uniform_(part.outer.weight, outer_gain)


def draw_embedding(embedding: nn.Embedding, name: str) -> None:
    """Draw an embedding from a normal distribution with the variance that `EMBEDDINGS` names."""
    variance = EMBEDDINGS[name](embedding.num_embeddings, embedding.embedding_dim)
    nn.init.normal_(embedding.weight, std=math.sqrt(variance))
