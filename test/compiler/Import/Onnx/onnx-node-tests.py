# Of ONNX's own node tests, those whose operators are supported are imported as graphs that mean the same.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
"""
Each test of the onnx package is a model of one node with inputs and expected outputs. Inputs that give shapes, axes and
the like are data there; where the import asks for them at compile time they are made constants of the model, as they are
in real models. A test fails if a model is refused for another reason than one of those below, if the type of a result is
not that of the expected data, or if its value is not (evaluate.py says what graph ops mean).
"""
import pathlib
import re
import subprocess
import sys

import google.protobuf
import numpy as np
import onnx
from evaluate import evaluate
from onnx import numpy_helper

# What the reference page of operators lists as not covered.
REFUSALS = re.compile(
    r"not supported|known at compile time|is missing|training_mode|must be false|not known|need static"
    r"|is new in operator set|axis \d+ is sliced|no tensor|asks for operator set 1:|repeats an index"
)
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16",
         "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64", "bool": "i1"}


def load(folder, kind, index):
    path = folder / "test_data_set_0" / f"{kind}_{index}.pb"
    if not path.exists():
        return None
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return tensor


def type_of(tensor):
    array = numpy_helper.to_array(tensor)
    return "tensor<" + "".join(f"{d}x" for d in array.shape) + TYPES.get(str(array.dtype), "?") + ">"


def value_error(answer, model, folder, results):
    """What is wrong with the values of an imported model, or nothing."""
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [numpy_helper.to_array(load(folder, "input", i)) for i, value in enumerate(model.graph.input)
              if value.name not in constants]
    try:
        with np.errstate(all="ignore"):
            have = evaluate(answer, inputs)
    except Exception as error:  # one graph that cannot be evaluated is one line of the report
        return f"cannot evaluate: {error!r}"
    for i in range(results):
        want = numpy_helper.to_array(load(folder, "output", i))
        rtol, atol = (2e-2, 2e-2) if want.dtype.itemsize < 4 else (1e-3, 1e-5)
        if not np.allclose(have[i].astype(np.float64), want.astype(np.float64), rtol, atol, equal_nan=True):
            return f"result {i}: have {have[i].ravel()[:8]}, want {want.ravel()[:8]}"
    return None


def variants(folder):
    """The model as it is, then with inputs 1, 2, ... as constants; input 0 last, for nodes that have but one."""
    model = onnx.load(folder / "model.onnx")
    if not all(i.type.HasField("tensor_type") for i in model.graph.input):
        return
    names = [i.name for i in model.graph.input]
    data = [load(folder, "input", i) for i in range(len(names))]
    yield model
    for first in (1, 0):
        constant = onnx.ModelProto()
        constant.CopyFrom(model)
        for name, tensor in list(zip(names, data))[first:]:
            if tensor is None or len(names) == 1 and first == 1:
                continue
            tensor.name = name
            constant.graph.initializer.append(tensor)
        yield constant


def main():
    out = pathlib.Path(sys.argv[1])
    folders = sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data/node").iterdir())
    paths, owner, sources = [], [], []
    for folder in folders:
        try:
            models = list(variants(folder))
        except google.protobuf.message.DecodeError:  # an output that is no tensor
            continue
        for i, model in enumerate(models):
            path = out / f"{folder.name}.{i}.onnx"
            path.write_bytes(model.SerializeToString())
            paths.append(str(path))
            owner.append(folder)
            sources.append(model)
    (out / "list").write_text("\n".join(paths))
    text = subprocess.run(["import-onnx", "--mlir-print-op-generic", f"--list={out}/list"], capture_output=True, text=True, check=True).stdout
    results = re.split(r"^== (.*)$", text, flags=re.M)[1:]
    answers = dict(zip(results[::2], results[1::2]))

    imported, refused, wrong = set(), {}, []
    for path, folder, model in zip(paths, owner, sources):
        if folder in imported:
            continue
        answer = answers[path]
        returned = re.search(r'^ *"func.return".* : \((.*)\) -> ', answer, re.M)
        if not returned:
            refused.setdefault(folder, []).append(answer.strip())
            continue
        have = re.findall(r"tensor<[^>]*>", returned.group(1))
        # A dimension that follows from data: a later variant has the data.
        if any("?" in type_ for type_ in have):
            refused.setdefault(folder, []).append(f"error: result {have} is not known at compile time")
            continue
        imported.add(folder)
        want = [type_of(load(folder, "output", i)) for i in range(len(have))]
        if have != want:
            wrong.append(f"{folder.name}: have {have}, want {want}")
        elif error := value_error(answer, model, folder, len(have)):
            wrong.append(f"{folder.name}: {error}")
    strange = [f"{folder.name}: {answer}" for folder, list_ in refused.items() if folder not in imported
               for answer in list_ if not REFUSALS.search(answer)]
    print(f"{len(imported)} imported, {len(refused.keys() - imported)} refused, {len(wrong)} wrong")
    print("\n".join(wrong + strange))
    if "-v" in sys.argv:
        for folder in sorted(refused.keys() - imported):
            print(folder.name, refused[folder][-1].splitlines()[:2])
    # Far fewer would mean that the test looks at nothing.
    sys.exit(bool(wrong or strange or len(imported) < 1000))


main()
