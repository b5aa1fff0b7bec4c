"""Each rank writes the rows that it reads in every way asked for.

    torchrun ... read_rows.py OUT WAY ...
    python read_rows.py RANKS OUT WAY ...

A way is the reader (`plain`, `accelerate`, `trainer`), the number of workers, and options. The
second command gives its ranks what `torchrun` gives them. Its ranks are forks, so that PyTorch and
the library are imported once.
"""

import importlib
import itertools
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import torch
from torch import distributed
from torch.utils.data import DataLoader

from synthbench.errors import UsageError
from synthbench.streaming import rounds

if __name__ in ("__main__", "__mp_main__"):  # the latter in workers that are spawned
    rounds.ROUND_ROWS = 256
#: What the ranks would else import each for itself.
LIBRARIES = {
    "accelerate": [("accelerate", "Accelerator"), ("torchdata.stateful_dataloader", "__name__")],
    "trainer": [("transformers", "Trainer"), ("torch._dynamo", "__name__")],
}
#: Two rounds, which ranks and workers read together.
ROWS, BATCH = 512, 32


def plain(stream, workers, count, options):
    context = {"multiprocessing_context": "spawn"} if "spawn" in options else {}
    loader = DataLoader(stream(batch_size=BATCH), batch_size=None, num_workers=workers, **context)
    return [batch["input_ids"].tolist() for batch in itertools.islice(loader, count)]


def accelerate(stream, workers, count, options):
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration

    chosen = DataLoaderConfiguration(
        **sharing(options), use_stateful_dataloader="stateful" in options
    )
    accelerator = Accelerator(cpu=True, dataloader_config=chosen)
    rows = stream(batch_size=BATCH if "whole" in options else None, **ranks(options))
    size = None if "whole" in options else BATCH
    loader = DataLoader(rows, batch_size=size, num_workers=workers)
    if "unprepared" not in options:
        loader = accelerator.prepare(loader)
    return [batch["input_ids"].tolist() for batch in itertools.islice(loader, count)]


def trainer(stream, workers, count, options):
    from transformers import Trainer, TrainingArguments

    class Recorder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.seen = torch.nn.Parameter(torch.zeros(())), []

        def forward(self, input_ids, attention_mask, labels):
            self.seen.append(input_ids.tolist())
            return {"loss": self.weight * labels.sum()}

    recorder = Recorder()
    with tempfile.TemporaryDirectory() as place:
        arguments = TrainingArguments(
            place,
            max_steps=count,
            per_device_train_batch_size=BATCH,
            dataloader_num_workers=workers,
            dataloader_pin_memory=False,
            accelerator_config=sharing(options),
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        Trainer(recorder, arguments, train_dataset=stream(batch_size=None)).train()
    return recorder.seen


def sharing(options):
    chosen = {"split_batches": "split" in options}
    if {"dispatch", "each"} & set(options):
        chosen["dispatch_batches"] = "dispatch" in options
    return chosen


def ranks(options):
    return {"rank": 0, "world_size": 1} if "given" in options else {}


def main(out, ways, **where):
    from synthbench.torch_stream import TorchStream

    distributed.init_process_group("gloo", **where)
    read = {}
    for way in ways:
        reader, workers, *options = way.split("-")
        task = {"copying": 2, "parity": 1} if "mixture" in options else "copying"
        size = BATCH // distributed.get_world_size() if "split" in options else BATCH
        count = ROWS // size // distributed.get_world_size()

        def stream(task=task, **arguments):
            return TorchStream(task, **arguments)

        try:
            batches = globals()[reader](stream, int(workers), count, options)
            read[way] = [row for batch in batches for row in batch]
        except UsageError as error:
            read[way] = str(error)
        distributed.barrier()
    rank = os.environ["RANK"]
    Path(out, f"{rank}.json").write_text(json.dumps(read), encoding="utf-8")
    distributed.barrier()
    distributed.destroy_process_group()


def fork(ranks, out, ways):
    """Run `main` in processes with the ranks of `torchrun`, which meet in a file.

    A store with threads, as `torchrun` keeps, can stop a fork for ever.
    """
    for library in LIBRARIES.keys() & {way.split("-")[0] for way in ways}:
        for module, name in LIBRARIES[library]:
            getattr(importlib.import_module(module), name)
    meeting = {"init_method": f"file://{Path(out, 'meeting').absolute()}", "world_size": ranks}
    shared = {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
    children = []
    for rank in range(ranks):
        if (child := os.fork()) == 0:
            os.environ |= {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            status = 1
            try:
                main(out, ways, rank=rank, **meeting)
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        children.append(child)
    for _ in range(ranks):
        child, ended = os.wait()
        children.remove(child)
        if os.waitstatus_to_exitcode(ended) != 0:  # the others would wait for it
            for other in children:
                os.kill(other, signal.SIGKILL)
            return 1
    return 0


if __name__ == "__main__":
    if "RANK" in os.environ:
        main(sys.argv[1], sys.argv[2:])
    else:
        sys.exit(fork(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
