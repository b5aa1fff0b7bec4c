"""The Transformer, causal or over whole rows (Vaswani et al., NeurIPS 2017).

    x ← x + attention(norm(x));   x ← x + MLP(norm(x))      order="pre"
    x ← norm(x + attention(x));   x ← norm(x + MLP(x))      order="post"

The published models that it becomes, by their options:

- Chomsky hierarchy (Delétang et al., ICLR 2023, section A.2): `causal=False, order="post",
  num_layers=5, d_model=64, num_heads=8, mlp=256, activation="relu", dropout=0.1,
  attention_bias=False, embedding_std=0.02, scaled_embedding=True`. The best positions of `none`,
  sinusoidal (with `count_down=True`), rotary, alibi and relative is reported.
- Grokking (Power et al., 2022): `order="post", num_layers=2, d_model=128,
  num_heads=4, activation="relu", position="sinusoidal"`.
- MQAR (Arora et al., Zoology, ICLR 2024): `num_layers=2, num_heads=1, mlp=0, dropout=0.1,
  weight_dropout=0.1, position="learned"`.
- Position coupling (Cho et al., NeurIPS 2024): `num_layers=1, order="sandwich", norm="rms",
  activation="gated-gelu", position="learned"`, with positions that the task gives.
"""

from __future__ import annotations

import functools

from synthbench.errors import ParameterError
from synthbench.training.backbones.attention import INNER_POSITIONS, SelfAttention
from synthbench.training.backbones.block import Mixers
from synthbench.training.backbones.embedding import ADDED_POSITIONS
from synthbench.training.options import check_names

POSITIONS = (*ADDED_POSITIONS, *INNER_POSITIONS[1:])


class Transformer(Mixers):
    """Blocks of attention and MLP.

    Args:
        vocabulary: number of tokens, padding included.
        d_model: size of a state.
        num_heads: number of heads. It divides `d_model`.
        num_layers: number of blocks.
        causal: whether a place sees only itself and places before it.
        position: `none`; `learned` or `sinusoidal`, added to the embeddings; `rotary`, `alibi` or
            `relative` (Transformer-XL), in the attention. A task's own positions are read by
            `learned`, `sinusoidal` and `rotary`. The others know only the order of tokens.
        max_length: number of positions that learned positions are made for, and that random
            positions are drawn from.
        random_positions: whether the positions of each row are drawn, instead of the task's own.
            See `RandomPositions`. Not with `position="none"`.
        count_down: whether added positions count down to 1 at a row's last token, as in the
            Chomsky hierarchy's program. Not with `causal`: it shows how many tokens follow.
        order: `pre`, `post` or `sandwich`. See `block`.
        norm: `layer` or `rms`.
        mlp: size of each MLP's hidden layer; 0: no MLP. Default: 4 · d_model.
        activation: `relu`, `gelu` or `gated-gelu`.
        dropout: chance that a unit of an embedding, or of the output of attention or MLP, is
            dropped.
        weight_dropout: chance that an attention weight is dropped.
        attention_bias: whether the attention's projections have biases.
        embedding_std: standard deviation of the initial embeddings. See `Embedding`.
        scaled_embedding: whether embeddings of tokens are multiplied by √d_model.
        task_positions: whether a task's own positions are read. Otherwise tokens are counted.

    Raises:
        UsageError: a name that does not exist, or numbers that do not fit.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.transformer import Transformer
        >>> model = Transformer(15, d_model=32, num_heads=2, position="rotary")
        >>> tokens = torch.ones(2, 7, dtype=torch.int64)
        >>> model(tokens, torch.tensor([7, 7])).states.shape
        torch.Size([2, 7, 32])
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        d_model: int = 64,
        num_heads: int = 4,
        num_layers: int = 2,
        causal: bool = True,
        position: str = "rotary",
        max_length: int = 512,
        random_positions: bool = False,
        count_down: bool = False,
        order: str = "pre",
        norm: str = "layer",
        mlp: int | None = None,
        activation: str = "gelu",
        dropout: float = 0.0,
        weight_dropout: float = 0.0,
        attention_bias: bool = True,
        embedding_std: float = 1.0,
        scaled_embedding: bool = False,
        task_positions: bool = True,
    ) -> None:
        check_names(position=(position, POSITIONS), order=(order, ("pre", "post", "sandwich")))
        if causal and count_down:
            raise ParameterError(
                "count_down with causal attention would show how many tokens follow: set "
                "causal=false or count_down=false."
            )
        if random_positions and position == "none":
            raise ParameterError(
                "random_positions needs a position: allowed are learned, sinusoidal, "
                "rotary, alibi and relative."
            )
        is_added = position in ADDED_POSITIONS
        attention = functools.partial(
            SelfAttention,
            num_heads=num_heads,
            causal=causal,
            position="none" if is_added else position,
            bias=attention_bias,
            weight_dropout=weight_dropout,
            any_positions=random_positions,
        )
        super().__init__(
            vocabulary,
            attention,
            d_model=d_model,
            num_layers=num_layers,
            mlp=mlp,
            activation=activation,
            order=order,
            norm=norm,
            dropout=dropout,
            position=position if is_added else "none",
            max_length=max_length,
            random_positions=random_positions,
            count_down=count_down,
            embedding_std=embedding_std,
            scaled_embedding=scaled_embedding,
            task_positions=task_positions,
        )
