"""plim-bench models: real models, their plans checked against measurement, beside their peers."""

import math
import os
import pathlib
import sys
import tempfile

import budgets
import machine
import models_markdown
import models_page
import models_text
import peers
import report
import rounds
from failure import Failure
from plimsoll import Plimsoll

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import models  # noqa: E402

# What a model needs by itself, MiB: its weights as stored and the largest set of activations alive at once, after
# fusion and reuse in place. A plan is to stay within PLAN_SLACK of it.
NEEDS = {"ppocr_det@960": 47, "ppocr_det@1920": 173, "ppocr_rec": 12.3, "resnet": 28.8, "resnet@b8": 72,
         "minilm3": 67.7, "minilm6_w8@128": 23.8, "minilm6_w8@512": 48, "magika": 5.5, "smollm2@decode255": 529,
         "smollm2@prefill128": 547, "silero_seq": 10.5}
PLAN_SLACK = 1.05, 4  # times, MiB more
CPU_AIM, CPU_MEAN_AIM = 1.5, 1.0  # of ONNX Runtime's
PEAK_MEAN_AIM = 0.4  # of the best peer's
COMPILE_AIM = 30  # seconds


def choose(names):
    """Rows of the table by name, or all."""
    table = models.table()
    unknown = [name for name in names if name not in table]
    if unknown:
        raise Failure(1, f"no model {', '.join(unknown)}; there are {', '.join(table)}")
    return [table[name] for name in dict.fromkeys(names or table)]


def choose_peers(text):
    """ONNX Runtime and those of the list, or those that are installed."""
    have = peers.installed()
    if text is None:
        return list(have)
    wanted = [] if text == "none" else text.split(",")
    unknown = [name for name in wanted if name not in peers.NAMES]
    if unknown:
        raise Failure(1, f"--beside: no peer {', '.join(unknown)}; there are {', '.join(peers.NAMES)}, none")
    missing = [name for name in wanted if name not in have]
    if missing:
        raise Failure(4, f"--beside: {', '.join(missing)} is not installed; tools/dev bench --peers installs the peers")
    return list(dict.fromkeys([rounds.BASE, *wanted]))


def measure(model, args, beside, say):
    """Rows of one model, one for each number of threads; a model that fails has a reason in place of figures."""
    rows = []
    try:
        say(f"{model.name}: fetching")
        try:
            path = models.fetch(model, args.cache)
        except (OSError, RuntimeError) as error:
            raise Failure(4, str(error)) from None
        with tempfile.TemporaryDirectory(prefix="plim-bench-") as folder:
            ours = Plimsoll(args.tools, path, model.shape_flags(), folder, args.threads[0])
            say(f"{model.name}: compiling")
            figures = ours.compile()
            names = figures.pop("outputs")
            for threads in args.threads:
                ours.threads = threads
                row = {"model": model.name, "status": "ok", "exit_status": 0, **figures}
                row.update(rounds.compare(ours, model.inputs, names, args, lambda text: say(f"{model.name}: {text}"),
                                          model.counted, beside, args.cache))
                if args.budgets and threads == args.threads[0]:
                    row["budgets"] = budgets.measure(ours, names, args, row["reps"],
                                                     lambda text: say(f"{model.name}: {text}"))
                say(f"{model.name}: ONNX Runtime in least memory")
                row["runtimes"]["onnxruntime_small"] = peers.smallest(path, folder, threads)
                judge(row)
                rows.append(row)
    except Failure as failure:
        rows.append({"model": model.name, "status": "failed", "exit_status": failure.code, "reason": failure.message})
    return rows


def judge(row):
    """Fractions of the peers' peaks, what misses its aim, and the exit status; an aim that is missed sets none."""
    plan = row["plan"]["minus_inputs"]
    peaks = {name: runtime["peak"] for name, runtime in row["runtimes"].items() if name != "plimsoll"}
    for peer, peak in peaks.items():
        row["ratios"].setdefault(peer, {})["peak"] = plan / peak
    best = min(peaks, key=peaks.get)
    row["best_peer"] = {"name": best, "peak": peaks[best], "fraction": plan / peaks[best]}
    missed = []
    if row["model"] in NEEDS:
        times, more = PLAN_SLACK
        aim = (times * NEEDS[row["model"]] + more) * report.MIB
        if plan > aim:
            missed.append(f"plan {report.mib(plan)} MiB, aim {report.mib(aim)}")
    cpu = row["ratios"][rounds.BASE]["cpu"]["median"]
    if cpu > CPU_AIM:
        missed.append(f"CPU {cpu:.2f} x ONNX Runtime's, aim {CPU_AIM}")
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
    if "budgets" in row:
        said, status = budgets.missed(row["budgets"])
        missed += said
        row["exit_status"] = row["exit_status"] or status
    row["missed"] = missed


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def summarize(rows):
    """Geometric means over rows with figures: CPU time and peak beside each peer, peak beside the best of each row."""
    done = [row for row in rows if row["status"] == "ok"]
    named = [name for name in (*peers.NAMES, "onnxruntime_small") if any(name in row["ratios"] for row in done)]
    out = {name: {"cpu": geometric_mean([row["ratios"][name]["cpu"]["median"] for row in done
                                         if "cpu" in row["ratios"].get(name, {})]),
                  "peak": geometric_mean([row["ratios"][name]["peak"] for row in done if name in row["ratios"]])}
           for name in named}
    if done:
        out["best_peer"] = {"peak": geometric_mean([row["best_peer"]["fraction"] for row in done])}
    return {"rows": len(done), **out}


def run(args):
    if args.list:
        for model in models.table().values():
            print(f"{model.name:18} {model.package} {model.version} ({model.licence})")
        return 0
    chosen, beside = choose(args.names), choose_peers(args.beside)
    report.check_writable(args.json, args.csv, args.html, args.markdown)
    say = report.Progress()
    document = {"format": "plim-bench-models", "version": 2, "command": machine.command_line(),
                "machine": machine.describe(), "versions": {peer: peers.version(peer) for peer in beside}}
    rows = document["models"] = [row for model in chosen for row in measure(model, args, beside, say)]
    document["summary"] = summarize(rows)
    document["aims"] = {"cpu": CPU_AIM, "cpu_mean": CPU_MEAN_AIM, "peak_mean": PEAK_MEAN_AIM, "compile_s": COMPILE_AIM}
    document["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    say.done()
    print(models_text.build(document))
    report.write_files(args, document, rows, models_page.build(document) if args.html else None)
    if args.markdown:
        report.write_whole(args.markdown, models_markdown.build(document, models.table()))
    return next((row["exit_status"] for row in rows if row["exit_status"]), 0)
