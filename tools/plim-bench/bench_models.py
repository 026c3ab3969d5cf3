"""plim-bench models: real models, their plans checked against measurement, beside ONNX Runtime."""

import os
import pathlib
import sys
import tempfile

import machine
import page
import peers
import report
import rounds
from failure import Failure
from plimsoll import Plimsoll

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import models  # noqa: E402

# Aims of a plan beside ONNX Runtime's default peak, for the models that have one, and of CPU time.
PEAK_AIMS = {"ppocr_det@960": 0.25, "ppocr_det@1920": 0.25, "resnet@b8": 0.5}
CPU_AIM = 1.3
COMPILE_AIM = 30  # seconds


def choose(names):
    """Rows of the table by name, or all."""
    table = models.table()
    unknown = [name for name in names if name not in table]
    if unknown:
        raise Failure(1, f"no model {', '.join(unknown)}; there are {', '.join(table)}")
    return [table[name] for name in dict.fromkeys(names or table)]


def measure(model, args, say):
    """Figures of one model; a model that fails has a reason and an exit status in place of figures."""
    row = {"model": model.name, "status": "ok", "exit_status": 0}
    try:
        say(f"{model.name}: fetching")
        try:
            path = models.fetch(model, args.cache)
        except (OSError, RuntimeError) as error:
            raise Failure(4, str(error)) from None
        with tempfile.TemporaryDirectory(prefix="plim-bench-") as folder:
            ours = Plimsoll(args.tools, path, model.shape_flags(), folder, args.threads)
            say(f"{model.name}: compiling")
            figures = ours.compile()
            names = figures.pop("outputs")
            row.update(figures)
            row.update(rounds.compare(ours, model.inputs, names, args, lambda text: say(f"{model.name}: {text}"),
                                      model.counted))
            say(f"{model.name}: ONNX Runtime in least memory")
            row["runtimes"]["onnxruntime_small"] = peers.smallest(path, folder, args.threads)
            if args.budgets:
                say(f"{model.name}: smallest budget")
                row["budget"] = ours.smallest_budget()
        judge(row)
    except Failure as failure:
        row.update(status="failed", exit_status=failure.code, reason=failure.message)
    return row


def judge(row):
    """Fractions of the peer's peaks, what misses its aim, and the exit status; an aim that is missed sets none."""
    plan = row["plan"]["minus_inputs"]
    row["ratios"]["peak"] = {peer: plan / row["runtimes"][peer]["peak"] 
                             for peer in ("onnxruntime", "onnxruntime_small")}
    missed = []
    aim = PEAK_AIMS.get(row["model"])
    if aim and row["ratios"]["peak"]["onnxruntime"] > aim:
        missed.append(f"peak {row['ratios']['peak']['onnxruntime']:.2f} x ONNX Runtime's, aim {aim}")
    if row["ratios"]["cpu"]["median"] > CPU_AIM:
        missed.append(f"CPU {row['ratios']['cpu']['median']:.2f} x ONNX Runtime's, aim {CPU_AIM}")
    if row["compile"]["seconds"] > COMPILE_AIM:
        missed.append(f"compile {row['compile']['seconds']:.1f} s, aim {COMPILE_AIM}")
    if not row["compile"]["ok"]:
        missed.append(f"plimc {report.mib(row['compile']['vm_hwm'])} MiB, "
                      f"bound {report.mib(row['compile']['vm_hwm_bound'])}")
    ram = row["c1"]
    for name in ram["differ"]:
        planned = ram["planned" if name == "ledger" else f"{name}_planned"]
        missed.append(f"C1: {name} {ram[name]}, planned {planned}")
    if not row["c3"]["ok"]:
        missed.append(f"C3: VmHWM {row['c3']['vm_hwm']} outside {row['c3']['low']}..{row['c3']['high']}")
    if not (row["c1"]["ok"] and row["c3"]["ok"] and row["compile"]["ok"]):
        row["exit_status"] = 70
    if not row["error"]["ok"]:
        missed.append(f"largest error {row['error']['largest']:.3g}, "
                      f"{row['error']['of_tolerance']:.3g} x the tolerance")
        row["exit_status"] = 5
    budget = row.get("budget")
    if budget and not (budget["met"] and budget["refused_below"]):
        missed.append(f"budget {budget['bytes']}: met {budget['met']}, one byte less refused {budget['refused_below']}")
    row["missed"] = missed


