#!/bin/sh
# mamba-ssm 2.3.2.post1: the scan in plain PyTorch cannot be imported without the CUDA extension.
#
# `selective_scan_ref` uses PyTorch and einops alone, so it should be there on a machine without a
# GPU, for which MAMBA_SKIP_CUDA_BUILD=TRUE makes a package without the extension.
# Seen (Python 3.11, PyTorch 2.15, Linux): `import mamba_ssm` raises ModuleNotFoundError for
# `selective_scan_cuda`. With an empty module of that name, `Mamba(64, use_fast_path=False)` runs on
# a CPU, once `mamba_simple.selective_scan_fn` is `selective_scan_ref`.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
pip="python3 -m pip install --quiet --target $place/site"
python3 -c "import torch, transformers, setuptools, wheel, packaging" 2>/dev/null ||
    $pip torch transformers setuptools wheel packaging
$pip --no-deps einops==0.8.2
PYTHONPATH="$place/site" MAMBA_SKIP_CUDA_BUILD=TRUE MAMBA_FORCE_BUILD=TRUE \
    $pip --no-deps --no-build-isolation mamba-ssm==2.3.2.post1
cat > "$place/scan.py" <<'PYTHON'
import sys
import types
import torch
try:
    import mamba_ssm
except ModuleNotFoundError as error:
    missing = error.name
else:
    missing = None
for name in [name for name in sys.modules if name.startswith("mamba_ssm")]:
    del sys.modules[name]
sys.modules["selective_scan_cuda"] = types.ModuleType("selective_scan_cuda")
from mamba_ssm.modules import mamba_simple
from mamba_ssm.ops.selective_scan_interface import selective_scan_ref
mamba_simple.selective_scan_fn = selective_scan_ref
layer = mamba_simple.Mamba(64, use_fast_path=False)
shape = tuple(layer(torch.randn(2, 8, 64)).shape)
print(f"import of mamba_ssm lacks {missing}; with an empty module in its place: {shape} on a CPU")
raise SystemExit(not (missing == "selective_scan_cuda" and shape == (2, 8, 64)))
PYTHON
PYTHONPATH="$place/site" python3 "$place/scan.py"
