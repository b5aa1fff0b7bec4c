"""Write an audit to a directory: `audit.html`, one page with inline figures, and `audit.json`."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from synthbench.auditing.audit import Audit
from synthbench.auditing.figures import COLORS, Chart
from synthbench.auditing.sections import variant_sections, verdict
from synthbench.dataset.files import write_text
from synthbench.errors import UsageError, needs, usable_path

PAGE, DATA = "audit.html", "audit.json"
_TEMPLATE = Path(__file__).with_name("page.html.jinja")


def report_directory(out: str | Path, overwrite: bool) -> Path:
    """The directory that a report is written to, checked before the audit starts.

    Raises:
        UsageError: `out` is a file, contains other files, or has a report and `overwrite` is false.
        SynthbenchError: matplotlib or Jinja2 is not installed.
    """
    directory = usable_path("Output", out)
    name = repr(str(directory))
    if directory.exists():
        if not directory.is_dir():
            raise UsageError(f"Output {name} is a file; name a directory for the report.")
        files = sorted(file.name for file in directory.iterdir())
        if others := [file for file in files if file not in (PAGE, DATA)]:
            raise UsageError(
                f"Output {name} holds something else ({others[0]!r}); "
                "name a directory that is empty or not there yet."
            )
        if files and not overwrite:
            raise UsageError(f"Output {name} has a report already; --overwrite replaces it.")
    with needs("An audit's page", "Jinja2", "audit"):
        import jinja2  # noqa: F401
    with needs("An audit's page", "matplotlib", "audit"):
        import matplotlib  # noqa: F401
    return directory


def write_report(audit: Audit, directory: Path) -> None:
    """Write `audit.html` and `audit.json` into a directory, created if it does not exist."""
    html = page(audit)
    directory.mkdir(parents=True, exist_ok=True)
    write_text(directory / DATA, json.dumps(audit.to_dict(), indent=1, allow_nan=False) + "\n")
    write_text(directory / PAGE, html)


def page(audit: Audit) -> str:
    """The audit as a self-contained HTML page."""
    import jinja2
    import markupsafe

    numbers = itertools.count()

    def draw(chart: Chart) -> markupsafe.Markup:
        return markupsafe.Markup(chart.svg(next(numbers)))

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        audit=audit,
        parameters={name: _plain(value) for name, value in audit.parameters.items()},
        sections={name: variant_sections(found) for name, found in audit.variants.items()},
        colors=COLORS,
        verdict=verdict,
        draw=draw,
    )


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
