"""Small backbones of every kind, and rows for them."""

from functools import partial

import torch

from synthbench.training.backbones.block import Mixers
from synthbench.training.backbones.convolution import BaseConv, BaseConvolutions
from synthbench.training.backbones.delta import Delta
from synthbench.training.backbones.diagonal import Diagonal
from synthbench.training.backbones.elman import Elman
from synthbench.training.backbones.gru import GRU
from synthbench.training.backbones.looped import LoopedTransformer
from synthbench.training.backbones.stack import StackRNN
from synthbench.training.backbones.tape import TapeRNN
from synthbench.training.backbones.transformer import POSITIONS, Transformer
from synthbench.training.models import MODELS, build
from tests.training.making import FORMS

VOCABULARY, MASK = 9, 8


def registered(name, vocabulary, **options):
    """The backbone of a model by name."""
    sizes = {"vocabulary": vocabulary, "outputs": 2}
    return build(name, FORMS["tokens"], sizes, {"d_model": 8, **options}).backbone


#: Mixers with other options than those of the models by name.
MIXERS = {
    "diagonal-convolved": partial(Diagonal, kernel=4),
    "delta": partial(Delta, num_heads=2, kernel=4),
    "delta-product": partial(Delta, eigenvalues="signed", steps=3),
    "base-conv-long": partial(BaseConv, kernel=40),
    "stack": partial(StackRNN, num_stacks=2, cell_size=3),
    "stack-small": partial(StackRNN, stack_size=2),
    "tape": partial(TapeRNN, num_tapes=2, cell_size=3, tape_size=7, mask_id=MASK),
}
CAUSAL = {
    **{name: partial(registered, name) for name, model in MODELS.items() if model.kind == "mixer"},
    **{name: partial(Mixers, mixer=mixer, d_model=8) for name, mixer in MIXERS.items()},
    "bare": partial(Mixers, mixer=Elman, d_model=8, order="bare"),
    "base-convolutions": partial(BaseConvolutions, d_model=8, kernels=(3, 40)),
    "hybrid": partial(Mixers, mixer=[BaseConv, GRU], d_model=8, num_layers=3, mlp=0),
    **{
        f"transformer-{position}": partial(Transformer, d_model=8, num_heads=2, position=position)
        for position in POSITIONS
    },
    "transformer-post": partial(Transformer, d_model=8, order="post", activation="relu"),
    "transformer-sandwich": partial(
        Transformer, d_model=8, order="sandwich", norm="rms", activation="gated-gelu"
    ),
    "looped-causal": partial(LoopedTransformer, d_model=8, rounds=3, causal=True),
    "transformer-no-mlp": partial(Transformer, d_model=8, num_heads=1, mlp=0),
}
ENCODERS = {
    **{
        f"encoder-{position}": partial(
            Transformer, d_model=8, num_heads=2, position=position, causal=False
        )
        for position in POSITIONS
    },
    "encoder-count-down": partial(
        Transformer, d_model=8, position="sinusoidal", causal=False, count_down=True
    ),
    "looped": partial(LoopedTransformer, d_model=8, num_layers=2, rounds=3, dropout=0.1),
}
BACKBONES = {**CAUSAL, **ENCODERS}


def make(name, seed=0, **options):
    torch.manual_seed(seed)
    return BACKBONES[name](VOCABULARY, **options).double().eval()


def padded_rows(width=12, seed=0):
    """Tokens `(5, width)` of rows of several lengths, and the lengths."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([width, 1, 7, 3, width - 1])
    tokens = torch.randint(1, MASK, (5, width), generator=generator)
    return tokens * (torch.arange(width) < lengths[:, None]), lengths
