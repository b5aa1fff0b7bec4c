"""Evaluate SmolLM2 with verifiers: `vf-eval` asks a model server, here that of Transformers.

Prints what `vf-eval` says, with the reward of each row, and fails if a row got no reply.
`python examples/llm/verifiers_eval.py 100` asks 100 rows; it needs `transformers[serving]`.
"""

import contextlib
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import smollm2

PROGRAMS, OUT = Path(sys.executable).parent, Path(f"outputs/{time.time_ns()}")
TASK = "synthbench-taskset --env.taskset.dataset parity --env.taskset.level easy"
ASK = f"-c 1 --client.api-key-var PATH --sampling.max-tokens 24 --no-push --no-rich -o {OUT} -m"


def main(rows: str = "5") -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        host, port = free.getsockname()
    ask = f"{TASK} -n {rows} --client.base-url http://{host}:{port}/v1 {ASK}"
    model, serve = smollm2.directory(), f"serve --device cpu --port {port}"
    with subprocess.Popen([PROGRAMS / "transformers", *serve.split(), model]) as server:
        while server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((host, port)):
                break
            time.sleep(0.5)
        subprocess.run([PROGRAMS / "vf-eval", *ask.split(), model], check=False)
        server.terminate()
    lines = [line for file in OUT.rglob("traces.jsonl") for line in file.read_text().splitlines()]
    if sum(json.loads(line)["ok"] for line in lines) < int(rows):
        sys.exit(f"Not every row got a reply; {OUT} says why.")


if __name__ == "__main__":
    main(*sys.argv[1:])
