"""Write an audit to a directory: `audit.html`, one page with inline charts, and `audit.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synthbench.auditing.audit import Audit
from synthbench.auditing.sections import Section, leaked, variant_sections, verdict
from synthbench.checks import claim_output, usable_path
from synthbench.dataset.files import write_text
from synthbench.dataset.output import check_writable
from synthbench.errors import UsageError
from synthbench.text.tables import escaped

PAGE, DATA = "audit.html", "audit.json"


def report_directory(out: str | Path, overwrite: bool) -> Path:
    """The directory that a report is written to, checked before the audit starts.

    Raises:
        UsageError: `out` is a file, cannot be written, holds other files, or has a report and
            `overwrite` is false.
    """
    directory = usable_path("Output", out)
    check_writable(directory)
    if claim_output(directory, PAGE, ours=[DATA]) and not overwrite:
        name = repr(str(directory))
        raise UsageError(f"Output {name} has a report already; --overwrite replaces it.")
    return directory


def write_report(audit: Audit, directory: Path) -> None:
    """Write `audit.html` and `audit.json` into a directory, created if it does not exist."""
    html = page(audit)
    directory.mkdir(parents=True, exist_ok=True)
    write_text(directory / DATA, json.dumps(audit.to_dict(), indent=1, allow_nan=False) + "\n")
    write_text(directory / PAGE, html)


def page(audit: Audit) -> str:
    """The audit as a self-contained HTML page."""
    settings = "; ".join(f"{name} {_plain(value)}" for name, value in audit.parameters.items())
    footer = f"Seed {audit.seed}, synthbench {audit.synthbench}. Parameters: {settings}"
    title = f"Audit of {escaped(audit.task)}"
    parts = [_HEAD.replace("TITLE", title), f"<h1>{title}</h1>", *_links(audit)]
    for name, variant in audit.variants.items():
        parts += [f'<section id="{escaped(name)}">', f"<h2>{escaped(name)}</h2>"]
        parts += [line for section in variant_sections(variant) for line in _section(section)]
        parts.append("</section>")
    parts += [f"<p>{escaped(footer)}</p>", "</main>", "</body>", "</html>"]
    return "\n".join(parts) + "\n"


def _links(audit: Audit) -> Iterator[str]:
    """Links to the variants with their verdicts, if there are several."""
    if len(audit.variants) > 1:
        yield '<nav aria-label="Variants"><ul>'
        for name, variant in audit.variants.items():
            link = f'<a href="#{escaped(name)}">{escaped(name)}</a>'
            verdicts = "; ".join(
                escaped(sentence) for sentence in (*leaked(variant), verdict(variant))
            )
            yield f"<li>{link}, {verdicts}</li>"
        yield "</ul></nav>"


def _section(section: Section) -> Iterator[str]:
    if section.folded:
        is_open = " open" if section.is_open else ""
        yield f"<details{is_open}><summary>{escaped(section.title)}</summary>"
    else:
        yield f"<h3>{escaped(section.title)}</h3>"
    if section.items:
        yield "<ul>"
        yield from (f"<li>{escaped(item)}</li>" for item in section.items)
        yield "</ul>"
    if section.charts:
        yield '<div class="charts">'
        yield from section.charts
        yield "</div>"
    for table in section.tables:
        # A region that can be focused is scrolled with the keyboard, too.
        label = f'tabindex="0" role="region" aria-label="{escaped(table.title)}"'
        yield f'<div class="wide" {label}>\n{table.html()}\n</div>'
        yield from (f"<p>{escaped(note)}</p>" for note in table.notes)
    if section.folded:
        yield "</details>"


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


#: The head of the page, with the colours of text and charts in light and in dark.
_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c1f23; --faint: #d5d9de;
  --quiet: #57606a; --link: #0550ae; --split: #0064a8; --other: #b84a00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e8eb; --faint: #3a4047;
  --quiet: #a4acb5; --link: #7fb8ff; --split: #63b3f2; --other: #f0975a; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
a { color: var(--link); }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--faint); }
.charts { columns: 23rem; }
figure { margin: 0 0 1.5rem; break-inside: avoid; }
figcaption { color: var(--quiet); margin-bottom: 0.5rem; }
svg { width: 100%; height: auto; overflow: visible; font-family: system-ui, sans-serif; }
svg text { fill: var(--ink); }
.grid { stroke: var(--faint); }
.bar { fill: var(--split); }
.tick { stroke: var(--other); stroke-width: 2.5; }
.mark { stroke: var(--split); fill: var(--split); stroke-width: 2; }
.near { stroke: var(--other); fill: var(--other); }
.reference { stroke: var(--ink); stroke-width: 1.5; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
caption { text-align: left; color: var(--quiet); padding-bottom: 0.3rem; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: left; border-bottom: 1px solid var(--faint);
  white-space: nowrap; vertical-align: top; }
.right { text-align: right; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
details { margin: 1rem 0; }
summary { cursor: pointer; color: var(--link); font-weight: 600; margin-bottom: 0.5rem; }
</style>
</head>
<body>
<main>"""
