"""An audit as a directory: `audit.html`, one page with its figures inside, and `audit.json`."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

from synthbench.auditing.audit import Audit
from synthbench.auditing.figures import COLORS
from synthbench.auditing.sections import variant_sections, verdict
from synthbench.dataset.files import write_text
from synthbench.errors import UsageError, needs, usable_path
from synthbench.text.lines import printable

if TYPE_CHECKING:
    import jinja2

PAGE, DATA = "audit.html", "audit.json"


def report_directory(out: str | Path, overwrite: bool) -> Path:
    """The directory that a report is written to, checked before the audit starts.

    Raises:
        UsageError: `out` is a file, contains other files, or has a report and `overwrite` is false.
        SynthbenchError: Jinja2 is not installed.
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
        import jinja2  # noqa: F401  # before the audit starts
    return directory


def write_report(audit: Audit, directory: Path) -> None:
    """Write `audit.html` and `audit.json` into a directory, creating it if needed."""
    html = page(audit)
    directory.mkdir(parents=True, exist_ok=True)
    write_text(directory / DATA, json.dumps(audit.to_dict(), indent=1, allow_nan=False) + "\n")
    write_text(directory / PAGE, html)


def page(audit: Audit) -> str:
    """The audit as an HTML page without external resources."""
    template = environment().get_template("page.html.jinja")
    return template.render(
        audit=audit,
        sections={name: variant_sections(found) for name, found in audit.variants.items()},
        colors=COLORS,
        verdict=verdict,
        number=itertools.count().__next__,
    )


def environment() -> jinja2.Environment:
    """The environment of the templates `page.html.jinja` and `charts.html.jinja`."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["printable"] = printable
    return made
