"""The figures of plim-bench models as a page: one self-contained file with bars for time and memory of each model."""

import html

import models_text
import peers
import report

NAMES = {"plimsoll": "Plimsoll", **peers.NAMES, "onnxruntime_small": "ONNX Runtime, least memory"}

STYLE = """
:root { color-scheme: light dark; --text: #1a1c1f; --dim: #5c6370; --back: #ffffff; --line: #d9dce1; --card: #f6f7f9;
  --plimsoll: #0b6bcb; --onnxruntime: #7d8794; --onnxruntime_small: #c3c9d1; --openvino: #a58bc9; --iree: #c2a15c;
  --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --dim: #9aa3af; --back: #15171a; --line: #33383f;
  --card: #1d2024; --plimsoll: #5aa9f5; --onnxruntime: #8b95a1; --onnxruntime_small: #4d545e; --openvino: #8a6fb5;
  --iree: #9a7d3f;
  --bad: #ff8a80; --good: #6fcf83; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 66rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
p, .note { color: var(--dim); margin: .2rem 0 .8rem; } code { font-size: .9em; overflow-wrap: anywhere; }
.model { display: grid; grid-template-columns: 10rem 1fr; gap: .2rem 1rem; padding: .55rem 0;
  border-top: 1px solid var(--line); }
.model > b { align-self: center; overflow-wrap: anywhere; }
.row { display: grid; grid-template-columns: 1fr 15rem; align-items: center; gap: .6rem; }
.track { height: .85rem; } .bar { height: 100%; border-radius: 2px; min-width: 2px; }
.value { font-variant-numeric: tabular-nums; white-space: nowrap; font-size: .88rem; }
.legend span { margin-right: 1.4rem; } .legend i { display: inline-block; width: .8rem; height: .8rem; 
  border-radius: 2px; margin-right: .4rem; vertical-align: -1px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .88rem;
  font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .45rem; border-top: 1px solid var(--line); white-space: nowrap; }
th { border: 0; color: var(--dim); font-weight: 500; } th:first-child, td:first-child { text-align: left; }
.bad { color: var(--bad); } .good { color: var(--good); } li { margin: .2rem 0; }
pre { background: var(--card); padding: .6rem .8rem; white-space: pre-wrap; font-size: .82rem; }
@media (max-width: 40rem) { .model { grid-template-columns: 1fr; } .row { grid-template-columns: 1fr 10rem; } }
"""

escape = html.escape


def bars(model, values):
    """Bars of one model, the longest full; values: [(runtime, number, label)]."""
    longest = max(number for _, number, _ in values)
    rows = [f'<div class="row" title="{escape(NAMES[name])}: {escape(label)}"><div class="track"><div class="bar" '
            f'style="width:{100 * number / longest:.1f}%;background:var(--{name})"></div></div>'
            f'<span class="value">{escape(label)}</span></div>' for name, number, label in values]
    return f'<div class="model"><b>{escape(model)}</b><div>{"".join(rows)}</div></div>'


def legend(names):
    return '<p class="legend">' + "".join(
        f'<span><i style="background:var(--{n})"></i>{escape(NAMES[n])}</span>' for n in names) + "</p>"


def time_bars(row, names, key, many):
    values = []
    for name in ["plimsoll", *names]:
        if name in row["runtimes"]:
            time = row["runtimes"][name][f"{key}_ms"]["median"]
            text = f"{report.ms(time)} ms"
            if name != "plimsoll":
                text += f", ratio {report.times(row['ratios'][name][key])}"
            values.append((name, time, text))
    return bars(models_text.label(row, many), values)


def memory_bars(row, names, many):
    plan = row["plan"]["minus_inputs"]
    values = [("plimsoll", plan, f"{report.mib(plan)} MiB planned")]
    for name in [*names, "onnxruntime_small"]:
        if name in row["runtimes"]:
            peak = row["runtimes"][name]["peak"]
            values.append((name, peak, f"{report.mib(peak)} MiB, {peak / plan:.1f} x"))
    return bars(models_text.label(row, many), values)


