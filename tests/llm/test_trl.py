"""TRL's GRPOTrainer takes our prompts and our reward, as the example uses them."""

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

if any(importlib.util.find_spec(name) is None for name in ("trl", "transformers", "torch")):
    pytest.skip("trl is not installed: the extras trl and dev have it", allow_module_level=True)

# A framework's own warnings are not ours.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

EXAMPLE = Path(__file__).parents[2] / "examples/llm/grpo.py"


def write_tiny_gpt2(path):
    """A random GPT-2 that reads and writes bytes."""
    import tokenizers
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {name: number for number, name in enumerate(["<end>", *letters])}
    by_bytes = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges=[]))
    by_bytes.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    by_bytes.decoder = tokenizers.decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=by_bytes,
        eos_token="<end>",
        pad_token="<end>",
        chat_template="{% for message in messages %}{{ message['content'] }}\n{% endfor %}",
    ).save_pretrained(path)
    torch.manual_seed(0)
    shape = {"n_positions": 512, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = GPT2Config(vocab_size=len(vocabulary), bos_token_id=0, eos_token_id=0, **shape)
    GPT2LMHeadModel(config).save_pretrained(path)


def test_two_steps_of_grpo_with_a_tiny_random_gpt2(tmp_path, monkeypatch, capsys):
    write_tiny_gpt2(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    monkeypatch.setattr("sys.argv", [str(EXAMPLE), "2", str(tmp_path)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.findall(r"^step (\d): mean reward [01]\.\d\d$", printed, re.MULTILINE) == ["1", "2"]
