"""What the queue costs, and what is done of it, as tables."""

from benchmarks.queue.expected import cost_of
from benchmarks.queue.work import is_done
from synthbench.tasks.registry import task as make_task
from synthbench.text.tables import Table, render


def costs_table(trainings, folder, gpu):
    """Operations, bytes and minutes of what is left of every training, on a GPU by its rates."""
    costs, lines, whole = {}, [], 0.0
    for training in trainings:
        task = make_task(training.study.task, training.variant, **training.study.parameters)
        recipe = training.recipe
        key = task.name, task.variant, recipe.name
        cost = costs[key] = costs.get(key) or cost_of(recipe, task)
        steps = training.marks[-1] - _done(training, folder)
        minutes = steps * cost.seconds(gpu) / 60
        whole += minutes
        lines.append(
            (
                training.name,
                f"{steps:,}",
                f"{steps * recipe.batch_size / 1e6:.2f}",
                f"{steps * cost.operations / 1e15:.1f}",
                f"{steps * cost.bytes / 1e12:,.0f}",
                f"{cost.state_bytes / 1e6:.0f}",
                f"{recipe.batch_size / cost.seconds(gpu):,.0f}",
                f"{minutes:.1f}",
                f"{whole:.1f}",
            )
        )
    head = (
        "training", "steps", "million rows", "PFLOP", "TB", "state, MB", "rows/s", "minutes",
        "until then",
    )  # fmt: skip
    notes = ["", f"Expected for {gpu}, from its data sheet; assumptions: benchmarks/queue/expected"]
    return render(Table(head, lines, right=range(1, len(head)), whole=[0], notes=notes))


def _done(training, folder):
    """Steps of a training that have been taken."""
    if is_done(training, folder.results()):
        return training.marks[-1]
    under_way = folder.under_way()
    return under_way["step"] if under_way and under_way["name"] == training.name else 0


def status_table(trainings, folder):
    """Every training with its steps, and what is known of it."""
    results, lines = folder.results(), []
    for training in trainings:
        done, result = _done(training, folder), results.get(training.name)
        measured = ["-"] * 6
        if result:
            eureka, machine = result["eureka"], result["machine"]
            measured = [
                f"{eureka['epoch']:.1f}" if eureka else "-",
                f"{result['splits']['test']['accuracy']:.4f}",
                f"{result['seconds']:,.0f}",
                f"{result['images_per_second'] or 0:,}",
                machine["gpu"] or machine["processor"],
                result["fit"]["state"],
            ]
        lines.append((training.name, f"{done:,} of {training.marks[-1]:,}", *measured))
    head = (
        "training", "steps", "Eureka-epoch", "test", "seconds", "rows/s", "machine", "fit",
    )  # fmt: skip
    return render(Table(head, lines, right=range(1, 6), whole=[0], notes=_under_way(folder)))


def _under_way(folder):
    """The last measurements of the training under way."""
    if not (head := folder.under_way()):
        return []
    shown = (f"{name} {value:.4g}" for name, value in (head["last"] or {}).items())
    return [
        "",
        f"Under way: {head['name']}, step {head['step']:,}. Last: {', '.join(shown) or '-'}",
    ]
