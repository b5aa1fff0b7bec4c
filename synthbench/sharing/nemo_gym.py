"""A resources server for NeMo Gym, with its rows.

    cd PATH
    ng_run "+config_paths=[resources_servers/synthbench/configs/synthbench.yaml,...]"

    PATH/resources_servers/synthbench/
        app.py                        the server, `synthbench.llm.nemo_gym`
        configs/synthbench.yaml       the server, and an agent that asks each row in one turn
        requirements.txt
        data/VARIANT/SPLIT.jsonl      rows
        data/example.jsonl            the first five of them
        data/verifier_cases.jsonl     replies with the rewards that the server must give

A row has the prompt, the agent, and data that judge the answer:

    {"responses_create_params": {"input": [{"role": "user", "content": "Evaluate the nested..."}]},
     "agent_ref": {"type": "responses_api_agents", "name": "synthbench_simple_agent"},
     "id": "d4f0...", "data_source": "synthbench/listops/dependency_depth7", "task": "listops",
     "row": "{...}"}
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from synthbench import __version__
from synthbench.llm.mixtures import carried
from synthbench.sharing.parts import ExportPart, ExportRow, MixedPart
from synthbench.sharing.text_formats import write_lines
from synthbench.sharing.verl import data_source
from synthbench.tasks.worked import answer_line

_HOME = PurePosixPath("resources_servers/synthbench")
_AGENT = "synthbench_simple_agent"
#: Rows of `example.jsonl`, which NeMo Gym asks for.
_EXAMPLES = 5
_APP = '''"""The resources server of synthbench for NeMo Gym."""

from pathlib import Path

from synthbench.llm.nemo_gym import SynthbenchResourcesServer, verifier_fixture

VERIFIER_FIXTURE = verifier_fixture(Path(__file__).parent / "data/verifier_cases.jsonl")

if __name__ == "__main__":
    SynthbenchResourcesServer.run_webserver()
'''


def write(parts: Sequence[ExportPart | MixedPart], directory: Path) -> None:
    """Write the server with the rows of each part."""
    import yaml

    home = directory / _HOME
    (home / "configs").mkdir(parents=True)
    (home / "data").mkdir()
    (home / "app.py").write_text(_APP, encoding="utf-8", newline="\n")
    requirements = f"-e nemo-gym[dev] @ ../../\nsynthbench=={__version__}\n"
    (home / "requirements.txt").write_text(requirements, encoding="utf-8", newline="\n")
    config = yaml.safe_dump(_config(parts), sort_keys=False, allow_unicode=True, width=100)
    (home / "configs/synthbench.yaml").write_text(config, encoding="utf-8", newline="\n")
    write_lines(parts, home / "data", _record)
    uncounted = parts[0].counted(lambda rows: None)
    first = list(itertools.islice(uncounted.export_rows(), _EXAMPLES))
    _write(home / "data/example.jsonl", map(_record, first))
    _write(home / "data/verifier_cases.jsonl", _cases(first[0]))


def _write(file: Path, values: Iterator[dict[str, Any]]) -> None:
    lines = [f"{json.dumps(record, ensure_ascii=False)}\n" for record in values]
    file.write_text("".join(lines), encoding="utf-8", newline="\n")


def _record(row: ExportRow) -> dict[str, Any]:
    return {
        "responses_create_params": {"input": row.prompt},
        "agent_ref": {"type": "responses_api_agents", "name": _AGENT},
        "id": row.values["id"],
        "data_source": data_source(row.task, row.bucket),
        **carried(row.task, row.values),
    }


def _config(parts: Sequence[ExportPart | MixedPart]) -> dict[str, Any]:
    """The server, and the agent with its datasets."""
    names = dict.fromkeys(split_part.task.title for part in parts for split_part in part.parts)
    server = {
        "entrypoint": "app.py",
        "domain": "other",
        "verified": False,
        "description": f"{', '.join(names)}: synthbench's rows with one right answer",
        "value": "Algorithmic reasoning whose difficulty is known and whose test rows are held out",
    }
    datasets = [
        {
            "name": str(part.path).replace("/", "_"),
            "type": "validation" if _is_evaluation(part) else "train",
            "jsonl_fpath": str(_HOME / "data" / f"{part.path}.jsonl"),
            "license": "Apache 2.0",
        }
        for part in parts
    ]
    example = {"name": "example", "type": "example"}
    datasets.append({**example, "jsonl_fpath": str(_HOME / "data/example.jsonl")})
    agent = {
        "entrypoint": "app.py",
        "resources_server": {"type": "resources_servers", "name": "synthbench"},
        "model_server": {"type": "responses_api_models", "name": "policy_model"},
        "datasets": datasets,
    }
    return {
        "synthbench": {"resources_servers": {"synthbench": server}},
        _AGENT: {"responses_api_agents": {"simple_agent": agent}},
    }


def _is_evaluation(part: ExportPart | MixedPart) -> bool:
    first = part.parts[0]
    return first.task.split(first.split).evaluation


def _cases(row: ExportRow) -> Iterator[dict[str, Any]]:
    """Replies to a row, with the reward or the error that the server must answer."""
    right = answer_line(row.answer)
    for name, kind, said, reward in (
        ("right answer", "full_reward", right, 1.0),
        ("right answer with thoughts", "full_reward", f"<think>Hm.</think>\n{right}", 1.0),
        ("no answer", "zero_reward", "I cannot say.", 0.0),
        ("no message", "zero_reward", None, 0.0),
        ("the same again", "determinism", right, 1.0),
    ):
        yield {
            "name": name,
            "kind": kind,
            "request": _request(row, said),
            "expected_reward": reward,
        }
    request = _request(row, right)
    del request["row"]
    error = {"expected_error": "row", "expected_error_type": "ValidationError"}
    yield {"name": "a row that is left out", "kind": "malformed", "request": request, **error}


def _request(row: ExportRow, said: str | None) -> dict[str, Any]:
    """A request of NeMo Gym with a reply of at most one message."""
    text: dict[str, Any] = {"type": "output_text", "text": said, "annotations": []}
    message = {"id": "0", "type": "message", "role": "assistant", "status": "completed"}
    response = {
        "id": "0",
        "created_at": 0.0,
        "model": "none",
        "object": "response",
        "output": [] if said is None else [{**message, "content": [text]}],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
    }
    return {**_record(row), "response": response}
