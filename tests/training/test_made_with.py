"""Layers are made with their width wherever it is asked for; errors say how any other fits."""

from __future__ import annotations

import functools
import re

import pytest
import torch
from torch import nn

import synthbench
from synthbench.errors import SynthbenchError
from synthbench.training.forms import form_of
from synthbench.training.models import build
from synthbench.training.models.made_with import width_name

SIZES = {"vocabulary": 16, "outputs": 10}
HEAD = """import collections
import torch
from torch import nn

class Base(nn.Module):
    def start(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, states):
        return self.linear(states)

"""


@functools.cache
def form():
    return form_of(synthbench.task("listops"))


def built(reference, **options):
    kind = {"num_layers": 1, "d_model": 8} if reference.startswith("layer ") else {}
    torch.manual_seed(0)
    return build(reference, form(), SIZES, {**kind, **options})


def forward(reference, **options):
    tokens, lengths = torch.ones(2, 5, dtype=torch.int64), torch.tensor([5, 3])
    return built(reference, **options)(tokens, lengths).scores


def refusal(reference, **options):
    with pytest.raises(SynthbenchError) as caught:
        forward(reference, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("signature", "named"),
    [
        *((f"self, *, {name}", name) for name in ("dim", "d_model", "embed_dim", "hidden_size")),
        *((f"self, *, {name}=1, p=0.0", name) for name in ("embedding_dim", "input_size")),
        ("self, *, heads=2, dim", "dim"),
        ("self, *, feature_count, p=0.0", "feature_count"),
        ("self, mode='chunk', d_model=None, hidden_size=4", "d_model"),
        ("self, heads=2, dim=4", "dim"),
        ("self, size", "size"),
        ("self, n, dim=4", "n"),
        ("self, hidden_size, dim=4", "hidden_size"),
        ("self, n, /", "n"),
    ],
)
def test_a_layer_gets_its_width_where_it_asks_for_it(tmp_path, signature, named):
    file = tmp_path / "mine.py"
    body = f"class Mine(Base):\n    def __init__({signature}):\n        self.start({named})\n"
    file.write_text(HEAD + body, encoding="utf-8")
    assert forward(f"layer {file}:Mine").shape == (2, 10)


def test_a_layer_of_any_arguments_gets_its_width_first():
    assert width_name(nn.GRU) is None
    options = {"hidden_size": 8, "batch_first": True}
    assert forward("layer torch.nn:GRU", **options).shape == (2, 10)


CONFIG = "class Mine(Base):\n    def __init__(self, config):\n        self.start(config.dim)\n"
INSIDE = "class Mine(Base):\n    def __init__(self, dim):\n        self.start(dim)\n"
RETURNS = INSIDE + "    def forward(self, states):\n        states = self.linear(states)\n        "


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (CONFIG, r"line 15, Mine\(config=8\): AttributeError: 'int' object has no attribute 'dim'"),
        (INSIDE.replace("dim", "dim, heads"), r"line 13, Mine needs 'heads'"),
        (INSIDE + "    def forward(self, states, key, value):\n        return states\n",
         r"line 16, forward of Mine\(float32 \(2, 5, 8\)\): TypeError: .*'key' and 'value'"),
        (RETURNS + "return {'out': states}", r"gave dict \(out: float32 \(2, 5, 8\)\): expected"),
        (RETURNS + "return [states, None]", r"gave list \(float32 \(2, 5, 8\), NoneType\): exp"),
        (RETURNS + "return None", "gave NoneType None: expected states"),
        (RETURNS + "return states.long()", r"gave int64 \(2, 5, 8\): expected states \(2, 5, 8\)"),
        (RETURNS + "return collections.namedtuple('Out', 'n')(states[0])", r"gave float32 \(5, 8"),
        ("def Mine(width):\n    return nn.MultiheadAttention(width, 2)\n",
         r"line 13, forward of MultiheadAttention\(float32 \(2, 5, 8\)\): TypeError"),
        ("def Mine(width):\n    return {'a': torch.zeros(99)}\n",
         r"line 13, Mine makes dict \(a: float32 \(99,\)\): expected an nn.Module"),
        ("class Mine(Base):\n    def __init__(self, **options):\n        self.start(8)\n",
         "line 13, Mine takes no width"),
    ],
)  # fmt: skip
def test_an_error_names_line_shapes_and_the_function_that_solves_it(tmp_path, body, said):
    file = tmp_path / "mine.py"
    file.write_text(HEAD + body, encoding="utf-8")
    text = refusal(f"layer {file}:Mine")
    assert text.startswith(f"{file}, line ")
    assert re.search(said, text), text
    assert "`def layer(width): return " in text and "--layer FILE.py:layer" in text
    assert "tensor(" not in text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("{file}:made", "is Mine: expected a class or a function"),
        ("{file}:lyer", r"Unknown class or function .*, layer. Did you mean 'layer'"),
        ("torch:relu", r"relu does not report its arguments\. A function makes it fit"),
        ("builtins:int", r"int does not report its arguments\. A function makes it fit"),
    ],
)
def test_a_reference_to_anything_else_is_refused(tmp_path, name, said):
    file = tmp_path / "mine.py"
    functions = "made = Mine(8)\ndef layer(width):\n    return Mine(width)\n"
    file.write_text(HEAD + INSIDE + functions, encoding="utf-8")
    assert re.search(said, refusal(f"layer {name.format(file=file)}"))


def test_of_a_librarys_class_the_class_and_the_call_are_named():
    text = refusal("layer torch.nn:MultiheadAttention", num_heads=2)
    start = "forward of MultiheadAttention(float32 (2, 5, 8)): TypeError: "
    assert text.startswith(start) and "return Adapter(...)" in text
    text = refusal("layer torch.nn:GRU")
    assert text.startswith("GRU(8): TypeError: ") and "return GRU(...)" in text


def test_a_model_that_gives_another_type_is_refused_with_its_line_and_shapes(tmp_path):
    file = tmp_path / "mine.py"
    body = """
from transformers import GPT2Config, GPT2Model

def Mine(vocabulary, outputs):
    sizes = {"n_embd": 8, "n_layer": 1, "n_head": 2, "bos_token_id": None, "eos_token_id": None}
    return GPT2Model(GPT2Config(vocab_size=vocabulary, **sizes))
"""
    pytest.importorskip("transformers", reason="the extra dev has it")
    file.write_text(body, encoding="utf-8")
    text = refusal(f"{file}:Mine")
    assert text.startswith(f"{file}, line 4, forward of GPT2Model gave BaseModelOutput")
    assert "last_hidden_state: float32 (2, 5, 8)" in text and "tensor(" not in text
    assert "`def model(vocabulary, outputs): return Adapter(...)`" in text
