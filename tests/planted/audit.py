"""What `audit` looks for in the rows of `planted`."""

import numpy as np

from synthbench.tasks.audit_spec import AuditSpec, Claim, Levels, by_key, codes, numbers


def audit_spec(task):
    """A bit of everything that a task can ask for."""

    def letters(columns):
        return task.parse(columns)["tokens"].astype(np.int64)

    def sums(columns):
        found = letters(columns)
        return (found - (found > 0)).sum(axis=1)

    return AuditSpec(
        shortcuts=(
            by_key("half of it", "The sum modulo 2.", lambda rows: sums(rows) % 2),
            by_key(
                "sum of long rows",
                "The sum.",
                sums,
                applies=lambda rows: numbers(rows["length"]) > 8,
            ),
        ),
        near_duplicate_keys={
            "the same letters in another order": lambda rows: codes(
                np.sort(letters(rows), axis=1)[:, ::-1]
            )
        },
        distributions={"first letter": lambda rows: [text[0] for text in rows["text"].to_pylist()]},
        claims=(
            Claim(
                "length",
                "Letters that are not a, which adds nothing.",
                lambda rows: (letters(rows) > 1).sum(axis=1),
            ),
        ),
        levels=Levels(
            "length",
            lambda rows: numbers(rows["length"]),
            each_must_be_hard=task.parameters.hard,
        ),
    )