def text(document):
    done = [row for row in document["models"] if row["status"] == "ok"]
    m = document["machine"]
    lines = [f"{m['cpu']}, {m['cores']} shared cores, {m['system']}, load {m['load_before']} before and "
             f"{m['load_after']} after; ONNX Runtime {document['versions']['onnxruntime']}", ""]
    if done:
        lines += [f"Time a run, ms, median (range) of {done[0]['rounds']} rounds, threads: {done[0]['threads']}; "
                  "ratio = Plimsoll / ONNX Runtime", time_table(done), ""]
        lines += ["Memory, MiB. Plan and peaks leave the caller's inputs and the empty process out",
                  memory_table(done), ""]
        lines += ["Checks. C1: reserved, live and touched bytes equal the plan. C3: VmHWM within its formula",
                  check_table(done), ""]
    missed = [f"  {row['model']}: {why}" for row in done for why in row["missed"]]
    lines += ["Missed:", *missed] if missed else ["Every aim and check is met."] if done else []
    failed = [row for row in document["models"] if row["status"] != "ok"]
    for row in failed:
        lines += ["", f"{row['model']} failed (exit status {row['exit_status']}):",
                  *("  " + part for part in row["reason"].splitlines())]
    return "\n".join(lines)


def time_table(rows):
    def cells(row):
        a, b = row["runtimes"]["plimsoll"], row["runtimes"]["onnxruntime"]
        return [row["model"], report.ranged(a["cpu_ms"]), report.ranged(b["cpu_ms"]),
                report.times(row["ratios"]["cpu"]), report.ms(a["wall_ms"]["median"]),
                report.ms(b["wall_ms"]["median"]), report.times(row["ratios"]["wall"])]

    return report.table(["model", "CPU Plimsoll", "CPU ONNX Runtime", "CPU ratio", "wall", "wall ORT", "wall ratio"],
                        list(map(cells, rows)))


def memory_table(rows):
    def cells(row):
        r, f = row["runtimes"], row["ratios"]["peak"]
        return [row["model"], report.mib(row["plan"]["minus_inputs"]), report.mib(r["onnxruntime"]["peak"]),
                f"{f['onnxruntime']:.2f}", report.mib(r["onnxruntime_small"]["peak"]), f"{f['onnxruntime_small']:.2f}",
                r["onnxruntime_small"]["options"], report.mib(row["c1"]["planned"]), report.mib(row["c3"]["vm_hwm"]),
                report.mib(row["budget"]["bytes"]) if "budget" in row else "-"]

    return report.table(["model", "plan", "ORT", "fraction", "ORT least", "fraction", "by", "plan with inputs", "VmHWM",
                         "smallest budget"], list(map(cells, rows)))


def check_table(rows):
    def cells(row):
        c, e = row["compile"], row["error"]
        return [row["model"], "equal" if row["c1"]["ok"] else "DIFFERS: " + ", ".join(row["c1"]["differ"]),
                "within" if row["c3"]["ok"] else "OUTSIDE", f"{e['largest']:.2g}",
                f"{e['largest_value']:.2g}", f"{e['of_tolerance']:.2g}",
                f"{c['seconds']:.1f}", f"{c['cpu_seconds']:.1f}", report.mib(c["vm_hwm"]),
                report.mib(c["vm_hwm_bound"])]

    return report.table(["model", "C1", "C3", "largest error", "largest value", "of tolerance", "compile s",
                         "CPU s", "plimc MiB", "bound"], list(map(cells, rows)))


def run(args):
    if args.list:
        for model in models.table().values():
            print(f"{model.name:18} {model.package} {model.version} ({model.licence})")
        return 0
    chosen = choose(args.names)
    report.check_writable(args.json, args.csv, args.html)
    import onnxruntime

    say = report.Progress()
    document = {"format": "plim-bench-models", "version": 1, "command": machine.command_line(),
                "machine": machine.describe(), "versions": {"onnxruntime": onnxruntime.__version__}}
    document["models"] = [measure(model, args, say) for model in chosen]
    document["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    say.done()
    print(text(document))
    report.write_files(args, document, document["models"], page.build(document) if args.html else None)
    return next((row["exit_status"] for row in document["models"] if row["exit_status"]), 0)
