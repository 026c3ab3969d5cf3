"""The figures of plim-bench stream as text and as Markdown."""

import report

COLUMNS = ["model", "budget MiB", "streamed MB", "disk GB/s", "streamed GB/s", "share", "wall ms", "compute ms",
           "I/O ms", "wall / max", "mmap ms", "mmap / streamed"]
CPU_COLUMNS = ["model", "CPU ms", "compute", "mmap", "stall ms", "way", "peak MiB", "VmHWM MiB", "resident MiB of weights"]


def gigabytes(s):
    return report.ranged(s, lambda v: f"{v / 1e9:.2f}")


def percent(s):
    return report.ranged(s, lambda v: f"{100 * v:.0f}") + " %"


def mmap(row, key, form):
    return form(row["mmap"][key]) if key in row["mmap"] else "killed"


def cells(row):
    return [row["model"], report.mib(row["plan"]["budget"]), f"{row['bytes'] / 1e6:.0f}", gigabytes(row["disk"]),
            gigabytes(row["bandwidth"]), percent(row["share"]), report.ranged(row["streamed"]["wall_ms"]),
            report.ranged(row["compute"]["wall_ms"]), report.ms(row["io_ms"]["median"]), report.times(row["slow"]),
            *(mmap(row, key, form) for key, form in (("wall_ms", report.ranged), ("times", report.times)))]


def cpu_cells(row):
    plan, memory = row["plan"], row["memory"]
    return [row["model"], *(report.ranged(row[key]["cpu_ms"]) for key in ("streamed", "compute")),
            mmap(row, "cpu_ms", report.ranged), report.ranged(row["stall_ms"]), row["way"], report.mib(memory["planned"]), report.mib(memory["vm_hwm"]),
            f"{report.mib(plan['resident'])} of {report.mib(plan['weights'])}"]


def notes(document):
    m = document["machine"]
    done = [row for row in document["models"] if row["status"] == "ok"]
    out = [f"{m['cpu']}, {m['cores']} shared cores, {m['system']}, load {m['load_before']} before and "
           f"{m['load_after']} after" + ("; every process under SCHED_FIFO" if document["realtime"] else "")]
    if done:
        out.append(f"Medians (range) of {done[0]['rounds']} rounds, threads: {done[0]['threads']}. Disk: direct reads of "
                   "the weight file in the same round. Compute: all weights in memory. I/O: bytes streamed / disk. mmap: "
                   "the same kernels, weights mapped from the file")
        missing = done[0]["limit"]["missing"]
        out.append(f"No memory limit could be imposed ({missing}): mmap had the whole page cache, emptied before each run"
                   if missing else "Streamed and mmap under the same memory limit: " +
                   ", ".join(f"{row['model']} {report.mib(row['limit']['bytes'])} MiB" for row in done))
        killed = [f"{row['model']} in {row['mmap']['killed']} of {row['rounds']} rounds" for row in done
                  if row["mmap"]["killed"]]
        if killed:
            out.append("mmap was killed for want of memory: " + ", ".join(killed))
    return out


def ending(document):
    done = [row for row in document["models"] if row["status"] == "ok"]
    missed = [f"{row['model']}: {why}" for row in done for why in row["missed"]]
    out = ["Missed: " + "; ".join(missed)] if missed else ["Every aim and check is met."] if done else []
    return out + [f"{row['model']} failed (exit status {row['exit_status']}): {row['reason']}"
                  for row in document["models"] if row["status"] != "ok"]


def build(document):
    done = [row for row in document["models"] if row["status"] == "ok"]
    tables = [report.table(COLUMNS, [cells(row) for row in done]),
              report.table(CPU_COLUMNS, [cpu_cells(row) for row in done])] if done else []
    return "\n\n".join(["\n".join(notes(document)), *tables, "\n".join(ending(document))])


def markdown(document):
    done = [row for row in document["models"] if row["status"] == "ok"]

    def table(header, rows):
        return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, ["---"] * len(header), *rows])

    tables = [table(COLUMNS, map(cells, done)), table(CPU_COLUMNS, map(cpu_cells, done))] if done else []
    return "\n\n".join([f"`{document['command']}`", *notes(document), *tables, *ending(document)]) + "\n"
