"""Interleaved rounds: in each round every runtime runs once, in a fresh process, so that all meet the same machine."""

import pathlib

import inputs
import peers
from peers import median

LEAST_REPS, MOST_REPS = 3, 200


def spread(values):
    return {"median": median(values), "low": min(values), "high": max(values)}


def summary(rounds):
    """[{cpu_ms, wall_ms, peak?}] of one runtime -> median and range over the rounds."""
    out = {key: spread([r[key] for r in rounds]) for key in ("cpu_ms", "wall_ms")}
    if "peak" in rounds[0]:
        out["peak"] = max(r["peak"] for r in rounds)
    return out


def ratio(ours, theirs, key):
    """Ratio of each round's two neighbours: median and range. What slows the machine down slows both."""
    return spread([a[key] / b[key] for a, b in zip(ours, theirs)])


def compare(ours, spec, names, args, say, counted=()):
    """Rounds of a compiled model and ONNX Runtime on seeded inputs; a dict of runtimes, ratios, error, c1, c3."""
    arrays = inputs.seeded(spec, counted)
    ours.inputs = inputs.save(arrays, ours.folder)
    first = ours.time(1)
    reps = max(LEAST_REPS, min(MOST_REPS, int(1e3 * args.seconds / max(first["cpu_ms"], 1e-3))))
    outputs = {name: ours.folder / f"out{i}.npy" for i, name in enumerate(names)}
    c1, c3 = ours.memory(outputs)
    times = {"plimsoll": [], "onnxruntime": []}
    expected = pathlib.Path(ours.folder) / "expected.npz"
    for r in range(args.rounds):
        say(f"round {r + 1} of {args.rounds}, {reps} runs each")
        times["plimsoll"].append(ours.time(reps))
        times["onnxruntime"].append(peers.spawn("default", ours.model, ours.folder, args.threads, reps,
                                                None if r else expected))
    return {
        "threads": args.threads, "rounds": args.rounds, "reps": reps,
        "runtimes": {name: summary(rounds) for name, rounds in times.items()},
        "ratios": {key: ratio(times["plimsoll"], times["onnxruntime"], f"{key}_ms") for key in ("cpu", "wall")},
        "error": error(outputs, expected), "c1": c1, "c3": c3,
    }


def error(outputs, expected):
    import numpy as np

    largest = share = scale = 0.0
    with np.load(expected) as want:
        for name, path in outputs.items():
            difference, of_tolerance = inputs.compare(np.load(path), want[name])
            largest, share = max(largest, difference), max(share, of_tolerance)
            scale = max(scale, float(np.abs(want[name].astype(np.float64)).max(initial=0)))
    return {"largest": largest, "largest_value": scale, "of_tolerance": share, "rtol": inputs.RTOL,
            "atol": inputs.ATOL, "ok": share <= 1}
