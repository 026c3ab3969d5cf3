"""Operators of com.microsoft give what ONNX Runtime gives."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import harness
import tiny


def rows(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def angles(positions, half):
    angle = np.outer(np.arange(positions), 1 / 100.0 ** (np.arange(half) / half))
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


COS, SIN = angles(32, 4)
WIDE_COS, WIDE_SIN = angles(32, 8)
PADDED = np.array([[1] * 6, [1] * 4 + [0] * 2], np.int32)

# name: (operator, inputs (None where left out; a tuple of one is a constant of the model), outputs or their number,
#        attributes)
CASES = {
    "attention": ("Attention", [rows(2, 6, 16), (rows(16, 48, seed=1),), (rows(48, seed=2),)], 1, dict(num_heads=4)),
    "attention_mask": ("Attention", [rows(2, 6, 16), (rows(16, 48, seed=1),), (rows(48, seed=2),), PADDED], 1,
                       dict(num_heads=2)),
    "attention_lengths": ("Attention", [rows(2, 6, 16), (rows(16, 48, seed=1),), (rows(48, seed=2),),
                                        np.array([6, 4], np.int32)], 1, dict(num_heads=2)),
    "attention_causal_past": ("Attention", [rows(2, 3, 16), (rows(16, 48, seed=1),), (rows(48, seed=2),), None,
                                            rows(2, 2, 4, 5, 4, seed=3)], 2, dict(num_heads=4, unidirectional=1)),
    "attention_bias": ("Attention", [rows(2, 6, 16), (rows(16, 48, seed=1),), (rows(48, seed=2),), None, None,
                                     rows(2, 4, 6, 6, seed=4)], 1, dict(num_heads=4)),
    "attention_sizes": ("Attention", [rows(2, 6, 16), (rows(16, 40, seed=1),), (rows(40, seed=2),)], 1,
                        dict(num_heads=4, qkv_hidden_sizes=[16, 16, 8])),
    "multi_head": ("MultiHeadAttention", [rows(2, 6, 16), rows(2, 7, 16, seed=1), rows(2, 7, 16, seed=2)], 1,
                   dict(num_heads=4)),
    "multi_head_bias": ("MultiHeadAttention", [rows(2, 6, 16), rows(2, 7, 16, seed=1), rows(2, 7, 16, seed=2),
                                               (rows(48, seed=3),)], 1, dict(num_heads=2, scale=0.3)),
    "multi_head_mask": ("MultiHeadAttention", [rows(2, 6, 16), rows(2, 6, 16, seed=1), rows(2, 6, 16, seed=2), None,
                                               PADDED, rows(1, 4, 6, 6, seed=4)], 1, dict(num_heads=4)),
    "multi_head_past": ("MultiHeadAttention", [rows(2, 1, 16), rows(2, 1, 16, seed=1), rows(2, 1, 16, seed=2), None,
                                               None, None, rows(2, 4, 5, 4, seed=3), rows(2, 4, 5, 4, seed=4)], 3,
                        dict(num_heads=4)),
    "multi_head_cross": ("MultiHeadAttention", [rows(2, 6, 16), rows(2, 4, 7, 4, seed=1), rows(2, 4, 7, 4, seed=2)], 1,
                         dict(num_heads=4)),
    "group_query": ("GroupQueryAttention", [rows(1, 6, 32), rows(1, 6, 16, seed=1), rows(1, 6, 16, seed=2), None, None,
                                            np.array([5], np.int32), (np.array([6], np.int32),)], 3,
                    dict(num_heads=4, kv_num_heads=2)),
    "group_query_past": ("GroupQueryAttention", [rows(1, 1, 32), rows(1, 1, 16, seed=1), rows(1, 1, 16, seed=2),
                                                 rows(1, 2, 5, 8, seed=3), rows(1, 2, 5, 8, seed=4),
                                                 np.array([5], np.int32), (np.array([6], np.int32),)], 3,
                         dict(num_heads=4, kv_num_heads=2)),
    "group_query_rotary": ("GroupQueryAttention", [rows(1, 6, 64), rows(1, 6, 32, seed=1), rows(1, 6, 32, seed=2),
                                                   None, None, np.array([5], np.int32), (np.array([6], np.int32),),
                                                   (WIDE_COS,), (WIDE_SIN,)], 3,
                           dict(num_heads=4, kv_num_heads=2, do_rotary=1)),
    "group_query_packed": ("GroupQueryAttention", [rows(1, 6, 64), None, None, None, None, np.array([5], np.int32),
                                                   (np.array([6], np.int32),)], 3, dict(num_heads=4, kv_num_heads=2)),
    "group_query_softcap": ("GroupQueryAttention", [rows(1, 6, 32), rows(1, 6, 16, seed=1), rows(1, 6, 16, seed=2),
                                                    None, None, np.array([5], np.int32), (np.array([6], np.int32),)],
                            3, dict(num_heads=4, kv_num_heads=2, softcap=0.5)),
    "group_query_window": ("GroupQueryAttention", [rows(1, 6, 32), rows(1, 6, 16, seed=1), rows(1, 6, 16, seed=2),
                                                   None, None, np.array([5], np.int32), (np.array([6], np.int32),)], 3,
                           dict(num_heads=4, kv_num_heads=2, local_window_size=3)),
    "rotary": ("RotaryEmbedding", [rows(2, 6, 32), np.arange(12, dtype=np.int64).reshape(2, 6), (COS,), (SIN,)], 1,
               dict()),
    "rotary_interleaved": ("RotaryEmbedding", [rows(2, 4, 6, 8), np.array([3], np.int64), (COS,), (SIN,)], 1,
                           dict(interleaved=1)),
    "rotary_partial": ("RotaryEmbedding", [rows(2, 6, 48), np.arange(12, dtype=np.int64).reshape(2, 6), (COS,), (SIN,)],
                       1, dict(num_heads=4, rotary_embedding_dim=8)),
    "skip_norm": ("SkipLayerNormalization", [rows(2, 6, 16), rows(2, 6, 16, seed=1), (rows(16, seed=2),),
                                             (rows(16, seed=3),), (rows(16, seed=4),)], 4, dict(epsilon=1e-5)),
    "skip_norm_broadcast": ("SkipLayerNormalization", [rows(2, 6, 16), rows(1, 6, 16, seed=1), (rows(16, seed=2),)], 1,
                            dict()),
    "skip_simplified": ("SkipSimplifiedLayerNormalization", [rows(2, 6, 16), rows(2, 6, 16, seed=1),
                                                             (rows(16, seed=2),), (rows(16, seed=4),)],
                        ["y0", "", "", "y3"], dict(epsilon=1e-5)),
    "embed_norm": ("EmbedLayerNormalization", [np.arange(12, dtype=np.int32).reshape(2, 6),
                                               np.zeros((2, 6), np.int32), (rows(20, 8),), (rows(9, 8, seed=1),),
                                               (rows(2, 8, seed=2),), (rows(8, seed=3),), (rows(8, seed=4),), PADDED],
                   2, dict(epsilon=1e-5)),
    "embed_norm_positions": ("EmbedLayerNormalization", [np.arange(12, dtype=np.int32).reshape(2, 6), None,
                                                         (rows(20, 8),), (rows(9, 8, seed=1),), None,
                                                         (rows(8, seed=3),), (rows(8, seed=4),), None,
                                                         np.array([[2, 3, 4, 5, 6, 7]] * 2, np.int32)], 2, dict()),
    "gelu": ("Gelu", [rows(3, 40, low=-4, high=4)], 1, dict()),
    "bias_gelu": ("BiasGelu", [rows(3, 40, low=-4, high=4), (rows(40, seed=1),)], 1, dict()),
    "fast_gelu": ("FastGelu", [rows(3, 40, low=-4, high=4), (rows(40, seed=1),)], 1, dict()),
    "quick_gelu": ("QuickGelu", [rows(3, 40, low=-4, high=4)], 1, dict(alpha=1.7)),
    "fused_matmul": ("FusedMatMul", [rows(2, 5, 4), rows(2, 6, 5, seed=1)], 1, dict(transA=1, transB=1, alpha=0.5)),
    "fused_matmul_batch": ("FusedMatMul", [rows(5, 3, 2, 4), rows(3, 2, 4, 6, seed=1)], 1,
                           dict(transBatchA=1)),
    "fused_gemm": ("FusedGemm", [rows(3, 4), rows(4, 5, seed=1), rows(5, seed=2)], 1,
                   dict(activation="LeakyRelu", activation_alpha=0.2)),
    "fused_conv": ("FusedConv", [rows(1, 3, 8, 8), (rows(6, 3, 3, 3, seed=1),), (rows(6, seed=2),),
                                 rows(1, 6, 8, 8, seed=3)], 1, dict(pads=[1, 1, 1, 1], activation="Relu")),
    "fused_conv_clip": ("FusedConv", [rows(1, 3, 8, 8), (rows(6, 3, 3, 3, seed=1),)], 1,
                        dict(activation="Clip", activation_params=[-0.5, 0.5])),
}


def model_of(operator, inputs, outputs, attributes):
    values, weights, names = [], [], []
    for i, given in enumerate(inputs):
        names.append("" if given is None else f"x{i}")
        if isinstance(given, tuple):
            weights.append(numpy_helper.from_array(given[0], names[-1]))
        elif given is not None:
            values.append(tiny.value(names[-1], given.shape, helper.np_dtype_to_tensor_dtype(given.dtype)))
    results = outputs if isinstance(outputs, list) else [f"y{i}" for i in range(outputs)]
    node = helper.make_node(operator, names, results, "node", domain="com.microsoft", **attributes)
    integers = ["y1"] if operator == "EmbedLayerNormalization" else []
    infos = [tiny.value(r, None, TensorProto.INT32 if r in integers else TensorProto.FLOAT) for r in results if r]
    return tiny.model([node], values, infos, weights, domains=["com.microsoft"])


@pytest.mark.parametrize("name", CASES)
def test_same_as_onnx_runtime(name, tmp_path):
    operator, inputs, outputs, attributes = CASES[name]
    path = tiny.save(model_of(operator, inputs, outputs, attributes), tmp_path / "model.onnx")
    fed = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and not isinstance(x, tuple)}
    want = harness.ort_outputs(path, fed)
    if operator == "SkipLayerNormalization":  # ONNX Runtime leaves these empty on the CPU
        want = {k: v for k, v in want.items() if k not in ("y1", "y2")}
    harness.compile_model(path, tmp_path / "out")
    _, have = harness.run_model(tmp_path / "out", fed, tmp_path, outputs=list(want))
    for key, expected in want.items():
        assert have[key].shape == expected.shape, key
        np.testing.assert_allclose(have[key], expected, rtol=1e-3, atol=1e-5, err_msg=key)
