"""plim-bench stream: models whose weights are far above the budget, beside the disk's own speed and beside mmap.

In each round, each in a fresh process: direct reads of the weight file (the disk); the model under its budget, which
streams its weights; the model without a budget, all weights in memory (the compute); and the same plan and kernels with
their weights mapped from the file, so that the system pages them in and out (mmap). The second and the last run in a
memory cgroup of what the budget's plan needs, where one can be made.
"""

import dataclasses
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import inputs
import machine
import report
import rounds
import stream_text
from failure import Failure
from memory_group import MemoryGroup
from plimsoll import RUN_FIXED, RUN_PER_THREAD, RUN_TIMEOUT, Plimsoll, execute

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(SOURCE / "tools"))
import models  # noqa: E402

MIB = 1 << 20
SHARE_AIM = 0.85  # of the disk's bandwidth, where reading takes longer than computing
SLOW_AIM = 1.15   # wall time over the larger of compute and reading
BUDGET_SHARE = 8  # the stack's weights are so many budgets
DEPTH = 4  # requests in flight of the disk's measurement, as many as a plan's
LEAST_REPS, MOST_REPS = 2, 20


@dataclasses.dataclass
class Case:
    name: str
    rows: int = 0  # of the stack; else a model of test/models/models.csv
    budget: int = 0

    def prepare(self, args, folder):
        """(model, plimc's shape flags, {input: (dims, dtype)}, inputs that count up, budget)."""
        if not self.rows:
            model = models.table()[self.name]
            try:
                path = models.fetch(model, args.cache)
            except (OSError, RuntimeError) as error:
                raise Failure(4, str(error)) from None
            return path, model.shape_flags(), model.inputs, model.counted, args.ram or self.budget
        path = pathlib.Path(folder) / "stack.onnx"
        weights = stack_writer().write(path, args.layers, args.width)
        dims = [self.rows, args.width]
        return (path, [f"--shape=x={'x'.join(map(str, dims))}"], {"x": (dims, "f32")}, (),
                args.ram or weights // BUDGET_SHARE)


CASES = [Case("stack@16", rows=16), Case("stack@128", rows=128),
         Case("smollm2@prefill128", budget=64 * MIB)]


def stack_writer():
    spec = importlib.util.spec_from_file_location("make_stack", SOURCE / "examples" / "stack" / "make_stack.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Streaming:
    """The processes of one case."""

    def __init__(self, args, case, folder):
        self.args, self.folder = args, pathlib.Path(folder)
        self.model, self.shapes, spec, counted, self.budget = case.prepare(args, folder)
        arrays = inputs.seeded(spec, counted)
        self.flags = inputs.save(arrays, self.folder)
        self.pairs = [flag.removeprefix("--input=").replace("=@", "=", 1) for flag in self.flags]
        self.priority = ["chrt", "-f", "10"] if args.realtime else []

    def compile(self, name, *flags):
        out = self.folder / name
        ours = Plimsoll(self.args.tools, self.model, self.shapes, self.folder, self.args.threads)
        figures, stderr = ours.plimc(*flags, "-o", out)
        if figures["code"]:
            raise Failure(figures["code"] if figures["code"] > 0 else 70, stderr.strip())
        return out, json.loads((out / "model.plan.json").read_text())["programs"][0]

    def execute(self, command, group=None):
        """Its line of JSON; None where the kernel killed it, as it does where a memory limit cannot be kept."""
        command = [str(word) for word in [*self.priority, *command]]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=RUN_TIMEOUT,
                                  preexec_fn=group.enter if group else None)
        except subprocess.TimeoutExpired:
            raise Failure(70, f"{command[0]}: no end after {RUN_TIMEOUT} s") from None
        except FileNotFoundError as missing:
            raise Failure(4, f"need {missing.filename}; tools/dev build makes the tools") from None
        if done.returncode == -signal.SIGKILL:
            return None
        if done.returncode:
            raise Failure(done.returncode if done.returncode > 0 else 70, done.stderr.strip() or
                          f"{' '.join(command)}: ended by signal {-done.returncode}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def run(self, out, reps, group=None, outputs=()):
        tool = pathlib.Path(self.args.tools) / "plim-run"
        stats = self.execute([tool, out, "--stats=json", "--no-poison", f"--threads={self.args.threads}", "--warmup=1",
                              f"--reps={reps}", *self.flags, *outputs], group)
        if stats is None:
            raise Failure(70, f"plim-run {out.name}: killed, with a memory limit of {group.limit if group else 'none'}")
        return stats

    def probe(self, *words, group=None):
        return self.execute([pathlib.Path(self.args.tools) / "plim-stream-probe", *words], group)


def times(stats):
    return {"wall_ms": stats["time_ms"]["median"], "cpu_ms": stats["cpu_ms"]["median"]}


def same_outputs(streaming, names, whole, streamed, group):
    """Whether both plans give the same bytes."""
    files = []
    for out, which in ((whole, None), (streamed, group)):
        files.append([streaming.folder / f"{out.name}-{i}.npy" for i in range(len(names))])
        streaming.run(out, 1, which, [f"--output={name}=@{path}" for name, path in zip(names, files[-1])])
    return all(a.read_bytes() == b.read_bytes() for a, b in zip(*files))


def one_round(streaming, whole, streamed, reps, group):
    """Times of one round, each with the bandwidths that belong to it."""
    weights = whole / "model.weights"
    disk = streaming.probe("disk", weights, DEPTH, max(1, streaming.budget // MIB))
    ours = streaming.run(streamed, reps, group)
    compute = streaming.run(whole, reps)
    mapped = streaming.probe("mapped", whole, streaming.args.threads, reps, group.folder or "-", *streaming.pairs)
    out = {"disk": disk["bytes"] / disk["ms"] * 1e3, "streamed": times(ours), "compute": times(compute),
           "mmap": mapped, "bytes": ours["transfers"]["bytes_read"],
           "stall_ms": ours["transfers"]["stall_ms"], "way": ours["transfers"]["way"], "vm_hwm": ours["vm_hwm"],
           "ledger": ours["tiers"]["ram"]["ledger"], "planned": ours["tiers"]["ram"]["planned"]}
    wall = out["streamed"]["wall_ms"]
    out["bandwidth"] = out["bytes"] / wall * 1e3
    out["io_ms"] = out["bytes"] / out["disk"] * 1e3
    out["share"] = out["bandwidth"] / out["disk"]
    out["slow"] = wall / max(out["compute"]["wall_ms"], out["io_ms"])
    if mapped:
        mapped["times"] = mapped["wall_ms"] / wall
    return out


def measure(case, args, say):
    row = {"model": case.name, "status": "ok", "exit_status": 0, "threads": args.threads, "rounds": args.rounds}
    try:
        with tempfile.TemporaryDirectory(prefix="plim-stream-", dir=args.cache) as folder:
            say(f"{case.name}: preparing")
            streaming = Streaming(args, case, folder)
            say(f"{case.name}: compiling")
            whole, program = streaming.compile("whole")
            streamed, plan = streaming.compile("streamed", f"--ram={streaming.budget}")
            peak = plan["peak"]["ram"]
            row["plan"] = {"budget": streaming.budget, "peak": peak, "weights": program["resident_bytes"],
                           "resident": plan["resident_bytes"], "streamed": plan["streamed_bytes"],
                           "copies": plan["levers"]["streamed"], "predicted_ms": plan["predicted_ns"] / 1e6}
            if not plan["streamed_bytes"]:
                raise Failure(1, f"the plan for {streaming.budget} bytes streams nothing; --ram gives a smaller budget")
            # What the plan needs with the kernel's own tables: docs/concepts/memory-contract.md.
            limit = peak + peak // 512 + peak // 256 + 2 * MIB
            with MemoryGroup(limit) as group:
                row["limit"] = {"bytes": limit, "missing": group.missing}
                names = [io["name"] for io in program["outputs"]]
                row["same"] = same_outputs(streaming, names, whole, streamed, group)
                first = streaming.run(streamed, 1, group)["time_ms"]["median"]
                row["reps"] = max(LEAST_REPS, min(MOST_REPS, int(1e3 * args.seconds / max(first, 1e-3))))
                measured = []
                for r in range(args.rounds):
                    say(f"{case.name}: round {r + 1} of {args.rounds}, {row['reps']} runs each")
                    measured.append(one_round(streaming, whole, streamed, row["reps"], group))
            summarize(row, measured, (whole / "model.so").stat().st_size)
    except Failure as failure:
        row.update(status="failed", exit_status=failure.code, reason=failure.message)
    return row


def summarize(row, measured, image):
    for key in ("disk", "bandwidth", "share", "slow", "io_ms", "stall_ms"):
        row[key] = rounds.spread([r[key] for r in measured])
    for key in ("streamed", "compute"):
        row[key] = {part: rounds.spread([r[key][part] for r in measured]) for part in ("wall_ms", "cpu_ms")}
    mapped = [r["mmap"] for r in measured if r["mmap"]]
    row["mmap"] = {part: rounds.spread([m[part] for m in mapped]) for part in mapped[0]} if mapped else {}
    row["mmap"]["killed"] = len(measured) - len(mapped)
    last = measured[-1]
    row["bytes"], row["way"] = last["bytes"], last["way"]
    row["bound"] = "I/O" if row["io_ms"]["median"] > row["compute"]["wall_ms"]["median"] else "compute"
    highest = max(r["vm_hwm"] for r in measured)
    allowed = last["planned"] + RUN_FIXED + RUN_PER_THREAD * row["threads"] + image
    row["memory"] = {"planned": last["planned"], "ledger": last["ledger"], "vm_hwm": highest, "allowed": allowed,
                     "ok": last["planned"] == last["ledger"] and highest <= allowed}
    missed = []
    if row["bound"] == "I/O" and row["share"]["median"] < SHARE_AIM:
        missed.append(f"{100 * row['share']['median']:.0f} % of the disk's bandwidth, aim {100 * SHARE_AIM:.0f} %")
    if row["slow"]["median"] > SLOW_AIM:
        missed.append(f"wall {row['slow']['median']:.2f} x max(compute, I/O), aim {SLOW_AIM}")
    if not row["memory"]["ok"]:
        missed.append(f"memory: planned {last['planned']}, ledger {last['ledger']}, VmHWM {highest} of {allowed}")
        row["exit_status"] = 70
    if not row["same"]:
        missed.append("outputs differ from those with all weights in memory")
        row["exit_status"] = 5
    row["missed"] = missed


def run(args):
    names = [case.name for case in CASES]
    unknown = [name for name in args.names if name not in names]
    if unknown:
        raise Failure(1, f"no case {', '.join(unknown)}; there are {', '.join(names)}")
    report.check_writable(args.json, args.csv, args.markdown)
    args.cache.mkdir(parents=True, exist_ok=True)
    if args.realtime:
        done = execute(["chrt", "-f", "10", "true"], RUN_TIMEOUT)
        if done.returncode:
            raise Failure(4, f"--realtime: {done.stderr.strip()}")
    say = report.Progress()
    document = {"format": "plim-bench-stream", "version": 1, "command": machine.command_line(),
                "machine": machine.describe(), "realtime": args.realtime,
                "aims": {"share": SHARE_AIM, "slow": SLOW_AIM}}
    rows = document["models"] = [measure(case, args, say) for case in CASES
                                 if case.name in (args.names or names)]
    document["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    say.done()
    print(stream_text.build(document))
    report.write_files(args, document, rows)
    if args.markdown:
        report.write_whole(args.markdown, stream_text.markdown(document))
    return next((row["exit_status"] for row in rows if row["exit_status"]), 0)
