"""Measure SmolLM2 on a text task: the figures of the page "Language models" of the documentation.

    python examples/llm/results.py ctl easy            # every part that is not measured yet
    python examples/llm/results.py ctl easy zero-shot  # one part
    python examples/llm/results.py ctl easy fine-tuned --steps 200 --batch 8 --rate 7e-5

Prints each part's result as it is written to `examples/results/llm/TASK-LEVEL.json`. A GPU is used
if there is one. Training saves its state in the cache every five minutes, until the learning rate
falls, and a later call goes on from there, also with more `--steps`.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import smollm2
import torch
from shared_beginning import batches, loss, replies

import synthbench
from synthbench import DatasetDirectory, llm
from synthbench.evaluation.unreadable import why_unread
from synthbench.llm.conversations import answer_format
from synthbench.training.options import Setting
from synthbench.training.setting import machine
from synthbench.training.train_fit import FIT_ROWS, fit_of

RESULTS = Path(__file__).parents[1] / "results/llm"
#: The most rows of each held-out split that are asked.
ASKED = 200
#: Replies to each split that are kept.
SHOWN = 3
#: Rows of the datasets, if the task has a split; some have fewer at a level.
ROWS = {"train": 4000, "iid": ASKED, "test": ASKED}
FEWER = {
    ("ctl", "easy"): {"train": 856, "iid": 176},
    ("parity", "easy"): {"train": 389, "test": 154},
}
#: Steps in which the learning rate rises.
WARM_UP = 10
#: Seconds of training between two saved states.
SAVED = 300
#: Where the model computes.
SETTING = Setting("auto")
DEVICE = SETTING.device


def main(task: str, level: str, parts: list[str], training: dict[str, Any]) -> None:
    file = RESULTS / f"{task}-{level}.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"parts": {}}
    place = _dataset(task, level)
    wording = {"prompt": answer_format(synthbench.task(task, level=level))}
    for part in parts or PARTS:
        options = training if part == "fine-tuned" else {}
        asked = wording if part in PROMPTED else options
        known = found["parts"].get(part)
        if known and all(known.get(name) == value for name, value in asked.items()):
            continue
        begun = time.process_time()
        measured = PARTS[part](place, **options)
        if part != "shortcuts":
            measured |= wording
        earlier = measured.pop("earlier_seconds", 0.0)
        measured["cpu_seconds"] = round(earlier + time.process_time() - begun)
        measured["machine"] = machine(SETTING)
        found = {**_setting(task, level), "parts": {**found["parts"], part: measured}}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(part, json.dumps(measured), flush=True)


def _dataset(task: str, level: str) -> str:
    """The directory of the dataset, which is made if it is not there."""
    place = smollm2.CACHE / "results" / f"{task}-{level}"
    made = synthbench.task(task, level=level)
    splits = [split.name for split in made.splits]
    rows = {name: count for name, count in ROWS.items() if name in splits}
    rows |= FEWER.get((task, level), {})
    synthbench.generate(made, out=place, preset="small", rows=rows)
    return str(place)


def _setting(task: str, level: str) -> dict[str, Any]:
    """What the figures are of."""
    made = synthbench.task(task, level=level)
    return {
        "command": f"python examples/llm/results.py {task} {level}",
        "synthbench": synthbench.__version__,
        "task": task,
        "level": level,
        "bucket": made.bucket_name,
        "trained_on": list(made.split("train").buckets),
    }


def shortcuts(place: str) -> dict[str, Any]:
    """Chance, and the best shortcut of the audit that answers all rows of a split."""
    (audit,) = synthbench.audit(place, progress=False).to_dict()["variants"].values()
    found = {}
    for split in _held_out(place):
        figures = {
            one["name"]: one["splits"][split]["figures"]["accuracy"]
            for one in audit["shortcuts"]
            if split in one["splits"]
        }
        rows = max(figure["rows"] for figure in figures.values())
        figures = {name: figure for name, figure in figures.items() if figure["rows"] == rows}
        best = max(figures, key=lambda name: figures[name]["mean"])
        chance = audit["splits"][split]["reference"]["chance"]["accuracy"]
        found[split] = {"chance": chance, "best": best, **figures[best]}
    return found


def zero_shot(place: str) -> dict[str, Any]:
    """The model as it is."""
    return _evaluated(smollm2.load()[0], place, _held_out(place))


def eight_examples(place: str) -> dict[str, Any]:
    """The model as it is, with eight worked examples before each question."""
    return _evaluated(smollm2.load()[0], place, _held_out(place), shots=8)


def fine_tuned(
    place: str, steps: int = 100, batch: int = 32, rate: float = 2e-4, decay: int = 0
) -> dict[str, Any]:
    """The model after so many steps on rows of train with their answers, `batch` rows each.

    In the last `decay` steps the learning rate falls to zero. Their state is not saved: a longer
    training must not go on from a rate that has fallen.
    """
    model, tokenizer = smollm2.load()
    model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0, fused=True)
    losses: list[float] = []
    earlier, begun = 0.0, time.process_time()
    state = Path(f"{place}-{batch}-{rate}.pt")
    if state.exists():
        saved = torch.load(state, map_location=DEVICE)
        losses, earlier = saved["losses"], saved.get("seconds", 0.0)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    rows = list(llm.sft_examples(place))
    # On a CPU that has it two thirds of the time of float32, on others ten times its time.
    bfloat16 = DEVICE.type == "cuda" or bool(torch.cpu.get_capabilities().get("avx512_bf16"))
    last_saved = time.monotonic()
    for taken in batches(tokenizer, rows, len(losses), batch):
        if len(losses) >= steps:
            break
        falling = (steps - len(losses)) / decay if decay else 1.0
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (len(losses) + 1) / WARM_UP, falling)
        model.train()
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=bfloat16):
            value = loss(model, taken)
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(value.item())
        print(f"step {len(losses)}: loss {losses[-1]:.3f}", flush=True)
        due = time.monotonic() - last_saved > SAVED or len(losses) == steps
        if due and falling >= 1:
            saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            seconds = earlier + time.process_time() - begun
            progress = {"losses": losses, "seconds": seconds}
            torch.save({**saved, **progress}, state.with_suffix(".new"))
            state.with_suffix(".new").replace(state)
            last_saved = time.monotonic()
    found = _evaluated(model, place, ["train", *_held_out(place)])
    learned = (found["train"]["accuracy"],) * 2
    fit = fit_of("accuracy", found["train"]["rows"], learned, learned)
    training = {"steps": len(losses), "batch": batch, "rate": rate, "decay": decay}
    seen = {"training_rows": len(rows), "earlier_seconds": earlier}
    return {**training, **seen, "fit": fit, **found}


def _held_out(place: str) -> list[str]:
    (splits,) = DatasetDirectory.open(place).manifest.variants.values()
    return [split for split in ("iid", "test") if split in splits]


def _evaluated(model: Any, place: str, splits: list[str], shots: int = 0) -> dict[str, Any]:
    """Accuracy with its 95% interval on each split, and by depth or length."""
    found, task = {}, DatasetDirectory.open(place).make_task()
    for split in splits:
        most = FIT_ROWS if split == "train" else ASKED
        rows = llm.prompts(place, split, limit=most, shots=shots)
        written = replies(model.to(DEVICE), smollm2.load()[1], rows["prompt"])
        report = llm.evaluate(rows, written, place).to_dict()
        found[split] = {
            **{name: report[name] for name in ("rows", "accuracy", "accuracy_interval")},
            **{name: report[name] for name in ("unparsed", "by")},
            "replies": [
                {"answer": row["answer"], "reply": reply, "unread": why_unread(task, row, reply)}
                for row, reply in zip(rows.take(SHOWN), written, strict=False)
            ],
        }
    return found


#: Parts that are measured again if prompts state the form of the answer in other words; a training
#: takes too long for that.
PROMPTED = ("zero-shot", "eight examples")
PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "shortcuts": shortcuts,
    "zero-shot": zero_shot,
    "eight examples": eight_examples,
    "fine-tuned": fine_tuned,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("level")
    parser.add_argument("part", nargs="*", help=f"any of {', '.join(PARTS)}; default: all")
    parser.add_argument("--steps", type=int, help="of training")
    parser.add_argument("--batch", type=int, help="rows of a step")
    parser.add_argument("--rate", type=float, help="the learning rate")
    parser.add_argument("--decay", type=int, help="last steps, in which the rate falls to zero")
    given = vars(parser.parse_args())
    task, level, parts = (given.pop(name) for name in ("task", "level", "part"))
    main(task, level, parts, {name: value for name, value in given.items() if value is not None})
