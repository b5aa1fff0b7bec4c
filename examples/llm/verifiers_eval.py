"""Evaluate SmolLM2 with verifiers: `vf-eval` asks a model server, here that of Transformers.

Prints what `vf-eval` says, with the reward of each row; its traces go to `./outputs`.
`python examples/llm/verifiers_eval.py 100` asks 100 fresh rows. The server needs
`pip install 'transformers[serving]'`; it asks for no key, so the key is any variable that is set.
"""

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import smollm2

PROGRAMS, URL = Path(sys.executable).parent, "http://127.0.0.1:8765"
SERVE = "serve --device cpu --port 8765"
TASK = "synthbench-taskset --env.taskset.dataset parity --env.taskset.level easy"
ASK = f"-c 1 --client.base-url {URL}/v1 --client.api-key-var PATH --sampling.max-tokens 24"


def main(rows: str = "5") -> None:
    model = smollm2.directory()
    ask = [*TASK.split(), *ASK.split(), "--no-push", "--no-rich", "-m", model, "-n", rows]
    with subprocess.Popen([PROGRAMS / "transformers", *SERVE.split(), model]) as server:
        while server.poll() is None and not is_up():
            time.sleep(0.5)
        subprocess.run([PROGRAMS / "vf-eval", *ask], check=False)
        server.terminate()


def is_up() -> bool:
    try:
        return bool(urllib.request.urlopen(f"{URL}/health"))
    except OSError:
        return False


if __name__ == "__main__":
    main(*sys.argv[1:])
