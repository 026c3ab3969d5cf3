"""plim-bench planner: offset packing on instance files, and whole plans of generated graphs under budgets."""

import json
import os
import pathlib
import re

import machine
import planner_graphs
import report
from failure import Failure
from plimsoll import execute, metered

TIMEOUT = 600  # seconds an instance


def measure(tools, path, say):
    """One instance. A capacity in the file's name (A.1048576.csv) is what the packing aims at."""
    say(path.name)
    capacity = re.search(r"\.(\d+)\.csv$", path.name)
    command = [tools / "plim-solve", "pack", path, "--json"]
    if capacity:
        command += ["--capacity", capacity.group(1)]
    done = execute(command, TIMEOUT)
    if done.returncode not in (0, 3):
        return {"instance": path.name, "exit_status": done.returncode, "reason": done.stderr.strip()}
    figures, _ = metered(command, TIMEOUT)
    result = json.loads(done.stdout)
    return {"instance": path.name, "exit_status": done.returncode, "buffers": result["buffers"],
            "max_live": result["max_live"], "height": result["height"], "ratio": result["ratio"],
            "capacity": int(capacity.group(1)) if capacity else None, "fits": result["ok"],
            "cpu_seconds": figures["cpu_seconds"], "vm_hwm": figures["vm_hwm"]}


def packing(args, say):
    """Rows of the instance files that are asked for."""
    if args.instances is None:
        return []
    files = sorted(pathlib.Path(args.instances).glob("*.csv"))
    if not files:
        raise Failure(4, f"need instance files (*.csv), have none in {args.instances}")
    return [measure(pathlib.Path(args.tools), path, say) for path in files
            if planner_graphs.chosen(path.name, args.names)]


def print_packing(rows):
    good = [r for r in rows if "height" in r]
    print("Offset packing: height beside the largest sum alive at one time, below which there is no packing")
    print(report.table(["instance", "buffers", "bound", "height", "ratio", "capacity", "CPU s", "MiB"],
                       [[r["instance"], r["buffers"], r["max_live"], r["height"], f"{r['ratio']:.4f}",
                         "-" if r["capacity"] is None else "met" if r["fits"] else "NOT MET", f"{r['cpu_seconds']:.2f}",
                         report.mib(r["vm_hwm"])] for r in good]))
    print(f"{sum(r['cpu_seconds'] for r in good):.2f} CPU s in all")


def run(args):
    report.check_writable(args.json, args.csv)
    say = report.Progress()
    document = {"format": "plim-bench-planner", "version": 2, "command": machine.command_line(),
                "machine": machine.describe()}
    document["instances"] = packing(args, say)
    document["graphs"] = planner_graphs.measure_all(pathlib.Path(args.tools), args.names, say)
    rows = [*document["instances"], *document["graphs"]]
    document["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    say.done()
    if not rows:
        raise Failure(1, f"nothing has one of these parts in its name: {', '.join(args.names)}")
    if document["instances"]:
        print_packing(document["instances"])
    if document["graphs"]:
        planner_graphs.print_tables(document["graphs"])
    for r in rows:
        if "reason" in r:
            print(f"{r.get('instance') or r['graph']} failed (exit status {r['exit_status']}): {r['reason']}")
    report.write_files(args, document, rows)
    return next((r["exit_status"] for r in rows if "reason" in r), 0)
