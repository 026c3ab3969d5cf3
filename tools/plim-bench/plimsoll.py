"""Plimsoll's side of a benchmark: compiles a model, runs it in fresh processes, finds its smallest budget."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from failure import Failure

MIB = 1 << 20
COMPILE_TIMEOUT = 900  # seconds
RUN_TIMEOUT = 900
# What plimc may take for itself, beside twice the largest tensor.
COMPILER_FIXED = 256 * MIB
# C3, the formula of docs/concepts/memory-contract.md: planned - RUN_PER_THREAD * threads <= VmHWM <= planned + RUN_FIXED
# + RUN_PER_THREAD * threads + bytes of model.so. RUN_FIXED holds the image of plim-run with the C and C++ libraries; the
# kernel counts a thread's pages in batches.
RUN_FIXED = 9 * MIB // 2
RUN_PER_THREAD = 256 << 10

# Runs a command and writes what it used. The kernel carries the peak of the process that forks over to its child, so
# this stands between a large caller and the command.
METER = """
import json, os, sys, time
start = time.monotonic()
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], 'w') as f:
    json.dump({'code': os.waitstatus_to_exitcode(status), 'seconds': time.monotonic() - start,
               'cpu_seconds': used.ru_utime + used.ru_stime, 'vm_hwm': used.ru_maxrss * 1024}, f)
"""


def execute(command, timeout, environment=None):
    command = [str(c) for c in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise Failure(70, f"{' '.join(command[:2])}: no end after {timeout} s") from None
    except FileNotFoundError:
        raise Failure(4, f"need {command[0]}; tools/dev build makes it, --tools names its folder") from None


def metered(command, timeout=COMPILE_TIMEOUT):
    """(figures, standard error) of a command."""
    if not pathlib.Path(command[0]).exists():
        raise Failure(4, f"need {command[0]}; tools/dev build makes it, --tools names its folder")
    with tempfile.NamedTemporaryFile("r") as figures:
        done = execute([sys.executable, "-I", "-S", "-c", METER, figures.name, *command], timeout)
        text = figures.read()
    if not text:
        raise Failure(70, f"{command[0]}: no figures came back: {done.stderr.strip()}")
    return json.loads(text), done.stderr


class Plimsoll:
    def __init__(self, tools, model, shapes, folder, threads):
        self.tools, self.model, self.shapes = pathlib.Path(tools), pathlib.Path(model), shapes
        self.folder, self.threads = pathlib.Path(folder), threads
        self.out = self.folder / "artifact"
        self.inputs = []  # plim-run's --input flags

    def plimc(self, *flags):
        return metered([self.tools / "plimc", self.model, *self.shapes, *flags])

    def beside(self, name):
        """The same model with an artifact of its own, in a folder of this one's."""
        other = Plimsoll(self.tools, self.model, self.shapes, self.folder / name, self.threads)
        other.folder.mkdir()
        other.inputs = self.inputs
        return other

    def compile_at(self, budget, *flags):
        """Compiles under a --ram flag, or none; (figures of the compile, the plan's program). What was compiled without
        one is not compiled again."""
        if budget or not self.out.exists():
            self.compiled, stderr = self.plimc("-o", self.out, *([budget] if budget else []), *flags)
            if self.compiled["code"]:
                raise Failure(self.compiled["code"] if self.compiled["code"] > 0 else 70, stderr.strip())
        return self.compiled, json.loads((self.out / "model.plan.json").read_text())["programs"][0]

    def compile(self):
        """Compiles without a budget; figures of the compile and of the plan."""
        figures, program = self.compile_at(None)
        sizes = [item["bytes"] for part in ("inputs", "outputs", "residents", "buffers") for item in program[part]]
        largest = max(sizes)
        inputs, outputs = (sum(io["bytes"] for io in program[part]) for part in ("inputs", "outputs"))
        reserved = program["reserved_peak"]["ram"]
        bound = COMPILER_FIXED + 2 * largest
        return {
            "compile": {"seconds": figures["seconds"], "cpu_seconds": figures["cpu_seconds"],
                        "vm_hwm": figures["vm_hwm"], "largest_tensor": largest, "vm_hwm_bound": bound,
                        "ok": figures["vm_hwm"] <= bound},
            "plan": {"reserved": reserved, "live": program["live_peak"]["ram"], "inputs": inputs, "outputs": outputs,
                     "minus_inputs": reserved + outputs, "weights": program["resident_bytes"]},
            "outputs": [io["name"] for io in program["outputs"]],
        }

    def run(self, *flags):
        command = [self.tools / "plim-run", self.out, "--stats=json", f"--threads={self.threads}", *self.inputs, *flags]
        done = execute(command, RUN_TIMEOUT)
        if done.returncode:
            raise Failure(done.returncode if done.returncode > 0 else 70, done.stderr.strip() or
                          f"plim-run: ended by signal {-done.returncode}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def time(self, reps):
        """One round in a fresh process: milliseconds a run."""
        stats = self.run("--no-poison", "--warmup=2", f"--reps={reps}")
        return {"cpu_ms": stats["cpu_ms"]["median"], "wall_ms": stats["time_ms"]["median"]}

    def memory(self, outputs):
        """C1 and C3 in a fresh process that writes its outputs; (figures of C1, figures of C3)."""
        flags = [f"--output={name}=@{path}" for name, path in outputs.items()]
        stats = self.run("--reps=2", *flags)
        ram = stats["tiers"]["ram"]
        c1 = {key: ram[key] for key in ("planned", "ledger", "live_planned", "live", "touched_planned", "touched")}
        pairs = [("planned", "ledger"), ("live_planned", "live"), ("touched_planned", "touched")]
        c1["differ"] = [measured for planned, measured in pairs if ram[planned] != ram[measured]]
        c1["ok"] = not c1["differ"]
        lag = RUN_PER_THREAD * self.threads
        low, high = ram["planned"] - lag, ram["planned"] + RUN_FIXED + lag + (self.out / "model.so").stat().st_size
        c3 = {"vm_hwm": stats["vm_hwm"], "low": low, "high": high, "ok": low <= stats["vm_hwm"] <= high}
        return c1, c3

    def smallest_budget(self, *flags):
        """The budget in bytes that the refusal of one byte names, and the CPU seconds until it did."""
        figures, stderr = self.plimc("--plan-only", "--ram=1", *flags)
        need = re.search(r"need (\d+) bytes", stderr)
        if figures["code"] != 3 or not need:
            raise Failure(70, f"plimc --ram=1: need a refusal that names a budget, have exit status {figures['code']}: "
                              f"{stderr.strip()}")
        return int(need.group(1)), figures["cpu_seconds"]

    def refuses(self, budget):
        """Whether no plan meets this budget, in bytes."""
        figures, _ = self.plimc("--plan-only", f"--ram={budget}")
        return figures["code"] == 3
