"""Layers of mamba-ssm and xlstm for check-layer and the suite of layers. All run on a CPU.

    pip install xlstm mlstm-kernels omegaconf dacite
    MAMBA_SKIP_CUDA_BUILD=TRUE pip install --no-build-isolation --no-deps mamba-ssm
    synthbench check-layer examples/recurrent_layers.py:mamba

Printed, when it is run: the names that may follow the colon.
"""

import importlib.util
import sys
from types import ModuleType


def mamba(width):  # with the scan in plain PyTorch, which its authors call the reference
    if importlib.util.find_spec("selective_scan_cuda") is None:  # mamba_ssm imports it anyway
        sys.modules["selective_scan_cuda"] = ModuleType("selective_scan_cuda")
    from mamba_ssm.modules import mamba_simple as module
    from mamba_ssm.ops.selective_scan_interface import selective_scan_ref

    module.selective_scan_fn = selective_scan_ref
    return module.Mamba(width, use_fast_path=False)


def mlstm(width):
    return xlstm_layer("mLSTMLayer", embedding_dim=width, num_heads=4, context_length=512)


def slstm(width):
    return xlstm_layer("sLSTMLayer", embedding_dim=width, num_heads=4, backend="vanilla")


def xlstm_layer(name, **sizes):
    import xlstm

    class Layer(getattr(xlstm, name)):
        def step(self, states, memory):  # xlstm takes the memory as keywords
            return super().step(states, **(memory or {}))

    return Layer(getattr(xlstm, f"{name}Config")(**sizes))


if __name__ == "__main__":
    print(mamba.__name__, mlstm.__name__, slstm.__name__)
