"""The machine and the versions that figures belong to."""

import os
import platform
import shlex
import sys


def cpu_name():
    try:
        with open("/proc/cpuinfo") as f:
            return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"


def describe():
    return {"cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)),
            "system": f"{platform.system()} {platform.release()}", "load_before": round(os.getloadavg()[0], 2)}


def command_line():
    return shlex.join(["plim-bench", *sys.argv[1:]])
