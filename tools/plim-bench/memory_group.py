"""A memory cgroup for the processes of a benchmark, where this process can make one."""

import contextlib
import os
import pathlib
import subprocess

PROBE = pathlib.Path(__file__).resolve().parent.parent / "cgroup-probe"


class MemoryGroup:
    """Within `with`, `folder` is a cgroup of `limit` bytes and no swap, or None, and `missing` says why."""

    def __init__(self, limit):
        self.limit, self.folder, self.missing = limit, None, None

    def __enter__(self):
        words = subprocess.run([PROBE], capture_output=True, text=True).stdout.strip()
        version, _, parent = words.partition(" ")
        if version not in ("v1", "v2"):
            self.missing = words or "no memory cgroup"
            return self
        self.folder = pathlib.Path(parent) / f"plim-bench-{os.getpid()}"
        self.folder.mkdir()
        limit, swap, none = (("memory.max", "memory.swap.max", "0") if version == "v2" else
                             ("memory.limit_in_bytes", "memory.swappiness", "0"))
        (self.folder / limit).write_text(str(self.limit))
        with contextlib.suppress(OSError):
            (self.folder / swap).write_text(none)
        return self

    def __exit__(self, *_):
        if self.folder:
            self.folder.rmdir()

    def enter(self):
        """For a child, before it runs its program."""
        if self.folder:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))
