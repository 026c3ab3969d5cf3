"""Runs every test runner of the project and counts over all of them.

    tools/run-tests.py --build build [--only unit|lit|end-to-end] [--filter REGEX]

GoogleTest programs in BUILD/test/unit, lit over BUILD/test, pytest over test/end-to-end. Each test program and each file of
end-to-end tests is a runner of its own, and as many run side by side as this process has cores. Each writes JUnit XML
into BUILD/test/reports; the last line printed is `N passed, N failed, N skipped`. Exit status 1 where one failed, a
runner crashed, or nothing ran.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time
import typing
import xml.etree.ElementTree as ElementTree


# What has the machine for itself: files whose claims include a time. All else is held to limits of its own process.
ALONE = ["test_generate.py"]  # a compile within 30 s


class Totals:
    """Counts, and what there is to say of them, in order: runners that run side by side say it when they end."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.reasons = {}
        self.said = []

    def fail(self, what):
        self.failed += 1
        self.said.append(f"FAILED {what}")

    def skip(self, reason, name):
        self.skipped += 1
        self.reasons.setdefault(reason, []).append(name)

    def add(self, other):
        """Takes over the counts of another, and prints what that has to say."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        for reason, names in other.reasons.items():
            self.reasons.setdefault(reason, []).extend(names)
        if other.said:
            print("\n".join(other.said), flush=True)


def add_junit(path, totals):
    """Adds the cases of one JUnit file; returns how many there were."""
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            totals.fail(name)
        elif skipped is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
            reason = (skipped.get("message") if skipped is not None else None) or "no reason given"
            totals.skip(reason.strip().splitlines()[-1], name)
        else:
            totals.passed += 1
    return len(cases)


class Runner(typing.NamedTuple):
    what: str
    command: list
    report: pathlib.Path


def run(runner, env, timeout=3600):
    """The totals of one runner. One that fails without a report that says so is a failure of its own."""
    totals = Totals()
    runner.report.unlink(missing_ok=True)
    start = time.monotonic()
    log = runner.report.with_suffix(".log")
    with open(log, "wb") as out:
        try:
            code = subprocess.run(runner.command, stdout=out, stderr=subprocess.STDOUT, env=env,
                                  timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            code = f"no end after {timeout} s"
    count = 0
    if runner.report.exists():
        try:
            count = add_junit(runner.report, totals)
        except ElementTree.ParseError as error:
            totals.fail(f"{runner.what}: unreadable report: {error}")
    if code != 0 and totals.failed == 0:
        totals.fail(f"{runner.what}: exit status {code}, {count} cases reported")
    if totals.failed:
        totals.said += log.read_text(errors="replace").splitlines()[-200:]
    totals.said.append(f"{runner.what}: {count} tests, {totals.failed} failed, {time.monotonic() - start:.1f} s")
    return totals


def run_all(runners, at_once, totals, env):
    """Runs them, so many at once, and adds them up in their order."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in pool.map(lambda runner: run(runner, env), runners):
            totals.add(done)


def is_gtest(program):
    """Whether a program understands GoogleTest's flags."""
    return b"gtest_output" in program.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="where models are kept")
    parser.add_argument("--only", choices=["unit", "lit", "end-to-end"], action="append")
    parser.add_argument("--filter", help="run only what matches: a part of a gtest program's, lit file's or pytest name")
    parser.add_argument("--skip-memory", action="store_true", help="leave out tests of process memory (sanitizers)")
    args = parser.parse_args()
    build = args.build.resolve()
    source = pathlib.Path(__file__).resolve().parent.parent
    reports = build / "test" / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    wanted = args.only or ["unit", "lit", "end-to-end"]
    totals = Totals()
    env = dict(os.environ)
    env["PLIM_BUILD"] = str(build)
    env["PLIM_CACHE_DIR"] = str(args.cache)
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    instances = source.parent / "shared" / "bench" / "dsa"
    if "PLIM_BENCH_INSTANCES" not in env and instances.is_dir():
        env["PLIM_BENCH_INSTANCES"] = str(instances)
    if args.skip_memory:
        env["PLIM_SKIP_MEMORY_TESTS"] = "1"

    cores = len(os.sched_getaffinity(0))
    if "unit" in wanted:
        runners, gtests = [], []
        for program in sorted((build / "test" / "unit").glob("*")):
            if not os.access(program, os.X_OK) or program.is_dir():
                continue
            if args.filter and not re.search(args.filter, program.name):
                continue
            if not is_gtest(program):
                continue
            report = reports / f"unit-{program.name}.xml"
            gtests.append(program.name)
            runners.append(Runner(f"unit {program.name}", [str(program), f"--gtest_output=xml:{report}"], report))
        # What is no GoogleTest program (symbol tables, headers in C) is known to ctest.
        report = reports / "ctest.xml"
        command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--output-junit", str(report), "-E",
                   f"^({'|'.join([*map(re.escape, gtests), 'lit'])})$"]
        if args.filter:
            command += ["-R", args.filter]
        run_all([*runners, Runner("ctest", command, report)], cores, totals, env)
    if "lit" in wanted:
        report = reports / "lit.xml"
        llvm_bin = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True).stdout.strip()
        command = [str(pathlib.Path(llvm_bin) / "lit"), "-v", f"-j{cores}", f"--xunit-xml-output={report}"]
        if args.filter:
            command.append(f"--filter={args.filter}")
        run_all([Runner("lit", [*command, str(build / "test")], report)], 1, totals, env)
    if "end-to-end" in wanted:
        folder = source / "test" / "end-to-end"

        def pytest(what, path, *flags):
            report = reports / f"{what.replace(' ', '-')}.xml"
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *flags]
            return Runner(what, [*command, str(path)], report)

        if args.filter:  # few tests: less time than it takes to look into each file on its own
            run_all([pytest("end-to-end", folder, "-k", args.filter)], 1, totals, env)
        else:
            files = [file.name for file in sorted(folder.glob("test_*.py"))]
            for names, at_once in (([n for n in files if n not in ALONE], cores), (ALONE, 1)):
                run_all([pytest(f"end-to-end {name}", folder / name) for name in names], at_once, totals, env)

    for reason, names in sorted(totals.reasons.items()):
        print(f"skipped {len(names)}: {reason} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped")
    return 1 if totals.failed or totals.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
