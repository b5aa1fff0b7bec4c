"""Layers of public libraries, asked by `check-layer`: `python -m benchmarks layers [WORD ...]`.

Every layer of the libraries that are installed is asked all questions at width 64 and 256
positions, on a CPU, at random parameters. WORDs choose layers whose name contains one of them.
`--out` writes the answers, a line of JSON a layer. The page *Layers of public libraries* of the
documentation shows `benchmarks/public-layers.jsonl`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import io
import json
import re
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from synthbench.errors import SynthbenchError
from synthbench.text.tables import Table, render
from synthbench.training.layer_checks.answer import FAIL, PASS, LayerReport
from synthbench.training.layer_checks.check import QUESTIONS, check_layer
from synthbench.training.models.references import load

_X = "x_transformers.x_transformers"
#: By library: references of layers, each with its options.
LAYERS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "torch": [
        ("torch.nn:GRU", {"hidden_size": 64, "batch_first": True}),
        ("torch.nn:LSTM", {"hidden_size": 64, "batch_first": True}),
        ("torch.nn:RNN", {"hidden_size": 64, "batch_first": True}),
    ],
    "x-transformers": [
        (f"{_X}:Attention", {"heads": 4, "causal": True}),
        *(
            (f"{_X}:AttentionLayers", {"depth": 1, "heads": 4, "causal": True, **more})
            for more in (
                {},
                {"rotary_pos_emb": True},
                {"alibi_pos_bias": True},
                {"rel_pos_bias": True},
                {"dynamic_pos_bias": True},
                {"shift_tokens": 1},
                {"attn_sparse_topk": 8},
                {"attn_selective": True},
                {"attn_use_cope": True, "attn_flash": False},
                {"attn_sigmoid": True},
                {"attn_data_dependent_alibi": True},
                {"attn_num_mem_kv": 4},
                {"attn_cog_signed": True},
                {"attn_gumbel_softmax": True},
                {"attn_l2_distance": True},
                {"attn_inverted_attention": True},
                {"residual_attn": True, "depth": 2},
                {"add_value_residual": True, "depth": 2},
                {"num_residual_streams": 4, "depth": 2},
                {"integrate_layers": True, "depth": 2},
                {"zero_init_branch_output": True},
                {"polar_pos_emb": True},
                {"orthog_residual": True},
                {"mv_split_residual": True},
                {"attn_orthog_projected_values": True},
            )
        ),
    ],
    "performer-pytorch": [
        ("performer_pytorch:SelfAttention", {"heads": 4, "causal": True}),
    ],
    "reformer-pytorch": [
        ("reformer_pytorch:LSHSelfAttention", {"heads": 4, "causal": True, "bucket_size": 8}),
    ],
    "mega-pytorch": [
        ("mega_pytorch:MegaLayer", {"attn_dim_value": 64}),
        ("mega_pytorch:MegaLayer", {"attn_dim_value": 64, "laplacian_attn_fn": True}),
        ("mega_pytorch:MegaLayer", {"attn_dim_value": 64, "norm_mhesa_heads": True}),
    ],
    "minGRU-pytorch": [
        ("minGRU_pytorch:minGRU", {}),
        ("minGRU_pytorch:minGRU", {"expansion_factor": 1.5}),
    ],
    "local-attention": [
        ("local_attention:LocalMHA", {"window_size": 16, "heads": 4, "causal": True}),
        (
            "local_attention:LocalMHA",
            {"window_size": 16, "heads": 4, "causal": True, "use_xpos": True,
             "xpos_scale_base": 16},
        ),
    ],
    "linear-attention-transformer": [
        (
            "linear_attention_transformer:LinearAttentionTransformer",
            {"depth": 1, "max_seq_len": 256, "heads": 4, "causal": True},
        ),
        (
            "linear_attention_transformer:LinearAttentionTransformer",
            {"depth": 1, "max_seq_len": 256, "heads": 4, "causal": True, "blindspot_size": 64},
        ),
    ],
    "routing-transformer": [
        (
            "routing_transformer:RoutingTransformer",
            {"depth": 1, "max_seq_len": 256, "heads": 4, "window_size": 64, "causal": True},
        ),
    ],
    "sinkhorn-transformer": [
        (
            "sinkhorn_transformer:SinkhornTransformer",
            {"depth": 1, "heads": 4, "bucket_size": 16, "max_seq_len": 256, "causal": True},
        ),
    ],
    "gateloop-transformer": [
        ("gateloop_transformer:SimpleGateLoopLayer", {}),
        ("gateloop_transformer:SimpleGateLoopLayer", {"use_heinsen": True}),
        ("gateloop_transformer.gateloop_transformer:GateLoopedAttention", {}),
    ],
    "titans-pytorch": [
        ("titans_pytorch:NeuralMemory", {"chunk_size": 16}),
        ("titans_pytorch.mac_transformer:SegmentedAttention", {"segment_len": 16, "heads": 4}),
        (
            "titans_pytorch.mac_transformer:SegmentedAttention",
            {"segment_len": 16, "heads": 4, "sliding": True},
        ),
    ],
    "s5-pytorch": [("s5:S5", {}), ("s5:S5Block", {"state_dim": 64, "bidir": False})],
    "ring-attention-pytorch": [
        ("ring_attention_pytorch:RingAttention", {"heads": 4, "causal": True}),
    ],
    "native-sparse-attention-pytorch": [
        (
            "native_sparse_attention_pytorch:SparseAttention",
            {"dim_head": 16, "heads": 4, "sliding_window_size": 8, "compress_block_size": 8,
             "compress_block_sliding_stride": 4, "selection_block_size": 8,
             "num_selected_blocks": 2, "causal": True},
        ),
    ],
}  # fmt: skip


def _mambapy(width: int) -> nn.Module:
    from mambapy.mamba import MambaBlock, MambaConfig

    class Mamba(MambaBlock):  # type: ignore[misc]
        def step(self, states: Tensor, memory: Any) -> Any:
            if memory is None:
                shape = len(states), self.config.d_inner, self.config.d_conv - 1
                memory = None, states.new_zeros(shape)
            output, memory = super().step(states[:, 0], memory)
            return output[:, None], memory

    return Mamba(MambaConfig(d_model=width, n_layers=1))


def _mambapy2(width: int) -> nn.Module:
    from mambapy.mamba2 import Mamba2Block, Mamba2Config

    return Mamba2Block(Mamba2Config(d_model=width, n_layers=1, d_head=16))  # type: ignore


def _mlstm(width: int) -> nn.Module:
    from xlstm import mLSTMLayer, mLSTMLayerConfig

    class MLSTM(mLSTMLayer):  # type: ignore[misc]
        def step(self, states: Tensor, memory: Any) -> Any:
            return super().step(states, **(memory or {}))

    return MLSTM(mLSTMLayerConfig(embedding_dim=width, num_heads=4, context_length=256))


def _slstm(width: int) -> nn.Module:
    from xlstm import sLSTMLayer, sLSTMLayerConfig

    class SLSTM(sLSTMLayer):  # type: ignore[misc]
        def step(self, states: Tensor, memory: Any) -> Any:
            return super().step(states, **(memory or {}))

    return SLSTM(sLSTMLayerConfig(embedding_dim=width, num_heads=4, backend="vanilla"))


class Embedded(nn.Module):
    """A model of the library transformers as a layer, by `inputs_embeds`."""

    def __init__(self, model: nn.Module, cache: str) -> None:
        super().__init__()
        self.model, self._cache = model, cache

    def forward(self, states: Tensor) -> Tensor:
        """States to last hidden states."""
        output = self.model(inputs_embeds=states, use_cache=False)
        last: Tensor = output.last_hidden_state
        return last

    def step(self, states: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """One position, with the model's cache."""
        output = self.model(inputs_embeds=states, use_cache=True, **{self._cache: memory})
        return output.last_hidden_state, output[self._cache]


