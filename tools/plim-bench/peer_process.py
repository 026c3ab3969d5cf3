"""One peer in a process of its own: python peer_process.py PEER OPTIONS MODEL FOLDER THREADS REPS SECONDS [OUT].

PEER is onnxruntime, openvino or iree; OPTIONS is `default`, or for ONNX Runtime a list of no-arena and no-pattern;
FOLDER holds inputs.npz. Runs the model REPS times, or fewer (at least LEAST_REPS) once SECONDS have passed. Prints one
JSON line: milliseconds a run, and the peak above the process as it was with the library and the inputs loaded. OUT gets
the outputs.
"""

import json
import pathlib
import sys
import time

LEAST_REPS = 2
WARMUP = 2


class OnnxRuntime:
    def __init__(self, threads, choices):
        import onnxruntime

        self.runtime = onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads, self.options.inter_op_num_threads = threads, 1
        self.options.log_severity_level = 3
        self.options.enable_cpu_mem_arena = "no-arena" not in choices
        self.options.enable_mem_pattern = "no-pattern" not in choices

    def load(self, model, inputs):
        session = self.runtime.InferenceSession(model, self.options, providers=["CPUExecutionProvider"])
        wanted = {i.name for i in session.get_inputs()}
        feed = {name: array for name, array in inputs.items() if name in wanted}
        self.names = [o.name for o in session.get_outputs()]
        return lambda: session.run(None, feed)

    def arrays(self, results):
        return dict(zip(self.names, results))


class OpenVino:
    def __init__(self, threads, choices):
        import openvino

        self.core = openvino.Core()
        # Arithmetic as the model has it: no bf16 for f32, no quantised activations for int8 weights.
        self.core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                                       "INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0})

    def load(self, model, inputs):
        network = self.core.read_model(model)
        network.reshape({port: list(self.array(inputs, port).shape) for port in network.inputs})
        request = self.core.compile_model(network, "CPU").create_infer_request()
        feed = {port: self.array(inputs, port) for port in request.model_inputs}
        self.ports = request.model_outputs
        return lambda: request.infer(feed, share_inputs=True)

    def array(self, inputs, port):
        """That of the model's name: a port that an operator passes on has the names of that one's results too."""
        return next(inputs[name] for name in port.get_names() if name in inputs)

    def arrays(self, results):
        return {name: results[port] for port in self.ports for name in port.get_names()}


class Iree:
    """MODEL is a compiled module; beside it lies MODEL.json with the names of inputs and outputs in order."""

    def __init__(self, threads, choices):
        import iree.runtime

        self.runtime = iree.runtime
        if threads > 1:
            iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")

    def load(self, model, inputs):
        names = json.loads(pathlib.Path(f"{model}.json").read_text())
        self.names = names["outputs"]
        module = self.runtime.VmModule.mmap(self.config.vm_instance, model)
        context = self.runtime.SystemContext(config=self.config)
        context.add_vm_module(module)
        entry = next(n for n in module.function_names if not n.startswith("__") and not n.endswith("$async"))
        function = context.modules[module.name][entry]
        arguments = [self.runtime.asdevicearray(self.config.device, inputs[name]) for name in names["inputs"]]
        return lambda: function(*arguments)

    def arrays(self, results):
        results = results if isinstance(results, (list, tuple)) else [results]
        return {name: result.to_host() for name, result in zip(self.names, results)}


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "iree": Iree}


def status(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/self/status has no {key}")


def baseline():
    """Resident bytes now; the peak counts from here where the kernel lets a process reset it, else from its peak."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        return status("VmRSS")
    except OSError:
        return status("VmHWM")


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def main(peer, options, model, folder, threads, reps, seconds, out=None):
    import numpy as np

    with np.load(pathlib.Path(folder) / "inputs.npz") as file:
        inputs = {name: file[name] for name in file.files}
    runtime = PEERS[peer](int(threads), options.split(","))
    before = baseline()
    run = runtime.load(model, inputs)
    for _ in range(WARMUP):
        results = run()
    cpu, wall, start = [], [], time.monotonic()
    while len(cpu) < int(reps) and (len(cpu) < LEAST_REPS or time.monotonic() - start < float(seconds)):
        c, w = time.process_time(), time.monotonic()
        run()
        cpu.append(1e3 * (time.process_time() - c))
        wall.append(1e3 * (time.monotonic() - w))
    peak = status("VmHWM") - before
    if out:
        np.savez(out, **runtime.arrays(results))
    print(json.dumps({"cpu_ms": median(cpu), "wall_ms": median(wall), "peak": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:])
