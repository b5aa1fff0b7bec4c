"""What a run of `generate` tells when it is done."""

from __future__ import annotations

from synthbench.generation import Outcome
from synthbench.tables import text_table


def summary(outcome: Outcome, seconds: float) -> str:
    """What was made, as a table, and the line of Python that loads it."""
    manifest = outcome.manifest
    if not outcome.seconds:
        done = f"{outcome.path} is already there, made by the same command; nothing was changed."
        return f"{done}\n{_loading_line(outcome)}"
    rows = []
    for variant, splits in manifest.variants.items():
        for name, split in splits.items():
            each = list(split.buckets.items())
            shown = each if len(each) <= 12 else [*each[:3], ("..", 0), each[-1]]
            rows.append(
                (
                    variant,
                    name,
                    f"{split.rows:,}",
                    f"{split.candidates:,}",
                    f"{split.rows / max(1, split.candidates):.1%}",
                    f"{outcome.seconds[variant][name]:.2f}",
                    "  ".join(f"{key}: {count:,}" if count else key for key, count in shown),
                )
            )
    bucket = manifest.make_task(next(iter(manifest.variants))).bucket_name
    head = ("variant", "split", "rows", "candidates", "accepted", "seconds", f"rows by {bucket}")
    table = text_table(head, rows, right=(2, 3, 4, 5))
    total = sum(split.rows for splits in manifest.variants.values() for split in splits.values())
    return f"{table}\n{total:,} rows in {seconds:.1f} s: {outcome.path}\n{_loading_line(outcome)}"


def _loading_line(outcome: Outcome) -> str:
    names = list(outcome.manifest.variants)
    config = f', "{names[0]}"' if len(names) > 1 else ""
    return f'from datasets import load_dataset; dataset = load_dataset("{outcome.path}"{config})'
