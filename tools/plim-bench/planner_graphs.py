"""Generated graphs under budgets: what a plan costs beside the plan without a budget, and what planning takes."""

import dataclasses
import json
import pathlib
import tempfile

import report
from plimsoll import execute, metered

TIMEOUT = 900  # seconds a plan
SSD = ("--read", "1200000000", "--write", "900000000")  # bytes a second
GiB = 1 << 30


@dataclasses.dataclass(frozen=True)
class Graph:
    shape: str
    ops: int
    budgets: tuple  # shares of the peak of the plan without a budget
    ssd: bool = False
    ladder: bool = False  # also the whole ladder, with the plan of least memory

    @property
    def name(self):
        return f"{self.shape} {self.ops}{' ssd' if self.ssd else ''}"


WIDE = (0.9, 0.7, 0.5, 0.4, 0.3, 0.2)
GRAPHS = (
    Graph("gpt", 380, WIDE, ladder=True),
    Graph("unet", 283, WIDE, ladder=True),
    Graph("resnet", 364, WIDE, ladder=True),
    Graph("layered", 400, WIDE, ladder=True),
    Graph("gpt", 2822, WIDE),
    Graph("resnet", 2510, WIDE),
    Graph("unet", 2470, WIDE),
    Graph("gpt", 9482, (0.5, 0.2), ladder=True),
    Graph("gpt", 28426, (0.5,)),
    Graph("layered", 10000, (0.7, 0.4)),
    Graph("gpt", 2822, (0.5, 0.3, 0.2), ssd=True),
    Graph("gpt", 9482, (0.5, 0.2), ssd=True),
    Graph("unet", 2470, (0.3,), ssd=True),
    Graph("resnet", 2510, (0.5,), ssd=True),
    Graph("stream", 2805, (0.5, 0.26), ssd=True),
)


def solve(tools, *arguments):
    """(plim-solve's figures or None, its exit status, CPU seconds, its message)."""
    command = [tools / "plim-solve", *arguments, "--json"]
    with tempfile.NamedTemporaryFile("r") as out:
        figures, stderr = metered(["/bin/sh", "-c", 'exec "$0" "$@" >' + out.name, *map(str, command)], TIMEOUT)
        text = out.read()
    return (json.loads(text) if text else None), figures["code"], figures["cpu_seconds"], stderr.strip()


def plan(tools, problem, folder, graph, share, budget, free):
    """One budget: the plan's overhead, or that there is none; checked by plim-solve check."""
    row = {"graph": graph.name, "steps": free["steps"], "share": share, "budget": budget}
    solution = folder / "solution.txt"
    limits = ["--ram", str(budget), *(["--ssd", str(1024 * GiB)] if graph.ssd else [])]
    result, code, seconds, message = solve(tools, "fit", problem, "-o", solution, "--quick", *limits)
    row |= {"exit_status": code, "cpu_seconds": seconds, "met": code == 0}
    if code == 3:
        return row
    if code != 0:
        return row | {"reason": message}
    checked = execute([tools / "plim-solve", "check", problem, solution, *limits], TIMEOUT)
    if checked.returncode:
        return row | {"exit_status": 70, "reason": f"unsound: {checked.stderr.strip()}"}
    return row | {"ns": result["ns"], "overhead": result["ns"] / free["ns"] - 1, "peak": result["peak"]["ram"],
                  "read": result["read"], "written": result["written"], "moves": result["moves"],
                  "recomputed": result["recomputed"]}


def measure(tools, graph, say):
    rows = []
    with tempfile.TemporaryDirectory(prefix="plim-bench-") as name:
        folder = pathlib.Path(name)
        problem = folder / "problem.txt"
        say(graph.name)
        made, code, _, message = solve(tools, "generate", "--shape", graph.shape, "--ops", str(graph.ops), "-o",
                                       problem, *(SSD if graph.ssd else ()))
        if code:
            return [{"graph": graph.name, "exit_status": code, "reason": message}]
        free, code, seconds, message = solve(tools, "fit", problem)
        if code:
            return [{"graph": graph.name, "exit_status": code, "reason": message}]
        free["steps"] = made["steps"]
        peak = free["peak"]["ram"]
        for share in graph.budgets:
            say(f"{graph.name} at {share}")
            rows.append(plan(tools, problem, folder, graph, share, int(share * peak), free))
        if graph.ladder:
            say(f"{graph.name}: the ladder")
            result, code, seconds, message = solve(tools, "curve", problem)
            row = {"graph": graph.name, "steps": free["steps"], "exit_status": code, "cpu_seconds": seconds}
            rows.append(row | ({"reason": message} if code else {"smallest": result["points"][0]["ram"] / peak}))
    return rows


def chosen(name, parts):
    """Whether a name has one of the parts; all have where there are none."""
    return not parts or any(part in name for part in parts)


def measure_all(tools, parts, say):
    return [row for graph in GRAPHS if chosen(graph.name, parts) for row in measure(tools, graph, say)]


def print_tables(rows):
    good = [r for r in rows if "reason" not in r]
    print("Plans of generated graphs, each made for its budget (--quick): predicted time above that without a budget, "
          "by share of its peak; CPU s to plan")
    print(report.table(["graph", "steps", "share", "overhead %", "recomputed", "moves", "CPU s"],
                       [[r["graph"], r["steps"], r["share"], f"{100 * r['overhead']:.2f}" if r["met"] else "refused",
                         r.get("recomputed", "-"), r.get("moves", "-"), f"{r['cpu_seconds']:.2f}"]
                        for r in good if "share" in r]))
    smallest = [r for r in good if "smallest" in r]
    if smallest:
        print("The smallest budget as a share of that peak; CPU s of the whole ladder, with the plan of least memory")
        print(report.table(["graph", "steps", "share", "CPU s"],
                           [[r["graph"], r["steps"], f"{r['smallest']:.3f}", f"{r['cpu_seconds']:.2f}"]
                            for r in smallest]))
