"""Shortcuts in rows: how often a rule that ignores the task gives the right answer.

Rules are fitted to some questions and scored on others. The most frequent answer sets the level of
chance, so that a rule gains nothing from uneven answers. A rule comes near solving, as in an audit,
if it surely covers three quarters of the way from there to all rows.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.auditing.scoring import Estimate, estimate, is_near
from synthbench.auditing.shortcuts import MOST_LABELS
from synthbench.auditing.tokens import token_shortcuts
from synthbench.probing.copies import fit_copy, fit_marked
from synthbench.probing.report import FOUND, HOLDS, NOT_ASKED, STATED, Verdict, quoted
from synthbench.probing.rows import ScannedSource
from synthbench.probing.scan import tokens_of
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, by_key

#: The fewest different questions that shortcuts are tried on.
LEAST_ROWS = 50
#: One in so many questions is kept for scoring.
_HELD_OUT = 5
#: The most questions that a regression is fitted to, and the most tokens of a question it sees.
_LEARNED_ROWS, _TOKENS = 2_000, 512
#: The rules of an audit that are tried. The others are slow, or add little to these.
_TRIED = ("first token", "last token", "rarest token", "number of tokens", "1- to 3-grams")
#: A rule that is tried beside the regression: it must not need many n-grams at once.
_SINGLE = "strongest n-gram"


def shortcuts(scanned: ScannedSource) -> Iterator[Verdict]:
    """The score of every shortcut, beside the share of the most frequent answer."""
    if scanned.chosen.answer is None:
        yield Verdict("shortcuts", NOT_ASKED, "no answers; --answer COL names their column.")
        return
    splits = scanned.source.train or [*scanned.scans]
    texts = dict(pair for split in splits for pair in scanned.scans[split].sample)
    if len(texts) < LEAST_ROWS:
        yield Verdict(
            "shortcuts",
            NOT_ASKED,
            f"{len(texts):,} different questions, at least {LEAST_ROWS} are needed.",
        )
        return
    numbers = np.arange(len(texts))
    held = numbers % _HELD_OUT == 0
    questions, answers = [*texts], [*texts.values()]
    names = {answer: code for code, answer in enumerate(sorted(set(answers)))}
    labels = np.array([names[answer] for answer in answers])
    columns = {"text": pa.array(questions, pa.large_string()), "label": pa.array(labels)}
    fit, test = _taken(columns, ~held), _taken(columns, held)
    right = labels[held]
    majority = np.bincount(labels[~held]).argmax()
    chance = float((right == majority).mean())
    yield Verdict(
        "shortcut: majority",
        STATED,
        f"the most frequent answer, {quoted([*names][majority])!r}, answers {chance:.2%} of "
        f"{len(right):,} questions.",
        f"{1 / len(names):.2%} if all were as frequent",
    )
    near: dict[str, bool] = {}
    scores: dict[str, Estimate] = {}
    rules, left_out = _rules(len(names), questions, answers)
    examples: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        few = fit if not rule.learned else {n: c[:_LEARNED_ROWS] for n, c in fit.items()}
        predictions = np.asarray(rule.fit(few)(test))
        scores[rule.name] = estimate((predictions == right).astype(np.float64))
        near[rule.name] = chance < 1 and is_near(scores[rule.name], chance, 1.0)
        hits = np.flatnonzero(predictions == right)[:2]
        at = np.flatnonzero(held)[hits]
        examples[rule.name] = tuple(
            f"{quoted(questions[row])} -> {quoted(answers[row])}" for row in at
        )
    # Sums and comparisons are linear in n-grams, too: only if single n-grams suffice, is it a hint.
    linear = "1- to 3-grams"
    few_suffice = near.get(_SINGLE, False)
    for name, score in scores.items():
        result = FOUND if near[name] and (name != linear or few_suffice) else HOLDS
        text = f"{score.mean:.2%} of {score.rows:,} questions ({score.low:.2%} to {score.high:.2%})"
        if near[name] and result == HOLDS:
            text, result = f"{text}, but single n-grams do not suffice", STATED
        shown = examples[name] if result == FOUND else ()
        verdict = Verdict(f"shortcut: {name}", result, f"{text}.", f"{chance:.2%}", shown)
        yield verdict
    for name, reason in left_out.items():
        yield Verdict(f"shortcut: {name}", NOT_ASKED, f"{reason}.")


def _taken(columns: Columns, rows: NDArray[np.bool_]) -> dict[str, pa.Array]:
    return {name: column.filter(pa.array(rows)) for name, column in columns.items()}


def _rules(
    labels: int, questions: Sequence[str], answers: Sequence[str]
) -> tuple[list[Shortcut], dict[str, str]]:
    """The rules to try, and the reason for each that is left out."""
    tokens = _tokenizer(questions)
    tried = [rule for rule in token_shortcuts(tokens) if rule.name in _TRIED]
    codes = {text: code for code, text in enumerate(sorted(set(answers)))}
    rules = [
        by_key(
            "number of characters",
            "The most frequent answer among questions of the same length.",
            lambda columns: np.array([len(text) for text in columns["text"].to_pylist()]),
        ),
        Shortcut(
            "copy of a token",
            "The token at one place, counted from the start or the end.",
            functools.partial(fit_copy, tokens, codes),
        ),
        Shortcut(
            "copy between marks",
            "The text between the same characters.",
            functools.partial(fit_marked, codes),
        ),
    ]
    single = Shortcut(
        _SINGLE,
        "The most frequent answer for the n-gram of the question that decides most surely.",
        functools.partial(_fit_strongest, tokens),
        learned=True,
    )
    reason = None
    if labels > MOST_LABELS:
        reason = f"{labels:,} different answers, and it is fitted to at most {MOST_LABELS}"
    elif not all(map(importlib.util.find_spec, ("sklearn", "scipy", "threadpoolctl"))):
        reason = "scikit-learn is not installed: pip install 'synthbench[audit]'"
    all_rules = [*rules, *tried, single]
    if reason is None:
        return all_rules, {}
    left_out = {rule.name: reason for rule in all_rules if rule.learned}
    return [rule for rule in all_rules if not rule.learned], left_out


def _tokenizer(questions: Sequence[str]) -> Callable[[Columns], pa.ListArray]:
    """A tokenizer of texts that divides each of these questions once."""
    divided = {text: tokens_of(text) for text in questions}

    def tokens(columns: Columns) -> pa.ListArray:
        rows = [_ends(divided[text]) for text in columns["text"].to_pylist()]
        return pa.array(rows, pa.list_(pa.string()))

    return tokens


def _ends(tokens: list[str]) -> list[str]:
    """The first and the last tokens of a long text."""
    half = _TOKENS // 2
    return tokens if len(tokens) <= _TOKENS else [*tokens[:half], *tokens[-half:]]


def _fit_strongest(tokens: Callable[[Columns], pa.ListArray], train: Columns) -> Predictor:
    """Answer with the n-gram of a question whose rows in train agree most."""
    from scipy.sparse import csr_matrix

    from synthbench.auditing.tokens import MOST_RUNS, Bags

    bags = Bags(tokens, train, 3, MOST_RUNS)
    label = np.asarray(train["label"])
    classes = int(label.max()) + 1
    shape = (len(label), classes)
    one_hot = csr_matrix((np.ones(len(label)), (np.arange(len(label)), label)), shape)
    present = bags.sparse(train)
    present.data[:] = 1.0
    counts = np.asarray((present.T @ one_hot).todense())
    usual = np.bincount(label, minlength=classes) / len(label)
    # Two rows' worth of the usual shares, so that a rare n-gram is not taken for a sure sign.
    shares = (counts + 2 * usual) / (counts.sum(axis=1, keepdims=True) + 2)
    answers, sure = shares.argmax(axis=1), shares.max(axis=1) - usual[shares.argmax(axis=1)]

    def predict(columns: Columns) -> NDArray[np.int64]:
        rows = bags.sparse(columns)
        predictions = np.full(rows.shape[0], usual.argmax())
        for row in range(rows.shape[0]):
            features = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
            if len(features):
                predictions[row] = answers[features[sure[features].argmax()]]
        return predictions

    return predict
