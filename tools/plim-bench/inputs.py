"""Seeded inputs that a model accepts, saved for both sides."""

import pathlib

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i8": np.int8,
          "u8": np.uint8, "bool": np.bool_}


def seeded(spec, counted=(), seed=7):
    """Arrays for {name: (dims, dtype)}: normal floats, ids below 255, masks of ones, one segment of tokens; inputs in
    `counted` ({name: first value}) count up.

    Normal, not uniform in [0, 1): a detector answers a flat picture with nothing but values below the tolerance.
    """
    rng = np.random.default_rng(seed)
    out = {}
    for name, (dims, dtype) in spec.items():
        if name in counted:
            array = np.arange(counted[name], counted[name] + np.prod(dims, dtype=np.int64)).reshape(dims)
        elif "mask" in name:
            array = np.ones(dims)
        elif "token_type" in name:
            array = np.zeros(dims)
        elif dtype.startswith("f"):
            array = rng.standard_normal(dims, dtype=np.float32)
        else:
            array = rng.integers(0, 255, dims)
        out[name] = np.ascontiguousarray(array.astype(DTYPES[dtype]))
    return out


def save(arrays, folder):
    """Writes inputs.npz for peers and a .npy file each for plim-run; its --input flags."""
    folder = pathlib.Path(folder)
    np.savez(folder / "inputs.npz", **arrays)
    flags = []
    for i, (name, array) in enumerate(arrays.items()):
        np.save(folder / f"in{i}.npy", array)
        flags.append(f"--input={name}=@{folder / f'in{i}.npy'}")
    return flags


RTOL, ATOL = 1e-3, 1e-4


def compare(have, want):
    """Largest difference, and the largest of |have - want| / (ATOL + RTOL |want|), at most 1 where they agree."""
    if have.shape != want.shape:
        raise ValueError(f"need shape {want.shape}, have {have.shape}")
    have, want = have.astype(np.float64), want.astype(np.float64)
    difference = np.abs(have - want)
    difference[np.isnan(difference)] = np.inf
    difference[(have == want) | (np.isnan(have) & np.isnan(want))] = 0
    if difference.size == 0:
        return 0.0, 0.0
    return float(difference.max()), float((difference / (ATOL + RTOL * np.abs(want))).max())
