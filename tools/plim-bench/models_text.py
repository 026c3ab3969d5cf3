"""The figures of plim-bench models as text."""

import peers
import report


def names_of(document):
    """The peers of a document, in the order of the columns."""
    return [name for name in peers.NAMES if name in document["versions"]]


def label(row, many):
    return f"{row['model']} x{row['threads']}" if many else row["model"]


def versions(document):
    return ", ".join(f"{peers.NAMES[name]} {document['versions'][name]}" for name in names_of(document))


def machine(document):
    m = document["machine"]
    return (f"{m['cpu']}, {m['cores']} shared cores, {m['system']}, load {m['load_before']} before and "
            f"{m['load_after']} after")


def have_several_threads(rows):
    return len({row["threads"] for row in rows}) > 1


def build(document):
    done = [row for row in document["models"] if row["status"] == "ok"]
    many = have_several_threads(done)
    lines = [f"{machine(document)}; {versions(document)}", ""]
    if done:
        head = f"ms a run, median (range) of {done[0]['rounds']} rounds"
        head += "" if many else f", threads: {done[0]['threads']}"
        ratio = "ratio = Plimsoll's time / the peer's, below 1 is faster"
        lines += [f"CPU time, {head}; {ratio}", time_table(done, document, "cpu", many), ""]
        lines += [f"Wall time, {head}; {ratio}", time_table(done, document, "wall", many), ""]
        lines += ["Memory, MiB. Plan and peaks leave the caller's inputs and the empty process out; fraction = plan / "
                  "peak", memory_table(done, document, many), ""]
        lines += ["Checks. C1: reserved, live and touched bytes equal the plan. C3: VmHWM within its formula",
                  check_table(done, many), "", means(document)]
        if any("budgets" in row for row in done):
            lines += ["", BUDGETS, report.table(BUDGET_COLUMNS, budget_rows(done, many))]
    missed = [f"  {label(row, many)}: {why}" for row in done for why in row["missed"]]
    lines += ["", "Missed:", *missed] if missed else ["", "Every aim and check is met."] if done else []
    away = [f"  {row['model']}: {why}" for row in done for why in row["unavailable"].values()]
    if away:
        lines += ["", "Without figures (-):", *dict.fromkeys(away)]
    for row in document["models"]:
        if row["status"] != "ok":
            lines += ["", f"{row['model']} failed (exit status {row['exit_status']}):",
                      *("  " + part for part in row["reason"].splitlines())]
    return "\n".join(lines)


def time_table(rows, document, key, many):
    def cells(row):
        out = [label(row, many), report.ranged(row["runtimes"]["plimsoll"][f"{key}_ms"])]
        for name in names_of(document):
            figures = row["runtimes"].get(name)
            out += ([report.ms(figures[f"{key}_ms"]["median"]), report.times(row["ratios"][name][key])] if figures
                    else ["-"] * 2)
        return out

    header = ["model", "Plimsoll", *(word for name in names_of(document) for word in (peers.NAMES[name], "ratio"))]
    return report.table(header, list(map(cells, rows)))


def memory_table(rows, document, many):
    def cells(row):
        out = [label(row, many), report.mib(row["plan"]["minus_inputs"])]
        for name in [*names_of(document), "onnxruntime_small"]:
            figures = row["runtimes"].get(name)
            out += [report.mib(figures["peak"]), f"{row['ratios'][name]['peak']:.2f}"] if figures else ["-"] * 2
        return out + [row["runtimes"]["onnxruntime_small"]["options"], f"{row['best_peer']['fraction']:.2f}",
                      report.mib(row["c1"]["planned"]), report.mib(row["c1"]["ledger"]),
                      report.mib(row["c3"]["vm_hwm"])]

    header = ["model", "plan", *(word for name in names_of(document) for word in (peers.NAMES[name], "fraction")),
              "ORT least", "fraction", "by", "of best peer", "planned with inputs", "measured", "VmHWM"]
    return report.table(header, list(map(cells, rows)))


def check_table(rows, many):
    def cells(row):
        c, e = row["compile"], row["error"]
        return [label(row, many), "equal" if row["c1"]["ok"] else "DIFFERS: " + ", ".join(row["c1"]["differ"]),
                "within" if row["c3"]["ok"] else "OUTSIDE", f"{e['largest']:.2g}",
                f"{e['largest_value']:.2g}", f"{e['of_tolerance']:.2g}",
                f"{c['seconds']:.1f}", f"{c['cpu_seconds']:.1f}", report.mib(c["vm_hwm"]),
                report.mib(c["vm_hwm_bound"])]

    return report.table(["model", "C1", "C3", "largest error", "largest value", "of tolerance", "compile s",
                         "CPU s", "plimc MiB", "bound"], list(map(cells, rows)))


BUDGETS = ("Budgets of RAM, MiB, inputs and outputs included: none, shares of the way from the smallest to the plan without "
           "one, the smallest, and the smallest with 8 GiB of SSD where that is less. Peak: planned and, to the byte, "
           "measured. Times as ratios to the plan without a budget, median (range) of the rounds. Plan: without the "
           "caller's inputs, beside ONNX Runtime's peak")
BUDGET_COLUMNS = ["model", "budget", "MiB", "peak", "plan", "of ORT's", "CPU", "wall", "predicted", "MB read",
                  "run again", "spilled", "bits", "plimc CPU s"]


def budget_rows(rows, many):
    """A row for each budget of each model."""
    out = []
    for row in rows:
        for p in row["budgets"]["points"] if "budgets" in row else ():
            levers = p["levers"]
            out.append([label(row, many), p["label"], "-" if p["budget"] is None else report.mib(p["budget"]),
                        report.mib(p["peak"]) + ("" if p["c1"]["ok"] and p["within"] else " DIFFERS"),
                        report.mib(p["minus_inputs"]),
                        f"{p['minus_inputs'] / row['runtimes']['onnxruntime']['peak']:.2f}", report.times(p["cpu"]),
                        report.times(p["wall"]), f"{p['predicted']:.2f}", f"{p['read_bytes'] / 1e6:.1f}",
                        levers["recomputed"], levers["spilled"],
                        "same" if p["same_bits"] else f"{p['of_tolerance']:.2g} of tolerance",
                        f"{p['compile_cpu_seconds']:.1f}"])
    return out


def means(document):
    """One line of geometric means."""
    summary = document["summary"]
    parts = [f"CPU time {summary[name]['cpu']:.2f} x {peers.NAMES[name]}'s" for name in names_of(document)
             if summary.get(name, {}).get("cpu")]
    parts += [f"plan {summary[name]['peak']:.2f} x {peers.NAMES[name]}'s peak" for name in names_of(document)
              if summary.get(name, {}).get("peak")]
    aims = document["aims"]
    return (f"Geometric means over {summary['rows']} rows: {', '.join(parts)}, "
            f"{summary['best_peer']['peak']:.2f} x the best peer's; aims: CPU time {aims['cpu_mean']:.2f} x ONNX "
            f"Runtime's, plan {aims['peak_mean']:.2f} x the best peer's peak")
