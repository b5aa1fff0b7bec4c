"""A sound toy task, and a table of faults: each changes one attribute or method of it."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from synthbench.tasks.base import Block, Split, TextTask
from synthbench.tasks.features import class_label, value


class Toy(TextTask):
    """The last digit of a sum; rows of one or two digits are counted."""

    name, title = "toy", "Toy"
    summary, source = "What is the last digit of the sum?", "No paper: a toy"
    tokens = tuple("0123456789")
    columns = {"text": value("string"), "label": class_label(tokens), "length": value("int8")}
    bucket_name = "length"
    splits = (Split("train", 300, (2, 7), evaluation=False), Split("test", 60, (2, 8)))
    block_rows = 64
    levels = {"easy": {}}

    def solve(self, question):
        digits = question.split(" ")
        if not set(digits) <= set(self.tokens):
            raise ValueError(f"{question!r} is not digits separated by spaces")
        return sum(map(int, digits)) % 10

    def propose(self, draws, n, split, bucket):
        return {"tokens": 1 + draws.integers(10, (n, bucket))}

    def capacity(self, split, bucket):
        return 10**bucket if bucket < 3 else None

    def enumerate_rows(self, split, bucket):
        numbers = np.arange(10**bucket)[:, None]
        return {"tokens": 1 + numbers // 10 ** np.arange(bucket) % 10}

    def render(self, block):
        ids = block["tokens"]
        return {"label": (ids - 1).sum(axis=1, where=ids > 0, dtype=int) % 10}


def gives(method, returned):
    """The method always returns this."""
    return {method: lambda self, *_: returned}


def does(method, action):
    """The method calls this first."""

    def changed(self, *arguments):
        action()
        return getattr(Toy, method)(self, *arguments)

    return {method: named(method, changed)}


def named(method, function):
    """The function as if it were written with the method's name."""
    function.__code__ = function.__code__.replace(co_name=method)
    return function


def changes(method, change):
    """What the method returns is changed."""
    return {method: lambda self, *arguments: change(getattr(Toy, method)(self, *arguments))}


def fails(method, error):
    """The method raises this."""

    def raising(self, *_):
        raise error

    return {method: named(method, raising)}


def fails_to_give(attribute, error):
    """Getting the attribute raises this."""

    def raising(_):
        raise error

    return {attribute: property(raising)}


def ids(change):
    return lambda given: {"tokens": change(given["tokens"])}


def with_column(name, column, **rendered):
    """A further column, of which `render` gives what `rendered` says."""
    return {
        "columns": {**Toy.columns, name: column},
        "render": lambda self, block: {
            **Toy.render(self, block),
            **{key: make(len(block)) for key, make in rendered.items()},
        },
    }


def splits(**changed):
    (train, test) = Toy.splits
    return {"splits": (Split(**{**vars(train), **changed}), test)}


def wider(self, draws, n, split, bucket):
    return Toy.propose(self, draws, n, split, bucket + 1)


def forever():
    while True:
        pass


ESC = "\x1b[31m"

