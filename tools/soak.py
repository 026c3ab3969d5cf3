"""Runs what needs no answer to look at for a given time each: the fuzzers of a build with PLIM_FUZZ.

    tools/soak.py --build build-fuzz --corpus FOLDER [--seconds 30] [NAME...]

A fuzzer starts from the seeds of its kind in FOLDER (tools/fuzz_corpus.py makes them), keeps what it finds in
BUILD/test/fuzz/found/NAME for the next time, and leaves an input that fails in BUILD/test/fuzz/failed/NAME. The last
line counts; exit status 1 where one failed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

# The packaged LLVM is not instrumented (tools/dev asan says more); an allocation too large for the machine gives null.
ASAN = "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:allocator_may_return_null=1"
FUZZERS = {  # program: (seeds, None where it makes its own, longest input, options)
    "fuzz-onnx-wire": ("models", 16384, []),
    "fuzz-onnx-import": ("models", 16384, []),
    "fuzz-plan": ("plans", 16384, ["-use_value_profile=1"]),
    "fuzz-table": ("tables", 16384, []),
    "fuzz-npy": ("arrays", 1024, []),
    "fuzz-solution": (None, 32768, []),
}
LONGEST_INPUT_SECONDS = 25
MEMORY_LIMIT_MIB = 4096


def soak(name, args):
    """Runs one fuzzer; a line of figures and whether nothing failed."""
    seeds, longest, options = FUZZERS[name]
    folder = args.build.resolve() / "test" / "fuzz"
    found, failed, log = folder / "found" / name, folder / "failed" / name, folder / f"{name}.log"
    for made in (found, failed):
        made.mkdir(parents=True, exist_ok=True)
    words = args.corpus.resolve() / f"{seeds}.dict"
    command = [folder / name, found, *([args.corpus.resolve() / seeds] if seeds else []),
               f"-max_total_time={args.seconds}",
               f"-max_len={longest}", f"-timeout={LONGEST_INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_LIMIT_MIB}",
               f"-artifact_prefix={failed}/", "-print_final_stats=1", *options]
    if words.exists():
        command.append(f"-dict={words}")
    with open(log, "wb") as out:
        environment = {**os.environ, "ASAN_OPTIONS": ASAN, "UBSAN_OPTIONS": "print_stacktrace=1"}
        code = subprocess.run([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                              env=environment).returncode
    text = log.read_text(errors="replace")
    inputs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    covered = re.findall(r"cov: (\d+)", text)
    line = (f"{name}: {inputs.group(1) if inputs else 'unknown number of'} inputs in {args.seconds} s, "
            f"{covered[-1] if covered else 0} edges covered")
    if code == 0:
        return line, True
    reason = re.search(r"(ERROR: .*|.*runtime error: .*|SUMMARY: .*)", text)
    artifact = re.search(r"Test unit written to (\S+)", text)
    return f"{line}; FAILED: {reason.group(0) if reason else f'exit status {code}'}, input " \
           f"{artifact.group(1) if artifact else 'unknown'}, log {log}", False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build folder with PLIM_FUZZ")
    parser.add_argument("--corpus", type=pathlib.Path, required=True, help="seeds by kind")
    parser.add_argument("--seconds", type=int, default=30, metavar="S", help="for each (default 30)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FUZZERS)} (default: all)")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in FUZZERS]
    if unknown:
        parser.error(f"no soak {', '.join(unknown)}; there are {', '.join(FUZZERS)}")
    names = args.names or list(FUZZERS)
    missing = [str(path) for path in (args.build / "test" / "fuzz" / name for name in names) if not path.exists()]
    if missing:
        print(f"soak.py: need {', '.join(missing)}; tools/dev soak builds them", file=sys.stderr)
        return 4
    good = 0
    for name in names:
        line, ok = soak(name, args)
        print(line, flush=True)
        good += ok
    print(f"{good} passed, {len(names) - good} failed")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
