"""Interleaved rounds: in each round every runtime runs once, in a fresh process, so that all meet the same machine."""

import pathlib

import inputs
import peers
from failure import Failure
from peer_process import median

LEAST_REPS, MOST_REPS = 3, 200
BASE = "onnxruntime"  # the peer whose results are the expectation


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


def compare(ours, spec, names, args, say, counted=(), beside=(BASE,), cache=None):
    """Rounds of a compiled model and its peers on seeded inputs: a dict of runtimes, ratios, error, c1, c3, and of the
    peers that are unavailable, with the reason. Without ONNX Runtime there is nothing to compare with: a failure."""
    arrays = inputs.seeded(spec, counted)
    ours.inputs = inputs.save(arrays, ours.folder)
    folder = pathlib.Path(ours.folder)
    first = ours.time(1)
    reps = max(LEAST_REPS, min(MOST_REPS, int(1e3 * args.seconds / max(first["cpu_ms"], 1e-3))))
    outputs = {name: folder / f"out{i}.npy" for i, name in enumerate(names)}
    c1, c3 = ours.memory(outputs)
    files, unavailable = {}, {}
    for peer in beside:
        say(f"{peers.NAMES[peer]}: preparing")
        try:
            files[peer] = peers.prepare(peer, ours.model, {name: dims for name, (dims, _) in spec.items()}, cache)
        except Failure as failure:
            unavailable[peer] = failure.message
    times = {"plimsoll": [], **{peer: [] for peer in files}}
    for r in range(args.rounds):
        say(f"round {r + 1} of {args.rounds}, {reps} runs each")
        times["plimsoll"].append(ours.time(reps))
        for peer in [peer for peer in files if peer not in unavailable]:
            try:
                times[peer].append(peers.spawn(peer, "default", files[peer], folder, ours.threads, reps,
                                               2 * args.seconds, None if r else folder / f"{peer}.npz"))
            except Failure as failure:
                if peer == BASE:
                    raise
                unavailable[peer] = failure.message
    done = [peer for peer in files if peer not in unavailable]
    runtimes = {name: summary(times[name]) for name in ["plimsoll", *done]}
    ratios = {peer: {key: ratio(times["plimsoll"], times[peer], f"{key}_ms") for key in ("cpu", "wall")}
              for peer in done}
    expected = folder / f"{BASE}.npz"
    for peer in done:
        if peer != BASE:
            runtimes[peer]["error"] = peer_error(folder / f"{peer}.npz", expected)
    return {"threads": ours.threads, "rounds": args.rounds, "reps": reps, "runtimes": runtimes, "ratios": ratios,
            "unavailable": unavailable, "error": error(outputs, expected), "c1": c1, "c3": c3}


def largest_of(pairs):
    """[(have, want)] -> the largest difference, share of the tolerance and value."""
    import numpy as np

    largest = share = scale = 0.0
    for have, want in pairs:
        difference, of_tolerance = inputs.compare(have, want)
        largest, share = max(largest, difference), max(share, of_tolerance)
        scale = max(scale, float(np.abs(want.astype(np.float64)).max(initial=0)))
    return largest, share, scale


def error(outputs, expected):
    import numpy as np

    with np.load(expected) as want:
        largest, share, scale = largest_of((np.load(path), want[name]) for name, path in outputs.items())
    return {"largest": largest, "largest_value": scale, "of_tolerance": share, "rtol": inputs.RTOL,
            "atol": inputs.ATOL, "ok": share <= 1}


def peer_error(have, expected):
    """How far another peer is from ONNX Runtime."""
    import numpy as np

    with np.load(have) as ours, np.load(expected) as want:
        largest, share, _ = largest_of((ours[name], want[name]) for name in want.files if name in ours.files)
    return {"largest": largest, "of_tolerance": share}
