"""The command line: every command parses, calls one function and prints."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence

import click

from synthbench import __version__
from synthbench.commands import judging, making, sharing, training
from synthbench.commands.console import WithExamples
from synthbench.errors import SynthbenchError, UsageError, unknown_name
from synthbench.interruption import interruptible


class Commands(WithExamples, click.Group):
    """A group that offers the nearest command and gives errors in one line or two."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        unknown = args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-")
        if unknown and not ctx.resilient_parsing:  # as the shell's completion parses
            raise unknown_name("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(_run(commands, arguments))


def _run(command: click.Command, arguments: Sequence[str] | None) -> int:
    """Exit status of a command: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        with interruptible():
            status = command.main(arguments, prog_name="synthbench", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except (KeyboardInterrupt, click.exceptions.Abort):  # click makes the second of the first
        return _failed("Interrupted; the same command goes on from here.", 130)
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
    except SynthbenchError as error:
        return _failed(str(error), error.exit_status)
    except OSError as error:
        text = "No space left on the device" if error.errno == errno.ENOSPC else error.strerror
        place = f": {error.filename}" if error.filename else "."
        return _failed(f"{text or error}{place}", 1)
    except MemoryError:
        return _failed("Out of memory; what is finished is kept. Fewer --workers need less.", 1)
    except Exception as error:
        text = f"Unexpected {type(error).__name__}: {error}".splitlines()[0]
        return _failed(f"{text}\nThis is a mistake of ours; SYNTHBENCH_DEBUG=1 shows where.", 1)


def _failed(text: str, status: int) -> int:
    if os.environ.get("SYNTHBENCH_DEBUG") == "1":
        traceback.print_exc()
    click.echo(f"Error: {text}" if status != 130 else text, err=True)
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
    making.list_,
    making.info,
    making.preview,
    making.generate,
    judging.verify,
    judging.audit,
    judging.evaluate,
    sharing.export,
    sharing.push,
    training.train,
    training.validate,
    training.figures,
):
    commands.add_command(_command)


if __name__ == "__main__":
    main()
