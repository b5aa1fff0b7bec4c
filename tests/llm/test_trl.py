"""TRL's GRPOTrainer takes our prompts and our reward."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from synthbench import llm

if any(importlib.util.find_spec(name) is None for name in ("trl", "transformers", "torch")):
    pytest.skip("trl is not installed: the extras trl and dev have it", allow_module_level=True)

# A framework's own warnings are not ours.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def test_two_steps_of_grpo_with_a_tiny_random_gpt2(tmp_path: Path) -> None:
    import tokenizers
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {name: number for number, name in enumerate(["<end>", *letters])}
    by_bytes = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges=[]))
    by_bytes.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    by_bytes.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=by_bytes,
        eos_token="<end>",
        pad_token="<end>",
        chat_template="{% for message in messages %}{{ message['content'] }}\n{% endfor %}",
    )
    torch.manual_seed(0)
    shape = {"n_positions": 512, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = GPT2Config(vocab_size=len(vocabulary), bos_token_id=0, eos_token_id=0, **shape)

    seen = []
    reward = llm.trl_reward("parity")

    def watched(completions: list[object], **columns: object) -> list[float]:
        rewards = reward(completions, **columns)
        seen.append((columns["label"], rewards))
        return rewards

    trainer = GRPOTrainer(
        model=GPT2LMHeadModel(config),
        reward_funcs=[watched, reward],
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=2,
            per_device_train_batch_size=4,
            num_generations=2,
            max_completion_length=8,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
        ),
        train_dataset=llm.prompts("parity", split="train", limit=8, preset="small"),
        processing_class=tokenizer,
    )
    trainer.train()
    assert trainer.state.global_step == 2
    assert len(seen) == 2
    for labels, rewards in seen:
        assert len(labels) == len(rewards) == 4  # type: ignore[arg-type]
        assert set(rewards) <= {0.0, 1.0}
    assert "rewards/synthbench_parity/mean" in trainer.state.log_history[0]
