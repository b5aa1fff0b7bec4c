"""The command check-layer: questions about a layer before it is trained."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

import click

from synthbench.checks import needs
from synthbench.cli.options import WithExamples, json_option, pairs, show, show_json
from synthbench.cli.train import device_option
from synthbench.text.tables import Table, captioned, styled

_COLORS = {"pass": "green", "fail": "red", "not applicable": ""}


@click.command(
    "check-layer",
    cls=WithExamples,
    epilog="""
    synthbench check-layer my_layer.py:Layer
    synthbench check-layer my_package.layers:Layer --width 128 --json
    """,
)
@click.argument("layer", metavar="LAYER")
@click.option("--width", type=int, default=64, show_default=True, help="Size of a state.")
@click.option(
    "--length", type=int, default=256, show_default=True, help="Positions of the longest row."
)
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An argument of the layer."
)
@device_option
@json_option
def check_layer(
    layer: str, width: int, length: int, options: Sequence[str], device: str, as_json: bool
) -> int:
    """Ask nine questions about a layer, before any training.

    LAYER is FILE.py:NAME or PACKAGE.MODULE:NAME.

    \b
    causal      early outputs do not change when later inputs are drawn anew,
                1, 3 and 10 times as large
    prefix      a prefix alone has the outputs that it has in the row
    batch       a row alone has the outputs that it has beside others
    padding     padding on the right does not change a row's outputs
    repeatable  the same row twice has the same outputs in evaluation
    lengths     works at 1, 2, 3, 63, 64, 65, 127, 128, 129 and --length
    precision   bfloat16 (autocast) is at most 10% off, over any 32 positions
    gradients   finite, and not zero for any parameter
    steps       step(states, memory) has the outputs of the whole row, to 0.1%

    Differences of at most 30 times the effect of rounding the inputs pass, and
    so do 0.001% of an output (causal, repeatable) or 0.01% (prefix, batch,
    padding). The layer is causal unless it has causal=False,
    bidirectional=True, sees_what_follows=True or reads=("lengths",). The exit
    status is 1 if a question fails.
    """  # noqa: D301  (click reads the backspace)
    with needs("'check-layer'", "PyTorch", "train"):
        from synthbench.training.layer_checks.check import check_layer as check
        from synthbench.training.recipes.base import read_option

    values = {name: read_option(text) for name, text in pairs(options, "--option").items()}
    with contextlib.redirect_stdout(sys.stderr):  # layers may print
        report = check(layer, width, length, options=values, device=device)
    if as_json:
        show_json(report.to_dict())
    else:
        lines = [
            (
                answer.question,
                styled(answer.verdict, _COLORS[answer.verdict]),
                answer.seen,
                answer.where,
            )
            for answer in report.answers
        ]
        title = (
            f"{report.layer}, width {report.width}, {report.length} positions, "
            f"{report.parameters:,} parameters"
        )
        show(captioned(title, Table(("question", "verdict", "seen", "where"), lines, whole=(1,))))
    return 1 if report.failed else 0
