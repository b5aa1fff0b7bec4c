"""Train a small BERT with the Trainer of Hugging Face, and evaluate it on every split.

It reads arithmetic, one character a token. Printed is how many rows it answers, by depth.
`python examples/huggingface_trainer.py 5000` takes 5,000 steps; 50 show only that it runs.
"""

import sys
import tempfile
from typing import Any

import torch
from datasets import load_dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

import synthbench
from synthbench.registry import make_task

TOKENS = make_task("arithmetic").tokens


def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """Rows as tensors: tokens and mask `(rows, length)`, 0 for padding; labels `(rows,)`."""
    tokens = [torch.tensor([1 + TOKENS.index(one) for one in row["text"]]) for row in rows]
    padded = torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True)
    labels = torch.tensor([row["label"] for row in rows])
    return {"input_ids": padded, "attention_mask": (padded != 0).long(), "labels": labels}


def main(steps: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/arithmetic"
        synthbench.generate("arithmetic", out=directory, preset="small")
        dataset = load_dataset(directory, cache_dir=f"{place}/cache")
        config = BertConfig(
            vocab_size=1 + len(TOKENS),
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=50,
            num_labels=dataset["train"].features["label"].num_classes,
        )
        arguments = TrainingArguments(
            output_dir=f"{place}/trainer",
            max_steps=steps,
            per_device_train_batch_size=64,
            per_device_eval_batch_size=256,
            learning_rate=1e-3,
            remove_unused_columns=False,
            dataloader_pin_memory=False,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        model = BertForSequenceClassification(config)
        trainer = Trainer(model, arguments, collate, train_dataset=dataset["train"])
        trainer.train()
        for split in ("iid", "test"):
            answers = trainer.predict(dataset[split]).predictions.argmax(axis=1)
            print(synthbench.evaluate(directory, answers, split=split), end="\n\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