def check_rows(rows):
    def mark(good, yes, no):
        return f'<span class="{"good" if good else "bad"}">{yes if good else escape(no)}</span>'

    out = []
    for row in rows:
        ram, c, e = row["c1"], row["compile"], row["error"]
        cells = [escape(row["model"]), f"{ram['planned']:,}", f"{ram['ledger']:,}",
                 mark(ram["ok"], "equal", "differs: " + ", ".join(ram["differ"])),
                 f"{row['c3']['vm_hwm']:,} " + mark(row["c3"]["ok"], "within", "outside"),
                 f"{e['largest']:.2g} " + mark(e["ok"], "within", "outside"),
                 f"{row['budget']['bytes']:,}" if "budget" in row else "&ndash;",
                 f"{c['seconds']:.1f} s", f"{report.mib(c['vm_hwm'])} MiB " + mark(c["ok"], "within", "outside")]
        out.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "".join(out)


def build(document):
    rows = [row for row in document["models"] if row["status"] == "ok"]
    names = models_text.names_of(document)
    body = ["<h1>Plimsoll beside other runtimes</h1>",
            f"<p>{escape(models_text.versions(document))}. {escape(models_text.machine(document))}.<br>"
            f"<code>{escape(document['command'])}</code></p>"]
    if rows:
        many = models_text.have_several_threads(rows)
        threads = "x N: threads" if many else f"Threads: {rows[0]['threads']}"
        body += [f"<p><b>{escape(models_text.means(document))}.</b></p>", "<h2>CPU time a run</h2>",
                 f"<p>Shorter is better; each model has its own scale. {threads}. Median of {rows[0]['rounds']} "
                 "interleaved rounds in fresh processes. A ratio is Plimsoll's time over the peer's, below 1 where "
                 "Plimsoll is faster: the median of the rounds' ratios, with their range.</p>",
                 legend(["plimsoll", *names]), *(time_bars(row, names, "cpu", many) for row in rows),
                 "<h2>Wall time a run</h2>",
                 "<p>From the same runs; on a shared machine it says less than CPU time.</p>",
                 *(time_bars(row, names, "wall", many) for row in rows),
                 "<h2>Peak memory</h2>",
                 "<p>Shorter is better. Plimsoll: the planned peak, weights and outputs included, the caller's inputs "
                 "left out. Peers: peak above an empty process with the library and the inputs loaded; least memory: "
                 "the best of ONNX Runtime's options without arena, memory pattern or both, often at several times the "
                 "CPU time.</p>",
                 legend(["plimsoll", *names, "onnxruntime_small"]),
                 *(memory_bars(row, names, many) for row in rows),
                 "<h2>Planned and measured</h2>",
                 "<p>Bytes, inputs included. C1: reserved, live and touched bytes equal the plan. VmHWM of a fresh "
                 "process within the stated formula. Error: largest difference from ONNX Runtime.</p>",
                 '<div class="scroll"><table><tr>' + "".join(f"<th>{h}</th>" for h in (
                     "model", "planned", "measured", "C1", "VmHWM", "error", "smallest budget", "compile",
                     "plimc's peak")) + f"</tr>{check_rows(rows)}</table></div>"]
    missed = [f"<li>{escape(row['model'])}: {escape(why)}</li>" for row in rows for why in row["missed"]]
    if missed:
        body.append(f"<h2>Missed</h2><ul>{''.join(missed)}</ul>")
    away = dict.fromkeys(f"<li>{escape(row['model'])}: {escape(why)}</li>" for row in rows
                         for why in row["unavailable"].values())
    if away:
        body.append(f"<h2>Without figures</h2><ul>{''.join(away)}</ul>")
    for row in document["models"]:
        if row["status"] != "ok":
            body.append(f"<h2>{escape(row['model'])} failed</h2><pre>{escape(row['reason'])}</pre>")
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width"><title>Plimsoll benchmark</title><style>{STYLE}</style></head><body>'
            + "".join(body) + "</body></html>\n")
