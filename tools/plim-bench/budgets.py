"""plim-bench models --budgets: a model under budgets from none to the smallest, beside its plan without a budget."""

import shutil

import inputs
import rounds
from failure import Failure

SHARES = (0.75, 0.5)  # of the way from the smallest budget to what the plan without one takes
SSD = "--ssd=8GiB"


class Point:
    """One budget: its plan, what a run of it took, and the times of its rounds."""

    def __init__(self, label, budget, ours, flags=()):
        self.label, self.budget, self.ours, self.times = label, budget, ours, []
        self.compile, self.program = ours.compile_at(f"--ram={budget}" if budget else None, *flags)

    def check(self, names, reference):
        """C1 and C3, and how far the results are from those of the plan without a budget."""
        import numpy as np

        outputs = {name: self.ours.folder / f"out{i}.npy" for i, name in enumerate(names)}
        self.c1, self.c3 = self.ours.memory(outputs)
        have = {name: np.load(path) for name, path in outputs.items()}
        if reference is None:
            reference = have
        self.same_bits = all(have[name].tobytes() == reference[name].tobytes() for name in names)
        self.of_tolerance = max(inputs.compare(have[name], reference[name])[1] for name in names)
        return reference

    def read_bytes(self):
        """Of one run, from the weight file and the spill file."""
        return sum(s["bytes"] for s in self.program["steps"] if s["op"] == "copy" and s["from"] in ("file", "ssd"))

    def figures(self, free):
        within = self.budget is None or self.c1["planned"] <= self.budget
        return {"label": self.label, "budget": self.budget, "peak": self.c1["planned"],
                "minus_inputs": self.program["reserved_peak"]["ram"] + sum(o["bytes"] for o in self.program["outputs"]),
                "ssd": self.program["peak"].get("ssd", 0), "read_bytes": self.read_bytes(),
                "predicted_ms": self.program["predicted_ns"] / 1e6,
                "predicted": self.program["predicted_ns"] / free.program["predicted_ns"],
                **{f"{key}_ms": rounds.spread([t[f"{key}_ms"] for t in self.times]) for key in ("cpu", "wall")},
                **{key: rounds.ratio(self.times, free.times, f"{key}_ms") for key in ("cpu", "wall")},
                "levers": self.program["levers"], "steps": len(self.program["steps"]),
                "compile_cpu_seconds": self.compile["cpu_seconds"], "c1": self.c1, "c3": self.c3,
                "within": within, "same_bits": self.same_bits, "of_tolerance": self.of_tolerance}


def smallest(ours, say):
    """The smallest budget without and with an ssd, and whether one byte less is refused."""
    say("the smallest budget")
    alone, cpu_seconds = ours.smallest_budget()
    say("the smallest budget with an ssd")
    with_ssd, _ = ours.smallest_budget(SSD)
    say("one byte less")
    return {"bytes": alone, "ssd_bytes": with_ssd, "refusal_cpu_seconds": cpu_seconds,
            "refused_below": ours.refuses(alone - 1)}


def measure(ours, names, args, reps, say):
    """Figures of the budgets of a model whose plan without one is compiled and has its inputs; rounds as beside peers."""
    least = smallest(ours, say)
    free = Point("none", None, ours)
    points = [free]
    top = free.program["peak"]["ram"]

    def add(label, budget, *flags):
        say(f"compiling at {budget} bytes")
        points.append(Point(label, budget, ours.beside(f"budget{len(points)}"), flags))

    try:
        if least["bytes"] < top:
            for share in SHARES:
                add(f"{share:g}", int(least["bytes"] + share * (top - least["bytes"])))
            add("smallest", least["bytes"])
        if least["ssd_bytes"] < least["bytes"]:
            add("smallest, ssd", least["ssd_bytes"], SSD)
        reference = None
        for point in points:
            say(f"checking the run at budget {point.label}")
            reference = point.check(names, reference)
        for r in range(args.rounds):
            say(f"budgets, round {r + 1} of {args.rounds}")
            for point in points:
                point.times.append(point.ours.time(reps))
    finally:
        for point in points[1:]:
            shutil.rmtree(point.ours.folder)
    return {**least, "points": [point.figures(free) for point in points]}


def missed(budgets):
    """(what is not as it must be, the exit status of that)."""
    said, status = [], 0
    if not budgets["refused_below"]:
        said.append(f"budget {budgets['bytes'] - 1}: need a refusal, as the smallest is one byte more")
        status = 70
    for point in budgets["points"]:
        where = f"budget {point['label']}"
        if point["c1"]["differ"] or not point["c3"]["ok"] or not point["within"]:
            said.append(f"{where}: peak {point['c1']['ledger']}, planned {point['c1']['planned']}, of {point['budget']}; "
                        f"C1 differs in {point['c1']['differ']}, C3 {'within' if point['c3']['ok'] else 'outside'}")
            status = 70
        if point["of_tolerance"] > 1:
            said.append(f"{where}: {point['of_tolerance']:.3g} x the tolerance from the results without a budget")
            status = status or 5
    alone = [point for point in budgets["points"] if not point["label"].endswith("ssd")]
    for faster, slower in zip(alone, alone[1:]):
        if slower["predicted_ms"] < faster["predicted_ms"]:
            said.append(f"budget {slower['label']}: predicted {slower['predicted_ms']:.3f} ms, faster than the larger "
                        f"budget {faster['label']} with {faster['predicted_ms']:.3f}")
            status = status or 70
    return said, status
