# Models with extreme attributes, sizes and data types are imported or refused, never a crash.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx --list=%t/list > %t/log
# RUN: grep -c ^== %t/log | FileCheck %s
"""Node tests of the onnx package with one or two values changed, by a generator with a fixed seed."""
import pathlib
import random
import sys

import onnx

# CHECK: {{^1500$}}
COUNT = 1500
EXTREMES = [-1, 0, 1, 2, 3, 7, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -2**63, -2**31, -2, 100, 1000000]

pick = random.Random(1)


def change_list(values, value):
    """Changes, adds or removes an entry."""
    choice = pick.randrange(3)
    if choice == 0 and values:
        values[pick.randrange(len(values))] = value
    elif choice == 1 and values:
        del values[-1]
    else:
        values.append(value)


def change_entry(tensor, value):
    data = bytearray(tensor.raw_data)
    at = 8 * pick.randrange(len(data) // 8)
    data[at:at + 8] = value.to_bytes(8, "little", signed=True)
    tensor.raw_data = bytes(data)


def changes(model):
    for node in model.graph.node:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.INT:
                yield lambda value, a=a: setattr(a, "i", value)
            elif a.type == onnx.AttributeProto.FLOAT:
                yield lambda value, a=a: setattr(a, "f", pick.choice([0.0, -1.0, float("nan"), float("inf"), 1e30]))
            elif a.type == onnx.AttributeProto.INTS:
                yield lambda value, a=a: change_list(a.ints, value)
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            yield lambda value, dim=dim: setattr(dim, "dim_value", value)
        yield lambda value, info=info: info.type.tensor_type.shape.dim.add(dim_value=value)
    for tensor in model.graph.initializer:
        yield lambda value, tensor=tensor: setattr(tensor, "data_type", pick.randrange(1, 27))
        if tensor.data_type == onnx.TensorProto.INT64 and tensor.raw_data:
            yield lambda value, tensor=tensor: change_entry(tensor, value)


def main():
    out = pathlib.Path(sys.argv[1])
    tests = sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data/node").iterdir())
    paths = []
    while len(paths) < COUNT:
        folder = pick.choice(tests)
        model = onnx.load(folder / "model.onnx")
        # Shapes, axes and the like become constants, so that their values are looked at.
        for i, info in list(enumerate(model.graph.input))[1:]:
            data = folder / "test_data_set_0" / f"input_{i}.pb"
            if info.type.HasField("tensor_type") and data.exists():
                tensor = model.graph.initializer.add()
                tensor.ParseFromString(data.read_bytes())
                tensor.name = info.name
        possible = list(changes(model))
        if not possible:
            continue
        for change in pick.sample(possible, min(len(possible), pick.randint(1, 2))):
            change(pick.choice(EXTREMES))
        path = out / f"{len(paths)}.onnx"
        path.write_bytes(model.SerializeToString())
        paths.append(str(path))
    (out / "list").write_text("\n".join(paths))


main()
