"""Train a small BERT with the Trainer of Hugging Face, and evaluate it on the other splits.

It reads arithmetic, one character a token: fresh rows for training, a dataset for evaluation.
Printed is how many rows it answers, by depth.
`python examples/huggingface_trainer.py 5000` takes 5,000 steps; 50 show only that it runs.
"""

import sys
import tempfile

from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

import synthbench
from synthbench.streaming.torch import TorchStream
from synthbench.tasks.registry import task as make_task

TASK = make_task("arithmetic")
WIDTH = TASK.parameters.max_length  # as wide as the stream makes its rows


def main(steps: int) -> None:
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=TASK.vocabulary.size,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=WIDTH,
            num_labels=len(TASK.labels),
        )
    )
    with tempfile.TemporaryDirectory() as place:
        arguments = TrainingArguments(
            output_dir=place,
            max_steps=steps,
            per_device_train_batch_size=64,
            per_device_eval_batch_size=256,
            learning_rate=1e-3,
            dataloader_pin_memory=False,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        rows = TorchStream("arithmetic", batch_size=None, encode=True)
        trainer = Trainer(model, arguments, train_dataset=rows)
        trainer.train()
        for split in ("iid", "test"):
            dataset = synthbench.load_dataset("arithmetic", split, preset="small")
            encoded = dataset.map(
                lambda batch: TASK.vocabulary.model_inputs(batch["text"], WIDTH), batched=True
            )
            answers = trainer.predict(encoded).predictions.argmax(axis=1)
            print(synthbench.evaluate(dataset, answers, task="arithmetic"), end="\n\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
