"""The program `synthbench`: its commands, its errors and its exit status."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sys
import traceback
from collections.abc import Sequence

import click

from synthbench import __version__
from synthbench.cli import ask, corpora, datasets, layers, make, tasks, train
from synthbench.cli.options import WithExamples
from synthbench.engine.signals import interruptible
from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.text.lines import printable
from synthbench.text.tables import takes_colors

#: Commands that had another name until 0.3.
RENAMED = {"validate": "reproduce", "check": "check-task"}
#: Set by a shell that asks for completions.
_COMPLETION = "_SYNTHBENCH_COMPLETE"


class Commands(WithExamples, click.Group):
    """A group that offers the nearest command for one that does not exist."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command.

        Raises:
            UsageError: an unknown command. The error offers the nearest.
        """
        if args and args[0] in RENAMED and not ctx.resilient_parsing:
            raise UsageError(f"Command {args[0]!r} is now called {RENAMED[args[0]]!r}.")
        unknown = args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-")
        if unknown and not ctx.resilient_parsing:  # as the shell's completion parses
            raise unknown_name("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Encodings such as cp1252 lack the lines with which trees are drawn.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run(commands, arguments))


def _open_missing_streams() -> None:
    """Open the null device instead of standard streams that are closed, as in some services.

    Otherwise the next file to be opened, such as a shard, would get the descriptor of standard
    error, and a library's messages would go into that file.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # standard error
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _run(command: click.Command, arguments: Sequence[str] | None) -> int:
    """Exit status of a command: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        with interruptible():
            status = command.main(arguments, prog_name="synthbench", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except (KeyboardInterrupt, click.exceptions.Abort) as error:  # click makes one of the other
        kept = list[str]()
        cause: BaseException | None = error
        while cause is not None:
            kept += getattr(cause, "__notes__", [])
            cause = cause.__cause__
        return _failed(_interrupted(sys.argv[1:] if arguments is None else arguments, kept), 130)
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
    except SynthbenchError as error:
        return _failed(str(error), error.exit_status)
    except OSError as error:
        text = "No space left on the device" if error.errno == errno.ENOSPC else error.strerror
        file = f": {error.filename}" if error.filename else "."
        # A name that is too long is wrong usage: no work can have begun.
        status = UsageError.exit_status if error.errno == errno.ENAMETOOLONG else 1
        return _failed(f"{text or error}{file}", status)
    except MemoryError:
        return _failed(_out_of_memory(sys.argv[1:] if arguments is None else arguments), 1)
    except (Exception, SystemExit) as error:
        if str(error) == "can't start new thread":  # as threads say it
            return _failed(_out_of_memory(sys.argv[1:] if arguments is None else arguments), 1)
        if isinstance(error, SystemExit) and _COMPLETION in os.environ:
            raise  # click has answered the shell
        from synthbench.engine.error_origin import where_raised

        text = f"Unexpected {type(error).__name__}: {error}".splitlines()[0]
        where = where_raised(error)
        if where is None and isinstance(error, SystemExit):
            raise
        if where is None:
            hint = "This is a bug in synthbench. Please report it with the output of"
            return _failed(f"{text}\n{hint} SYNTHBENCH_DEBUG=1.", 1)
        return _failed(f"{text}\nIt was raised in {where}; SYNTHBENCH_DEBUG=1 shows where.", 1)


#: The commands whose finished parts are kept, and those whose runs are saved now and then.
_CONTINUED, _SAVED = ("generate", "ask"), ("train", "reproduce")


def _interrupted(arguments: Sequence[str], kept: Sequence[str]) -> str:
    if kept:
        return f"Interrupted. {kept[0]}. Run the same command again to continue."
    if arguments and arguments[0] in _SAVED:
        return "Interrupted. The same command goes on from the last checkpoint, if any."
    if arguments and arguments[0] in _CONTINUED:
        return "Interrupted. Run the same command again to continue."
    return "Interrupted."


def _out_of_memory(arguments: Sequence[str]) -> str:
    name = next(iter(arguments), "")
    text = "Out of memory. Finished parts are kept." if name in _CONTINUED else "Out of memory."
    command = commands.commands.get(name)
    has_workers = command is not None and any(
        parameter.name == "workers" for parameter in command.params
    )
    if has_workers and not re.search(r"--workers[= ]1( |$)", " ".join(arguments)):
        text += " --workers 1 needs less memory."
    return text


def _failed(text: str, status: int) -> int:
    if os.environ.get("SYNTHBENCH_DEBUG") == "1":
        traceback.print_exc()
    text = printable(text, keep="\n")  # it may quote an argument or a file's name
    if status != 130:
        label = click.style("Error:", "red", bold=True) if takes_colors(sys.stderr) else "Error:"
        text = f"{label} {text}"
    with contextlib.suppress(OSError):  # the status still says so
        click.echo(text, err=True)
    return status


@click.group(
    cls=Commands,
    epilog="""
    synthbench generate listops --preset small
    synthbench verify listops
    """,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="synthbench")
@click.pass_context
def commands(context: click.Context) -> int:
    """Algorithmic-reasoning benchmarks: the same bytes everywhere, free of leaks."""
    if context.invoked_subcommand is not None:
        return 0
    click.echo(context.get_help(), err=True)
    return UsageError.exit_status


for _command in (
    tasks.list_,
    tasks.info,
    tasks.preview,
    make.generate,
    datasets.verify,
    datasets.audit,
    datasets.evaluate,
    datasets.export,
    datasets.push,
    corpora.decontaminate,
    corpora.probe,
    ask.ask,
    train.train,
    train.reproduce,
    train.figures,
    layers.check_layer,
    tasks.check_task,
    tasks.new_task,
):
    commands.add_command(_command)
