"""plim-bench kernels: models of one operator beside ONNX Runtime's."""

import os
import tempfile

import machine
import onnx
import report
import rounds
import single_ops
from failure import Failure
from plimsoll import Plimsoll


def measure(case, args, say):
    row = {"kernel": case.name, "status": "ok", "exit_status": 0, "flops": case.flops}
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


def run(args):
    chosen = [case for case in (make() for make in single_ops.cases())
              if not args.names or any(part in case.name for part in args.names)]
    if not chosen:
        raise Failure(1, f"no kernel has {', '.join(args.names)} in its name; there are "
                         f"{', '.join(make().name for make in single_ops.cases())}")
    report.check_writable(args.json, args.csv)
    say = report.Progress()
    document = {"format": "plim-bench-kernels", "version": 1, "command": machine.command_line(),
                "machine": machine.describe()}
    rows = document["kernels"] = [measure(case, args, say) for case in chosen]
    document["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    say.done()
    m = document["machine"]
    print(f"{m['cpu']}, {m['cores']} shared cores, load {m['load_before']} before and {m['load_after']} after")
    print(f"CPU time a run and GFLOP a CPU second, threads: {args.threads}, rounds: {args.rounds}; speed = ONNX "
          "Runtime's time / Plimsoll's, above 1 is faster")
    good = [r for r in rows if r["status"] == "ok"]
    print(report.table(["kernel", "ms", "ms ORT", "GFLOP/s", "GFLOP/s ORT", "speed", "largest error"], [
        [r["kernel"], report.ms(r["runtimes"]["plimsoll"]["cpu_ms"]["median"]),
         report.ms(r["runtimes"]["onnxruntime"]["cpu_ms"]["median"]), f"{r['gflops']['plimsoll']:.1f}",
         f"{r['gflops']['onnxruntime']:.1f}", report.times(inverse(r["ratios"]["onnxruntime"]["cpu"])),
         f"{r['error']['largest']:.2g}" + ("" if r["error"]["ok"] else " DIFFERS")] for r in good]))
    for r in rows:
        if r["status"] != "ok":
            print(f"{r['kernel']} failed (exit status {r['exit_status']}): {r['reason']}")
    report.write_files(args, document, rows)
    return next((r["exit_status"] for r in rows if r["exit_status"]), 0)


def inverse(s):
    return {"median": 1 / s["median"], "low": 1 / s["high"], "high": 1 / s["low"]}
