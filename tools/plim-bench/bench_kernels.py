"""plim-bench kernels: models of one operation beside ONNX Runtime's and the machine's ceilings."""

import json
import os
import pathlib
import tempfile

import machine
import onnx
import report
import rounds
import single_ops
from failure import Failure
from plimsoll import Plimsoll, execute

PROBE_TIMEOUT = 300  # seconds


def measure(case, args, say):
    row = {"kernel": case.name, "status": "ok", "exit_status": 0, "flops": case.flops, "bytes": case.bytes}
    try:
        with tempfile.TemporaryDirectory(prefix="plim-bench-") as folder:
            path = os.path.join(folder, "model.onnx")
            onnx.save(case.model, path)
            ours = Plimsoll(args.tools, path, case.shape_flags(), folder, args.threads)
            figures = ours.compile()
            row.update(rounds.compare(ours, case.spec, figures["outputs"], args, lambda t: say(f"{case.name}: {t}")))
        # Operations a CPU second: on one thread this is the speed, on more the speed of each.
        row["gflops"] = {name: case.flops / r["cpu_ms"]["median"] / 1e6 for name, r in row["runtimes"].items()}
        if not row["error"]["ok"]:
            row["exit_status"] = 5
    except Failure as failure:
        row.update(status="failed", exit_status=failure.code, reason=failure.message)
    return row


def probe(args, what):
    """A document of plim-kernel-probe: `ceilings` or `choices`."""
    tool = pathlib.Path(args.tools) / "plim-kernel-probe"
    if not tool.exists():
        raise Failure(4, f"need {tool}; tools/dev build makes it, --tools names its folder")
    done = execute([tool, what], PROBE_TIMEOUT)
    if done.returncode:
        raise Failure(done.returncode if done.returncode > 0 else 70, done.stderr.strip())
    return json.loads(done.stdout)


def run(args):
    chosen = [case for case in (make() for make in single_ops.cases())
              if not args.names or any(part in case.name for part in args.names)]
    if not chosen:
        raise Failure(1, f"no kernel has {', '.join(args.names)} in its name; there are "
                         f"{', '.join(make().name for make in single_ops.cases())}")
    report.check_writable(args.json, args.csv)
    say = report.Progress()
    document = {"format": "plim-bench-kernels", "version": 2, "command": machine.command_line(),
                "machine": machine.describe()}
    say("what the machine does at most")
    ceilings = document["ceilings"] = probe(args, "ceilings")
    rows = document["kernels"] = [measure(case, args, say) for case in chosen]
    for row in rows:
        if row["status"] == "ok":
            ms = row["runtimes"]["plimsoll"]["cpu_ms"]["median"]
            row["of_peak"] = {"flops": row["flops"] / ms / 1e6 / ceilings["gflops"],
                              "read": row["bytes"] / ms / 1e6 / ceilings["read_gb"]}
    choices = document["choices"] = []
    if not args.names:
        say("predicted and measured times of the candidates of a launch")
        choices += probe(args, "choices")["choices"]
    document["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    say.done()
    print(text(document, args))
    report.write_files(args, document, rows)
    return next((r["exit_status"] for r in rows if r["exit_status"]), 0)


def text(document, args):
    m, c = document["machine"], document["ceilings"]
    lines = [f"{m['cpu']}, {m['cores']} shared cores, load {m['load_before']} before and {m['load_after']} after",
             f"one core at most (x86-64-{c['isa']}): {c['gflops']:.0f} GFLOP/s in f32, {c['read_gb']:.1f} GB/s read "
             "from memory",
             f"CPU time a run and GFLOP a CPU second, threads: {args.threads}, rounds: {args.rounds}; speed = ONNX "
             "Runtime's time / Plimsoll's, above 1 is faster. Of peak, of read: shares of these ceilings; reads count "
             "weights, inputs and outputs, so that what lies in a cache may pass 100 %"]
    good = [r for r in document["kernels"] if r["status"] == "ok"]
    lines.append(report.table(
        ["kernel", "ms", "ms ORT", "GFLOP/s", "GFLOP/s ORT", "speed", "of peak", "of read", "largest error"], [
            [r["kernel"], report.ms(r["runtimes"]["plimsoll"]["cpu_ms"]["median"]),
             report.ms(r["runtimes"]["onnxruntime"]["cpu_ms"]["median"]), f"{r['gflops']['plimsoll']:.1f}",
             f"{r['gflops']['onnxruntime']:.1f}", report.times(inverse(r["ratios"]["onnxruntime"]["cpu"])),
             f"{100 * r['of_peak']['flops']:.0f} %", f"{100 * r['of_peak']['read']:.0f} %",
             f"{r['error']['largest']:.2g}" + ("" if r["error"]["ok"] else " DIFFERS")] for r in good]))
    for r in document["kernels"]:
        if r["status"] != "ok":
            lines.append(f"{r['kernel']} failed (exit status {r['exit_status']}): {r['reason']}")
    if document["choices"]:
        lines += ["", "Candidates of one launch, ms predicted / measured, least prediction first; regret = the first "
                      "one's time / the least"]
        lines.append(report.table(["launch", "regret", "candidates"], [
            [choice["launch"], f"{choice['regret']:.2f}", ", ".join(
                f"{c['kernel']} {report.ms(c['predicted_ms'])} / {report.ms(c['ms'])}"
                for c in sorted(choice["candidates"], key=lambda c: c["predicted_ms"]))]
            for choice in document["choices"]]))
    return "\n".join(lines)


def inverse(s):
    return {"median": 1 / s["median"], "low": 1 / s["high"], "high": 1 / s["low"]}
