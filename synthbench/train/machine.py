"""What a run was made with."""

from __future__ import annotations

import contextlib
import platform
from pathlib import Path
from typing import Any

import torch

from synthbench.engine import usable_cores
from synthbench.train.setting import Setting


def machine(setting: Setting) -> dict[str, Any]:
    """What a run was made with, as JSON values."""
    gpu = setting.device.type == "cuda"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": usable_cores(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name(setting.device) if gpu else None,
    }


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
