"""Trainings one after another, until a time."""

from benchmarks.queue.rows import data_of
from benchmarks.queue.trainer import Trainer
from synthbench.errors import DatasetError
from synthbench.tasks.registry import task as make_task


def work(trainings, folder, setting, until, commit=None, say=lambda line: None):
    """Take the next trainings from the top; the one under way goes on first.

    Args:
        trainings: all of them, in order.
        folder: results and state.
        setting: how they are computed.
        until: a time of `time.monotonic` after which no step is begun.
        commit: the code's commit, for results.
        say: gets a line about each piece.

    Returns:
        Whether all are done.

    Raises:
        DatasetError: the folder's state is of none of them, or broken.
    """
    under_way = folder.under_way()
    if under_way and under_way["name"] not in {one.name for one in trainings}:
        raise DatasetError(f"{folder.path}: the queue has no training {under_way['name']!r}.")
    tasks, data, trainers = {}, {}, {}
    order = sorted(trainings, key=lambda one: not under_way or one.name != under_way["name"])
    for training in order:
        if is_done(training, folder.results()):
            continue
        of = training.study.task, training.variant
        if of not in tasks:
            tasks[of] = make_task(*of, **training.study.parameters)
            data[of] = data_of(tasks[of], setting.device)
        key = *of, training.recipe.name
        if key not in trainers:
            trainers = {key: Trainer(training, tasks[of], data[of], setting)}
        ended = trainers[key].train(training, folder, until, commit)
        say(f"{training.name}: {'done' if ended else 'to be continued'}")
        if not ended:
            return False
    return True


def is_done(training, results):
    """Whether a training has reached its last mark."""
    result = results.get(training.name)
    return result is not None and result["steps"] >= training.marks[-1]
