"""Blocks around any mixer of states, and the backbone that is made of them.

A block of two parts, the mixer and an MLP, each with a residual connection:

    pre        x ← x + f(norm(x))           Xiong et al., ICML 2020, figure 1b
    post       x ← norm(x + f(x))           Vaswani et al., NeurIPS 2017, section 3.1
    sandwich   x ← x + norm(f(norm(x)))     Ding et al. (CogView), NeurIPS 2021
    bare       x ← f(x)                     a stack of recurrent layers, as in nn.LSTM

A mixer is a module that maps states `(rows, width, d_model)` to states of the same shape:
attention, a recurrence, a convolution. Only mixers look at other places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from torch import Tensor, nn

from synthbench.errors import ParameterError
from synthbench.training.backbones.embedding import Embedding, OneHot
from synthbench.training.backbones.states import States
from synthbench.training.layers.dropout import Dropout
from synthbench.training.layers.mlp import MLP
from synthbench.training.layers.positions import RandomPositions
from synthbench.training.options import check_names, check_sizes

if TYPE_CHECKING:
    from synthbench.training.models.output import Record

ORDERS = ("pre", "post", "sandwich", "bare")
NORMS: dict[str, Callable[[int], nn.Module]] = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}

#: Inputs of a mixer beside the states, if its `reads` names it. See `Mixers.forward`.
CONTEXT = ("inputs", "lengths", "positions")
#: Makes a mixer for states of a size. The first may be given a `d_input`.
MakeMixer = Callable[..., nn.Module]


class Residual(nn.Module):
    """One part of a block, with its norms, dropout and residual connection.

    Args:
        part: a module from states to states. The first of a tuple counts.
        d_model: size of a state.
        order: one of `ORDERS`.
        norm: `layer` or `rms`.
        dropout: chance that a unit of the part's output is dropped.
    """

    def __init__(self, part: nn.Module, d_model: int, order: str, norm: str, dropout: float):
        super().__init__()
        check_names(order=(order, ORDERS), norm=(norm, tuple(NORMS)))
        self.part, self.is_bare = part, order == "bare"
        make = NORMS[norm]
        self.before = make(d_model) if order in ("pre", "sandwich") else nn.Identity()
        self.after = make(d_model) if order == "sandwich" else nn.Identity()
        self.sum_norm = make(d_model) if order == "post" else nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, **context: Tensor | None) -> Tensor:
        """`(rows, width, d_model)` to the same. The part also gets `context`."""
        update = self.part(self.before(states), **context)
        if isinstance(update, tuple):
            update = update[0]
        # Norms and sums stay in float32, even if autocast computes the part in bfloat16.
        update = self.dropout(self.after(update.to(states.dtype)))
        output: Tensor = update if self.is_bare else self.sum_norm(states + update)
        return output


class MixerBlock(nn.Module):
    """A mixer and an MLP, each with norm and residual connection.

    Args:
        mixer: a module from states to states. If it has an attribute `reads`, some of `inputs`,
            `lengths` and `positions`, its forward pass also gets these by name.
        d_model: size of a state.
        mlp: size of the MLP's hidden layer; 0: no MLP, as in Zoology's models for MQAR.
        activation: see `MLP`.
        order: `pre`, `post`, `sandwich` or `bare`.
        norm: `layer` (LayerNorm) or `rms` (RMSNorm, as fast, without mean and bias).
        dropout: chance that a unit of either part's output is dropped.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> from synthbench.training.backbones.block import MixerBlock
        >>> block = MixerBlock(nn.GRU(16, 16, batch_first=True), 16, mlp=32)
        >>> block(torch.zeros(2, 5, 16)).shape
        torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        mixer: nn.Module,
        d_model: int,
        *,
        mlp: int,
        activation: str = "gelu",
        order: str = "pre",
        norm: str = "layer",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(0, mlp=mlp)
        self.reads: tuple[str, ...] = getattr(mixer, "reads", ())
        self.mixing = Residual(mixer, d_model, order, norm, dropout)
        self.mlp: nn.Module = nn.Identity()
        if mlp:
            self.mlp = Residual(MLP(d_model, mlp, activation), d_model, order, norm, dropout)

    def forward(self, states: Tensor, **context: Tensor | None) -> Tensor:
        """The next states, `(rows, width, d_model)`.

        Args:
            states: `(rows, width, d_model)`.
            context: the mixer's other inputs. Others are ignored.
        """
        mixed = self.mixing(states, **{name: context[name] for name in self.reads})
        output: Tensor = self.mlp(mixed)
        return output


