#!/bin/sh
# routing-transformer 1.6.1: with causal=True early outputs change with later tokens.
#
# A causal layer masks later positions, so the outputs of positions 0 to 127 should not depend on
# positions 128 to 255.
# Seen (Python 3.11, Linux): in evaluation, where the k-means centres stay as they are and two equal
# calls give equal outputs, 128 new later positions change early outputs by 16% of the largest.
# A cluster holds a fixed number of tokens of the whole row, so later tokens push earlier ones out.
#
# Exits with 0 while that holds, else with 1.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
pip="python3 -m pip install --quiet --target $place/site"
$pip --no-deps routing-transformer==1.6.1 local-attention==1.11.2 product-key-memory==0.3.0 \
    mixture-of-experts==0.2.3 colt5-attention==0.11.2 hyper-connections==0.4.11 einops==0.8.2
python3 -c "import torch" 2>/dev/null || $pip torch
cat > "$place/leak.py" <<'PYTHON'
import torch
from routing_transformer import RoutingTransformer
torch.manual_seed(0)
layer = RoutingTransformer(dim=64, depth=1, max_seq_len=256, heads=4, window_size=64, causal=True)
layer.eval()
row = torch.randn(1, 256, 64)
other = torch.cat([row[:, :128], torch.randn(1, 128, 64)], dim=1)
with torch.no_grad():
    layer(row)  # the first call sets the centres
    before, again, after = layer(row)[0], layer(row)[0], layer(other)[0]
early = before[:, :128]
same = (early - again[:, :128]).abs().max() / early.abs().max()
change = (early - after[:, :128]).abs().max() / early.abs().max()
print(f"equal calls differ by {same:.2%}, early outputs change by {change:.0%} with later inputs")
raise SystemExit(not (same < 1e-5 and change > 0.1))
PYTHON
PYTHONPATH="$place/site" python3 "$place/leak.py"