def _transformers(name: str, width: int) -> nn.Module:
    import transformers

    config, cache, options = TRANSFORMERS[name]
    configuration = getattr(transformers, config)(
        vocab_size=2, hidden_size=width, num_hidden_layers=2, **options
    )
    model = transformers.AutoModel.from_config(configuration)
    model.get_input_embeddings().weight.requires_grad_(False)  # states take their place
    return Embedded(model, cache)


_HEADS = {"num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128}
#: Models of transformers: their configuration, the name of their cache, and sizes.
TRANSFORMERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Llama": ("LlamaConfig", "past_key_values", _HEADS),
    "GPT2": ("GPT2Config", "past_key_values", {"num_attention_heads": 4}),
    "RecurrentGemma": ("RecurrentGemmaConfig", "past_key_values", {**_HEADS, "lru_width": 64}),
    "Mamba": ("MambaConfig", "cache_params", {}),
    "Mamba2": ("Mamba2Config", "cache_params", {"num_heads": 8, "head_dim": 16, "n_groups": 1}),
    "FalconMamba": ("FalconMambaConfig", "cache_params", {}),
    "RWKV": ("RwkvConfig", "state", {}),
    "xLSTM": ("xLSTMConfig", "cache_params", {"num_heads": 4}),
    "LFM2": ("Lfm2Config", "past_key_values", _HEADS),
    "DiffLlama": ("DiffLlamaConfig", "past_key_values", _HEADS),
    "Qwen3-Next": (
        "Qwen3NextConfig",
        "past_key_values",
        {**_HEADS, "num_experts": 4, "head_dim": 16, "linear_num_value_heads": 4,
         "linear_num_key_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
         "layer_types": ["linear_attention", "full_attention"]},
    ),
}  # fmt: skip
#: By library: functions that make a layer.
FUNCTIONS: dict[str, dict[str, Callable[[int], nn.Module]]] = {
    "mambapy": {"MambaBlock": _mambapy, "Mamba2Block": _mambapy2},
    "xlstm": {"mLSTMLayer": _mlstm, "sLSTMLayer": _slstm},
    "transformers": {name: functools.partial(_transformers, name) for name in TRANSFORMERS},
}