class Mixers(nn.Module):
    """A backbone: an embedding, blocks around mixers, and a last norm in `pre` and `sandwich`.

    A mixer that sees what follows a place should read `lengths`, so that it can pass over padding.

    Args:
        vocabulary: number of tokens, padding included.
        mixer: makes a mixer for states of size `d_model`. Several take turns: layer i has mixer i
            modulo their number.
        d_model: size of a state.
        d_embedding: size of an embedding, by default `d_model`. Another size needs `bare` and a
            first mixer that takes it as `d_input`.
        one_hot: whether tokens are read as one-hot vectors, without an embedding, in its place.
        num_layers: number of blocks.
        mlp: size of each MLP's hidden layer. 0: no MLP. Default: 4 · d_model, and with `bare` 0.
        activation: `relu`, `gelu` or `gated-gelu`.
        order: `pre`, `post`, `sandwich` or `bare`.
        norm: `layer` or `rms`.
        dropout: chance that a unit of an embedding or of a part's output is dropped.
        position: the addition to the embeddings: `none`, `learned` or `sinusoidal`.
        max_length: number of positions that learned positions are made for, and that random
            positions are drawn from.
        random_positions: whether the positions of each row are drawn. See `RandomPositions`.
        count_down: whether positions count down to 1 at a row's last token. See `Embedding`.
        embedding_std: standard deviation of the initial embeddings. See `Embedding`.
        scaled_embedding: whether embeddings of tokens are multiplied by √d_model.
        task_positions: whether a task's own positions are read. Otherwise tokens are counted.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.

    Example:
        >>> import torch
        >>> from synthbench.training.backbones.block import Mixers
        >>> from synthbench.training.backbones.gru import GRU
        >>> backbone = Mixers(15, GRU, d_model=16, num_layers=2)
        >>> tokens = torch.ones(2, 7, dtype=torch.int64)
        >>> backbone(tokens, torch.tensor([7, 7])).states.shape
        torch.Size([2, 7, 16])
    """

    def __init__(
        self,
        vocabulary: int,
        mixer: MakeMixer | Sequence[MakeMixer],
        *,
        d_model: int = 64,
        d_embedding: int | None = None,
        one_hot: bool = False,
        num_layers: int = 2,
        mlp: int | None = None,
        activation: str = "gelu",
        order: str = "pre",
        norm: str = "layer",
        dropout: float = 0.0,
        position: str = "none",
        max_length: int = 512,
        random_positions: bool = False,
        count_down: bool = False,
        embedding_std: float = 1.0,
        scaled_embedding: bool = False,
        task_positions: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, num_layers=num_layers)
        if d_embedding is not None:
            check_sizes(d_embedding=d_embedding)
        check_names(order=(order, ORDERS), norm=(norm, tuple(NORMS)))
        if mlp is None:
            mlp = 0 if order == "bare" else 4 * d_model
        self.d_model, self.task_positions = d_model, task_positions
        if one_hot:
            d_embedding = vocabulary - 1
        elif d_embedding is None:
            d_embedding = d_model
        if d_embedding != d_model and order != "bare":
            raise ParameterError(
                f"Embeddings of {d_embedding} and states of {d_model}: allowed with order=bare, as "
                f"{order!r} adds both."
            )
        self.embedding: nn.Module = (
            OneHot(vocabulary)
            if one_hot
            else Embedding(
                vocabulary,
                d_embedding,
                position=position,
                max_length=max_length,
                count_down=count_down,
                std=embedding_std,
                scaled=scaled_embedding,
                dropout=dropout,
            )
        )
        makers = [mixer] if callable(mixer) else list(mixer)
        first = {} if d_embedding == d_model else {"d_input": d_embedding}
        self.blocks = nn.ModuleList(
            MixerBlock(
                makers[layer % len(makers)](d_model, **({} if layer else first)),
                d_model,
                mlp=mlp,
                activation=activation,
                order=order,
                norm=norm,
                dropout=dropout,
            )
            for layer in range(num_layers)
        )
        unread = position == "none" and "positions" not in self.blocks[0].reads  # type: ignore[operator]
        if random_positions and (one_hot or count_down or unread):
            raise ParameterError(
                "random_positions: allowed for models that have positions, without one_hot and "
                "count_down."
            )
        self.drawn = RandomPositions(max_length) if random_positions else None
        self.norm = NORMS[norm](d_model) if order in ("pre", "sandwich") else nn.Identity()

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor,
        record: Record | None = None,
        positions: Tensor | None = None,
    ) -> States:
        """States `(rows, width, d_model)` of tokens.

        Args:
            inputs: int64 `(rows, width)`, padded with 0.
            lengths: tokens of each row, int64 `(rows,)`.
            record: gets `hidden`, `(rows, width, d_model)`, after each block.
            positions: the task's own positions, int64 `(rows, width)`. Models that only know the
                order of tokens ignore them.
        """
        positions = self.positions(inputs, lengths, positions)
        states = self.embedding(inputs, lengths, positions)
        for block in self.blocks:
            states = block(states, inputs=inputs, lengths=lengths, positions=positions)
            if record is not None:
                record.add("hidden", states)
        return States(self.norm(states))

    def positions(self, inputs: Tensor, lengths: Tensor, positions: Tensor | None) -> Tensor | None:
        """The positions that are read: random, the task's own, or None if tokens are counted."""
        if self.drawn is not None:
            drawn: Tensor = self.drawn(lengths, inputs.shape[1])
            return drawn
        return positions if self.task_positions else None
