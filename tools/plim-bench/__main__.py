"""plim-bench: compiled models, kernels, streamed weights and the memory planner beside their peers."""

import argparse
import importlib.util
import os
import pathlib
import signal
import sys

from failure import Failure

EPILOG = """exit status: 0 done, 1 usage, 2 a model cannot be compiled or run, 3 over a budget, 4 environment or I/O,
5 results differ from ONNX Runtime's, 70 internal error or a memory figure that is not as planned. Where several apply,
that of the first row that has one."""


def thread_counts(text):
    return [positive(part) for part in text.split(",")]


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"need a number of at least 1, have {value}")
    return value


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: {message}\n")


def parser():
    top = Parser(prog="plim-bench", description=__doc__.splitlines()[0], epilog=EPILOG)
    verbs = top.add_subparsers(dest="verb", required=True, metavar="models|kernels|stream|planner")
    default_cache = os.environ.get("PLIM_CACHE_DIR") or pathlib.Path.home() / ".cache" / "plimsoll"

    def verb(name, text):
        p = verbs.add_parser(name, help=text.split(";")[0], description=text, epilog=EPILOG)
        p.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="write the figures as CSV")
        p.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures as JSON")
        p.add_argument("--tools", type=pathlib.Path, default=os.environ.get("PLIM_BENCH_TOOLS", "build/bin"),
                       metavar="DIR", help="where plimc, plim-run and plim-solve are (default: beside plim-bench)")
        return p

    def rounds(p):
        p.add_argument("--rounds", type=positive, default=5, metavar="N",
                       help="rounds; in each, every runtime runs once in a fresh process (default 5)")
        p.add_argument("--seconds", type=float, default=1.0, metavar="S",
                       help="CPU seconds of runs that a round aims at for each runtime (default 1)")

    p = verb("models", "Real models beside ONNX Runtime, OpenVINO and IREE in interleaved rounds; memory, time, errors,"
                       " compile time. OpenVINO and IREE where they are installed.")
    p.add_argument("names", nargs="*", metavar="NAME", help="rows of test/models/models.csv (default: all)")
    p.add_argument("--threads", type=thread_counts, default=[1], metavar="N[,N...]",
                   help="threads of each run; with several, a row for each (default 1)")
    rounds(p)
    p.add_argument("--beside", metavar="NAME[,NAME...]",
                   help="peers beside ONNX Runtime: openvino, iree, or none (default: those that are installed)")
    p.add_argument("--budgets", action="store_true", help="find the smallest RAM budget of each model, with and without an SSD; compile and run it at four or "
                        "five budgets from none to that")
    p.add_argument("--html", type=pathlib.Path, metavar="FILE", help="write one self-contained page with bars")
    p.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the tables of docs/reference/models.md")
    p.add_argument("--cache", type=pathlib.Path, default=default_cache, metavar="DIR",
                   help="where models are kept (default: PLIM_CACHE_DIR or ~/.cache/plimsoll)")
    p.add_argument("--list", action="store_true", help="list the models and stop")
    p = verb("kernels", "Models of one operator (GEMM, convolution, attention) against ONNX Runtime; GFLOP/s, ratio.")
    p.add_argument("names", nargs="*", metavar="PART", help="only kernels whose name has one of these parts")
    p.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of each run (default 1)")
    rounds(p)
    p = verb("stream", "Models whose weights are far above the budget; their speed beside the disk's own bandwidth, beside"
                       " all weights in memory, and beside weights that are mapped, under the same memory limit.")
    p.add_argument("names", nargs="*", metavar="NAME", help="stack@16, stack@128 (rows), smollm2@prefill128"
                   " (default: all)")
    p.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of each run (default 1)")
    rounds(p)
    p.add_argument("--layers", type=positive, default=16, metavar="N", help="of the stack (default 16)")
    p.add_argument("--width", type=positive, default=512, metavar="N", help="of the stack (default 512)")
    p.add_argument("--ram", type=positive, metavar="BYTES",
                   help="budget (default: an eighth of the stack's weights; 64 MiB for smollm2)")
    p.add_argument("--realtime", action="store_true", help="every process under SCHED_FIFO, on a machine that others use")
    p.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the tables as Markdown")
    p.add_argument("--cache", type=pathlib.Path, default=default_cache, metavar="DIR",
                   help="where models are kept and the files lie that are streamed: its disk is measured (default: "
                   "PLIM_CACHE_DIR or ~/.cache/plimsoll)")
    p = verb("planner", "The memory planner alone (plim-solve); generated graphs under budgets: predicted time beside"
                        " that without a budget, CPU time; offset packing on $PLIM_BENCH_INSTANCES/*.csv.")
    p.add_argument("names", nargs="*", metavar="PART",
                   help="only graphs and instances whose name has one of these parts")
    p.add_argument("--instances", type=pathlib.Path, default=os.environ.get("PLIM_BENCH_INSTANCES"), metavar="DIR",
                   help="a folder with *.csv (default: PLIM_BENCH_INSTANCES)")
    return top


def run(args):
    if args.verb == "planner":
        import bench_planner as bench
    else:
        needed = ["numpy", "onnx", *(["onnxruntime"] if args.verb != "stream" else [])]
        missing = [m for m in needed if importlib.util.find_spec(m) is None]
        if missing:
            raise Failure(4, f"need the Python packages {', '.join(needed)}, {sys.executable} lacks "
                             f"{', '.join(missing)}; tools/dev bench makes an environment that has them")
        if args.verb == "models":
            import bench_models as bench
        elif args.verb == "stream":
            import bench_stream as bench
        else:
            import bench_kernels as bench
    return bench.run(args)


def main():
    args = parser().parse_args()
    # A terminated benchmark removes its scratch folder too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return run(args)
    except Failure as failure:
        print(f"plim-bench: {failure.message}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        print(f"plim-bench: {error}", file=sys.stderr)
        return 4
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        import traceback

        traceback.print_exc()
        return 70


if __name__ == "__main__":
    sys.exit(main())