def layers() -> list[tuple[str, str, Any, Mapping[str, Any]]]:
    """All layers: library, name, what makes it, and its options."""
    entries: list[tuple[str, str, Any, Mapping[str, Any]]] = []
    for library, references in LAYERS.items():
        for reference, options in references:
            shown = ", ".join(
                f"{name}={value}" for name, value in options.items() if name not in _USUAL
            )
            name = reference.rpartition(":")[2]
            entries.append((library, f"{name}({shown})" if shown else name, reference, options))
    for library, functions in FUNCTIONS.items():
        entries += [(library, name, source, {}) for name, source in functions.items()]
    return entries


#: Options that say nothing about a layer.
_USUAL = (
    *("heads", "depth", "verbose", "batch_first", "hidden_size", "max_seq_len", "dim_head"),
    *("attn_dim_value", "attn_flash", "causal"),
)


def ask(source: Any, options: Mapping[str, Any]) -> LayerReport | str:
    """The report on a layer, or the error of a layer that cannot be asked."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            layer = load(source) if isinstance(source, str) else source
            return check_layer(layer, options=options, device="cpu")
    except (SynthbenchError, SystemExit, ImportError) as error:  # a layer may lack a package
        return str(error)


def main(words: list[str]) -> None:
    """Ask all layers, and print what fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks layers", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--out", metavar="FILE.jsonl", type=Path)
    arguments = parser.parse_args(words)
    lines, answers = [], []
    for library, name, source, options in layers():
        if arguments.words and not any(word in f"{library} {name}" for word in arguments.words):
            continue
        try:
            version = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            print(f"{library} is not installed")
            continue
        started = time.perf_counter()
        report = ask(source, options)
        seconds = time.perf_counter() - started
        if isinstance(report, str):
            print(f"{library} {name}: {report}")
            continue
        marks = [_mark(report, question) for question in QUESTIONS]
        print(f"{library} {name}: {seconds:.1f} s", flush=True)
        lines.append([f"{library} {version}", f"`{name}`", *marks])
        answers.append(
            {
                "library": library,
                "version": version,
                "layer": name,
                "failed": [answer.question for answer in report.failed],
                "seen": short(report.failed[0].seen) if report.failed else "",
            }
        )
        for answer in report.failed:
            print(f"    {answer.question}: {answer.seen} ({answer.where})", flush=True)
    table = Table(("library", "layer", *QUESTIONS), lines)
    if arguments.out:
        text = "".join(json.dumps(answer, separators=(",", ":")) + "\n" for answer in answers)
        arguments.out.write_text(text, encoding="utf-8")
    print(render(table))


def _mark(report: LayerReport, question: str) -> str:
    return {PASS: "+", FAIL: "**no**"}.get(report[question].verdict, "·")


def short(seen: str) -> str:
    """A failure in a few words: without the error that the layer raised."""
    return re.split(r"[;:] (?:forward of|it draws)", seen)[0]
