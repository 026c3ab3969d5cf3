"""Runs every test runner of the project and counts over all of them.

    tools/run-tests.py --build build [--only unit|lit|end-to-end] [--filter REGEX]

GoogleTest programs in BUILD/test/unit, lit over BUILD/test, pytest over test/end-to-end. Each writes JUnit XML into
BUILD/test/reports; the last line printed is `N passed, N failed, N skipped`. Exit status 1 where one failed, a runner
crashed, or nothing ran.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree


class Totals:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.reasons = {}

    def skip(self, reason, name):
        self.skipped += 1
        self.reasons.setdefault(reason, []).append(name)


def add_junit(path, totals):
    """Adds the cases of one JUnit file; returns how many there were."""
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            totals.failed += 1
            print(f"FAILED {name}")
        elif skipped is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
            reason = (skipped.get("message") if skipped is not None else None) or "no reason given"
            totals.skip(reason.strip().splitlines()[-1], name)
        else:
            totals.passed += 1
    return len(cases)


def run(command, report, totals, what, env=None, timeout=3600):
    """One runner. A runner that fails without a report that says so is a failure of its own."""
    report.unlink(missing_ok=True)
    start = time.monotonic()
    before = totals.failed
    log = report.with_suffix(".log")
    with open(log, "wb") as out:
        try:
            code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=env, timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            code = f"no end after {timeout} s"
    count = 0
    if report.exists():
        try:
            count = add_junit(report, totals)
        except ElementTree.ParseError as error:
            print(f"FAILED {what}: unreadable report: {error}")
            totals.failed += 1
    bad = totals.failed - before
    if code != 0 and bad == 0:
        print(f"FAILED {what}: exit status {code}, {count} cases reported")
        totals.failed += 1
        bad = 1
    if bad:
        text = log.read_text(errors="replace").splitlines()
        print("\n".join(text[-200:]))
    print(f"{what}: {count} tests, {bad} failed, {time.monotonic() - start:.1f} s", flush=True)


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

    if "unit" in wanted:
        gtests = []
        for program in sorted((build / "test" / "unit").glob("*")):
            if not os.access(program, os.X_OK) or program.is_dir():
                continue
            if args.filter and not re.search(args.filter, program.name):
                continue
            report = reports / f"unit-{program.name}.xml"
            if not is_gtest(program):
                continue
            gtests.append(program.name)
            run([str(program), f"--gtest_output=xml:{report}"], report, totals, f"unit {program.name}", env)
        # What is no GoogleTest program (symbol tables, headers in C) is known to ctest.
        report = reports / "ctest.xml"
        command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--output-junit", str(report), "-E",
                   f"^({'|'.join([*map(re.escape, gtests), 'lit'])})$"]
        if args.filter:
            command += ["-R", args.filter]
        run(command, report, totals, "ctest", env)
    if "lit" in wanted:
        report = reports / "lit.xml"
        llvm_bin = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True).stdout.strip()
        command = [str(pathlib.Path(llvm_bin) / "lit"), "-v", f"-j{os.cpu_count()}", f"--xunit-xml-output={report}"]
        if args.filter:
            command.append(f"--filter={args.filter}")
        run([*command, str(build / "test")], report, totals, "lit", env)
    if "end-to-end" in wanted:
        report = reports / "end-to-end.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        if args.filter:
            command += ["-k", args.filter]
        run([*command, str(source / "test" / "end-to-end")], report, totals, "end-to-end", env, timeout=4500)

    for reason, names in sorted(totals.reasons.items()):
        print(f"skipped {len(names)}: {reason} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped")
    return 1 if totals.failed or totals.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
