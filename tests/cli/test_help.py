"""What `--help` shows can be typed as it stands."""

import shlex

import click
import pytest

from synthbench.cli.main import _run, commands
from synthbench.tasks.registry import task as make_task
from synthbench.training.recipes import find_study
from synthbench.training.recipes.layers import SUITES
from tests.support import stored_rows

COMMANDS = {"": commands, **commands.commands}


def examples(name):
    return [line.strip() for line in (COMMANDS[name].epilog or "").strip().splitlines()]


TRAINING = ("train", "reproduce")
EXAMPLES = [(name, line) for name in COMMANDS for line in examples(name)]


def parsed(line):
    program, name, *words = shlex.split(line)
    assert program == "synthbench"
    return commands.commands[name].make_context(name, words)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_help_ends_with_examples_of_its_command(name):
    command = COMMANDS[name]
    text = command.get_help(click.Context(command, info_name=f"synthbench {name}".strip()))
    _, _, shown = text.partition("\nExamples:\n")
    assert [line.strip() for line in shown.splitlines()] == examples(name)
    assert 1 <= len(examples(name)) <= 4
    assert all(line.startswith(f"synthbench {name}") for line in examples(name))
    assert all(len(line) <= 80 and "\\b" not in line for line in text.splitlines())
    assert len(text.splitlines()) <= 40, "a screen"


def test_the_list_of_commands_has_whole_sentences():
    text = commands.get_help(click.Context(commands, info_name="synthbench"))
    lines = [line.split(None, 1) for line in text.partition("Commands:\n")[2].splitlines()]
    listed = {line[0]: line[1] for line in lines if len(line) == 2 and line[0] in COMMANDS}
    assert len(listed) == len(commands.commands)
    assert all(words.endswith(".") and "..." not in words for words in listed.values())


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_an_example_is_what_its_command_takes(name, line):
    chosen = parsed(line).params
    if chosen.get("task", "all") in (None, "all"):  # of a suite there is none
        return
    settings = dict(one.split("=") for one in chosen.get("settings") or ())
    task = make_task(chosen["task"], chosen.get("variant"), **settings)
    assert set(chosen.get("variants") or ()) <= {*task.variants, "all"}
    if name == "generate":
        assert {one.partition("=")[0] for one in chosen["rows"]} <= {
            one.name for one in task.splits
        }


@pytest.mark.parametrize("line", [line for name, line in EXAMPLES if name in TRAINING])
def test_an_example_of_training_names_models_and_fields_of_recipes(line):
    chosen = parsed(line).params
    if chosen.get("suite"):
        assert chosen["suite"] in SUITES
        return
    study = find_study(chosen["task"], chosen["profile"], chosen["study"])
    models = chosen["models"] if "models" in chosen else [chosen["model"]]
    for model in filter(None, models):  # with `--layer` there is none
        fields = dict(one.split("=") for one in chosen.get("recipe") or ())
        assert study.recipe(model).changed(fields, {}).name == model


@pytest.mark.torch
def test_the_examples_of_figures_name_figures():
    from synthbench.training.figures import FIGURES

    for line in examples("figures"):
        assert set(parsed(line).params["names"]) <= set(FIGURES)


@pytest.mark.slow
def test_the_examples_of_the_group_and_of_what_is_made_from_their_dataset_run(
    tmp_path, monkeypatch, capsys
):
    def run(line):
        assert _run(commands, shlex.split(line)[1:]) == 0, line + capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    group = examples("")
    listed = [line for name in ("list", "info", "verify", "export") for line in examples(name)]
    dry = [line for line in examples("push") if "--dry-run" in line]
    for line in (*group, "synthbench generate parity --preset small"):  # for a mixture
        run(line)
    rows = stored_rows(tmp_path / "listops", "default", "test").to_pylist()
    lines = [f'{{"id": "{row["id"]}", "prediction": {row["label"]}}}' for row in rows]
    (tmp_path / "predictions.jsonl").write_text("\n".join(lines))
    for line in [*listed, *examples("evaluate"), *dry]:
        run(line)
