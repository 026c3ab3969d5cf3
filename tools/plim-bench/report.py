"""Text tables, CSV and JSON; files are written whole or not at all."""

import csv
import io
import json
import os
import pathlib
import sys

MIB = 1 << 20


class Progress:
    """One line on the terminal that is overwritten; silent where standard error is no terminal."""

    def __init__(self):
        self.on = sys.stderr.isatty()

    def __call__(self, text):
        if self.on:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def done(self):
        if self.on:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def write_whole(path, text):
    path = pathlib.Path(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def mib(value):
    return f"{value / MIB:.1f}"


def ms(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def ranged(s, form=ms):
    """Median and range: 1.02 (0.98-1.10)."""
    return f"{form(s['median'])} ({form(s['low'])}-{form(s['high'])})"


def times(s):
    return ranged(s, lambda v: f"{v:.2f}")


def table(header, rows):
    """Columns as wide as they need; the first is aligned left, the others right."""
    cells = [header, *rows]
    widths = [max(len(str(row[c])) for row in cells) for c in range(len(header))]

    def line(row):
        first = str(row[0]).ljust(widths[0])
        return "  ".join([first, *(str(v).rjust(w) for v, w in zip(row[1:], widths[1:]))]).rstrip()

    return "\n".join([line(header), "  ".join("-" * w for w in widths), *map(line, rows)])


def flatten(value, prefix=""):
    """Nested figures as {dotted name: scalar}; the columns of the CSV."""
    if isinstance(value, dict):
        out = {}
        for key, inner in value.items():
            out.update(flatten(inner, f"{prefix}.{key}" if prefix else key))
        return out
    return {prefix: " ".join(map(str, value)) if isinstance(value, list) else value}


def to_csv(rows):
    flat = [flatten(row) for row in rows]
    columns = list(dict.fromkeys(key for row in flat for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return out.getvalue()


def write_files(args, document, rows, page=None):
    if args.json:
        write_whole(args.json, json.dumps(document, indent=2) + "\n")
    if args.csv:
        write_whole(args.csv, to_csv(rows))
    if page is not None and args.html:
        write_whole(args.html, page)


def check_writable(*paths):
    """Names every output file whose folder cannot take it, before the benchmark spends minutes."""
    from failure import Failure

    bad = [str(p) for p in paths if p and (p.is_dir() or not os.access(p.resolve().parent, os.W_OK))]
    if bad:
        raise Failure(4, f"cannot write {', '.join(bad)}: need a file name in a folder that exists and can be written")