#: By name: what is changed, and what a message names.
MUTATIONS = {
    # What `propose` returns.
    "propose gives None": (gives("propose", None), "propose"),
    "propose gives {}": (gives("propose", {}), "propose"),
    "propose gives a list": (gives("propose", [1, 2]), "propose"),
    "propose gives a number": (gives("propose", 3), "propose"),
    "propose gives a text": (gives("propose", "tokens"), "propose"),
    "propose gives an array": (gives("propose", np.ones((3, 2), int)), "propose"),
    "propose gives a tuple": (changes("propose", lambda given: (given, 1)), "propose"),
    "tokens in a list": (changes("propose", ids(np.ndarray.tolist)), "propose"),
    "tokens of one axis": (changes("propose", ids(np.ravel)), "propose"),
    "tokens of three axes": (changes("propose", ids(lambda one: one[:, :, None])), "propose"),
    "tokens of no axis": (gives("propose", {"tokens": np.int64(3)}), "propose"),
    "tokens that are fractions": (changes("propose", ids(lambda one: one / 1)), "propose"),
    "tokens that are texts": (changes("propose", ids(lambda one: one.astype(str))), "propose"),
    "tokens that are truth values": (changes("propose", ids(lambda one: one > 3)), "propose"),
    "ids above the vocabulary": (changes("propose", ids(lambda one: one + 1)), "propose"),
    "ids far above the vocabulary": (changes("propose", ids(lambda one: one + 256)), "propose"),
    "ids from 0": (changes("propose", ids(lambda one: one - 1)), "propose"),
    "ids below 0": (changes("propose", ids(np.negative)), "propose"),
    "padding on the left": (
        changes("propose", ids(lambda one: np.pad(one, [(0, 0), (1, 0)]))), "propose",
    ),
    "no tokens in a row": (changes("propose", ids(lambda one: one[:, :0])), "propose"),
    "arrays of other names": (
        changes("propose", lambda given: {"ids": given["tokens"]}), "propose",
    ),
    "arrays of other lengths": (
        changes("propose", lambda given: {**given, "more": np.arange(3)}), "propose",
    ),
    "an array without a name": (
        changes("propose", lambda given: {**given, 3: np.arange(len(given["tokens"]))}), "propose",
    ),
    "more rows than candidates": (changes("propose", ids(lambda one: one.repeat(2, 0))), "propose"),
    "rows of another bucket": ({"propose": wider}, "propose"),
    "other arrays in one bucket": (
        {"propose": lambda self, draws, n, split, bucket: {
            **Toy.propose(self, draws, n, split, bucket),
            **({"more": np.arange(n)} if bucket == 7 else {}),
        }}, "propose",
    ),
    "always the same rows": (
        {"propose": lambda self, draws, n, split, bucket: {
            "tokens": np.ones((n, bucket), np.uint8)
        }}, "propose",
    ),
    "rows from a generator without a seed": (
        {"propose": lambda self, draws, n, split, bucket: {
            "tokens": np.random.default_rng().integers(1, 11, (n, bucket))
        }}, "propose",
    ),
    # What `propose_blocks` returns.
    "propose_blocks gives None": (gives("propose_blocks", None), "propose_blocks"),
    "fewer blocks than asked for": (gives("propose_blocks", []), "propose_blocks"),
    "a block drawn from the draws of another": (
        {"propose_blocks": lambda self, blocks, n, split, bucket: [
            Toy.propose(self, blocks[0], n, split, bucket) for _ in blocks
        ]}, "propose_blocks",
    ),
    # What `propose` does.
    "propose raises": (fails("propose", KeyError("digits")), "propose"),
    "propose raises without a text": (fails("propose", RuntimeError()), "propose"),
    "propose exits": (does("propose", lambda: sys.exit(3)), "propose"),
    "propose exits with 0": (does("propose", sys.exit), "propose"),
    "render exits": (does("render", lambda: sys.exit(1)), "render"),
    # Rows that are counted and listed.
    "rows are counted as a text": (gives("capacity", "many"), "capacity"),
    "rows are counted as a fraction": (gives("capacity", 99.5), "capacity"),
    "fewer than no rows": (gives("capacity", -1), "capacity"),
    "rows are counted as True": (gives("capacity", True), "capacity"),
    "more rows are counted than listed": (
        {"capacity": lambda self, split, bucket: 11**bucket if bucket < 3 else None}, "capacity",
    ),
    "fewer rows are counted than listed": (
        {"capacity": lambda self, split, bucket: 9**bucket if bucket < 3 else None}, "capacity",
    ),
    "listed rows are None": (gives("enumerate_rows", None), "enumerate_rows"),
    "listed rows are a list": (gives("enumerate_rows", [[1, 2]]), "enumerate_rows"),
    "listed ids are from 0": (
        changes("enumerate_rows", ids(lambda one: one - 1)), "enumerate_rows",
    ),
    "listed rows are all the same": (
        changes("enumerate_rows", ids(np.ones_like)), "enumerate_rows",
    ),
    "listing raises": (fails("enumerate_rows", IndexError("no row")), "enumerate_rows"),
    "listed rows are of another bucket": (
        changes("enumerate_rows", ids(lambda one: np.pad(one, [(0, 0), (0, 1)], mode="edge"))),
        "enumerate_rows",
    ),
    # What `render` returns.
    "render gives None": (gives("render", None), "render"),
    "render gives a list": (gives("render", []), "render"),
    "render lacks a column": (gives("render", {}), "render"),
    "render gives another column": (
        changes("render", lambda given: {**given, "more": given["label"]}), "render",
    ),
    "too few labels": (changes("render", lambda given: {"label": given["label"][:-1]}), "render"),
    "labels above the classes": (
        changes("render", lambda given: {"label": given["label"] + 5}), "label",
    ),
    "labels below the classes": (
        changes("render", lambda given: {"label": given["label"] - 1}), "label",
    ),
    "labels are names of no class": (
        changes("render", lambda given: {"label": ["x"] * len(given["label"])}), "label",
    ),
    "labels are null": (
        changes("render", lambda given: {"label": [None] * len(given["label"])}), "label",
    ),
    "labels are fractions": (
        changes("render", lambda given: {"label": given["label"] + 0.5}), "label",
    ),
    "other labels than solve gives": (
        changes("render", lambda given: {"label": (given["label"] + 1) % 10}), "solve",
    ),
    "render raises": (fails("render", ZeroDivisionError("no")), "render"),
    "a column that does not fit": (
        with_column("sum", value("int8"), sum=lambda n: np.full(n, 300)), "sum",
    ),
    "a column that solve does not give": (
        with_column("one", value("int8"), one=lambda n: np.ones(n, int)), "recompute_columns",
    ),
    # Identity.
    "content is None": (gives("content", None), "content"),
    "content of another type": (
        {"content": lambda self, block: block["tokens"].astype(int)}, "content",
    ),
    "content of one axis": ({"content": lambda self, block: block["tokens"].ravel()}, "content"),
    "content of other rows": ({"content": lambda self, block: block["tokens"][:1]}, "content"),
    "the same content for all": (
        {"content": lambda self, block: np.ones((len(block), 1), np.uint8)}, "content",
    ),
    "content that depends on the block": (
        {"content": lambda self, block: block["tokens"] + np.uint8(len(block) == 64)}, "id",
    ),
    "problem of another type": (
        {"problem": lambda self, block: np.arange(len(block))}, "problem",
    ),
    "problem of another length": ({"problem": lambda self, block: np.uint64([1])}, "problem"),
    "parse gives other rows": (
        {"parse": lambda self, columns: Block({
            "tokens": 1 + TextTask.parse(self, columns)["tokens"][:, ::-1] % 10
        })}, "parse",
    ),
    # Buckets.
    "buckets are None": (gives("buckets", None), "buckets"),
    "buckets are texts": (
        {"buckets": lambda self, columns: ["2"] * len(columns["text"])}, "buckets",
    ),
    "weights are None": (gives("bucket_weights", None), "bucket_weights"),
    "too few weights": (gives("bucket_weights", (1.0,)), "bucket_weights"),
    "a weight of 0": (gives("bucket_weights", (0.0, 1.0)), "bucket_weights"),
    "a weight below 0": (gives("bucket_weights", (-1.0, 1.0)), "bucket_weights"),
    "a weight that is no number": (gives("bucket_weights", (float("nan"), 1.0)), "bucket_weights"),
    "one label for all buckets": (gives("bucket_label", "all"), "bucket_label"),
    "labels of buckets are numbers": (changes("bucket_label", int), "bucket_label"),
    # What it says of itself.
    "splits are None": ({"splits": None}, "splits"),
    "no splits": ({"splits": ()}, "splits"),
    "splits are a split": ({"splits": Split("train", 3)}, "splits"),
    "splits are names": ({"splits": ("train", "test")}, "splits"),
    "two splits of one name": ({"splits": (*Toy.splits, Toy.splits[0])}, "splits"),
    "splits raise": (fails_to_give("splits", KeyError("rows")), "splits"),
    "a split of no rows": (splits(rows=0), "splits"),
    "a split of rows in a text": (splits(rows="many"), "splits"),
    "a split without buckets": (splits(buckets=()), "splits"),
    "a split of buckets in a list": (splits(buckets=[2, 4]), "splits"),
    "a split of NumPy's numbers": (splits(buckets=tuple(np.arange(2, 4))), "splits"),
    "a split of buckets twice": (splits(buckets=(2, 2)), "splits"),
    "a split named as a path": (splits(name="../train"), "splits"),
    "a split named all": (splits(name="all"), "splits"),
    "held-out rows in train": (splits(evaluation=True), "evaluation"),
    "columns are None": ({"columns": None}, "columns"),
    "columns are a list": ({"columns": ["text", "label"]}, "columns"),
    "columns raise": (fails_to_give("columns", OSError("no file")), "columns"),
    "a type that Arrow does not know": (
        {"columns": {**Toy.columns, "label": value("int99")}}, "label",
    ),
    "a column id": (with_column("id", value("string"), id=lambda n: ["1"] * n), "id"),
    "no column text": (
        {"columns": {"label": Toy.columns["label"], "length": Toy.columns["length"]}}, "text",
    ),
    "tokens are None": ({"tokens": None}, "tokens"),
    "no tokens": ({"tokens": ()}, "tokens"),
    "a token twice": ({"tokens": (*"0123456789", "9")}, "tokens"),
    "tokens are numbers": ({"tokens": tuple(range(10))}, "tokens"),
    "a token with a space": ({"tokens": (*"012345678", "n ine")}, "tokens"),
    "an empty token": ({"tokens": (*"012345678", "")}, "tokens"),
    "a token with ESC": ({"tokens": (*"012345678", ESC)}, "tokens"),
    "tokens raise": (fails_to_give("tokens", ValueError("none")), "tokens"),
    "ESC in summary": ({"summary": f"What is {ESC}it?"}, "summary"),
    "two lines in title": ({"title": "Toy\nToy"}, "title"),
    "U+202E in source": ({"source": "a paper \u202eby nobody"}, "source"),
    "summary is None": ({"summary": None}, "summary"),
    "an empty title": ({"title": ""}, "title"),
    "variants are None": ({"variants": None}, "variants"),
    "no variants": ({"variants": {}}, "variants"),
    "a variant named as a path": ({"variants": {"a/b": "Slash."}}, "variants"),
    "levels are a list": ({"levels": ["easy"]}, "levels"),
    "a level with an unknown parameter": ({"levels": {"easy": {"longest": 3}}}, "longest"),
    "parameters_type is a dict": ({"parameters_type": dict}, "parameters_type"),
    "inputs name no column": ({"inputs": ("txt",)}, "inputs"),
    "no inputs": ({"inputs": ()}, "inputs"),
    "block_rows of 0": ({"block_rows": 0}, "block_rows"),
    "round_rows are a text": ({"round_rows": "many"}, "round_rows"),
    "tables are no JSON": ({"tables": {"one": {1, 2}}}, "tables"),
    "metrics are None": ({"metrics": None}, "metrics"),
    # The reference solver and the scores.
    "solve gives None": (gives("solve", None), "solve"),
    "solve raises": (fails("solve", AttributeError("sum")), "solve"),
    "solve answers everything": (gives("solve", 3), "solve"),
    "everything scores": (
        {"measure": lambda self, row, answer: {"accuracy": 1.0}}, "scores",
    ),
    "measure gives None": (gives("measure", None), "score"),
}  # fmt: skip

#: What ends the process that it runs in, or never returns: `check` alone survives it.
HARD = {
    "propose ends the process": (does("propose", lambda: os._exit(7)), "exit status 7"),
    "propose crashes": (does("propose", os.abort), "SIGABRT"),
    "propose never returns": (does("propose", forever), "did not end within"),
    "render sleeps": (does("render", lambda: time.sleep(10**6)), "did not end within"),
    "solve never returns": (does("solve", forever), "did not end within"),
    "splits never return": (
        {"splits": property(lambda self: time.sleep(10**6))}, "did not end within",
    ),
}  # fmt: skip


def mutant(changed):
    """The toy with a fault, as a class of this module, so that it can be pickled."""
    form = {"__doc__": "A toy with a fault.", "__module__": __name__}
    globals()["Mutant"] = type("Mutant", (Toy,), {**form, **changed})
    return globals()["Mutant"]
