# Weights above 1 KiB are parameters that name bytes of the model or of its external data; smaller ones are constants.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/raw.onnx | FileCheck %s
# RUN: import-onnx %t/external.onnx | FileCheck %s --check-prefix=EXTERNAL
# RUN: import-onnx %t/typed.onnx --decoded-weights=%t/decoded | FileCheck %s --check-prefix=TYPED
# RUN: %python -c "import numpy; assert (numpy.fromfile('%t/decoded', '<i8')[:300] == numpy.arange(300) - 150).all()"
# RUN: not import-onnx %t/typed.onnx 2>&1 | FileCheck %s --check-prefix=NOFILE
# RUN: not import-onnx %t/typed.onnx --decoded-weights=%t/no/folder 2>&1 | FileCheck %s --check-prefix=NOFOLDER
# RUN: not import-onnx %t/short.onnx 2>&1 | FileCheck %s --check-prefix=SHORT
# RUN: not import-onnx %t/missing.onnx 2>&1 | FileCheck %s --check-prefix=MISSING
# RUN: not import-onnx %t/outside.onnx 2>&1 | FileCheck %s --check-prefix=OUTSIDE
# RUN: not import-onnx %t/size.onnx 2>&1 | FileCheck %s --check-prefix=SIZE
# RUN: not import-onnx %t/strings.onnx 2>&1 | FileCheck %s --check-prefix=STRINGS
from models import *

folder = sys.argv[1]
big = np.arange(300, dtype=np.float32)


def save(name, *weights):
    path = f"{folder}/{name}.onnx"
    nodes = [node("Identity", w.name, f"y{i}") for i, w in enumerate(weights)]
    write(nodes, [value("x", [1])], [value(f"y{i}", None, w.data_type) for i, w in enumerate(weights)], weights, path=path)
    return path


def external(name, **entries):
    tensor = raw(name, big)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, entry in entries.items():
        tensor.external_data.add(key=key, value=str(entry))
    return tensor


# CHECK: graph.constant dense<[1, 2, 3]> : tensor<3xi64>
# CHECK: graph.parameter "floats" {bytes = 1200 : i64, file = "{{.*}}/raw.onnx", offset = 137 : i64} : tensor<300xf32>
# CHECK: graph.parameter "packed" {bytes = 1200 : i64
path = save("raw", ints("small", 1, 2, 3), raw("floats", big), helper.make_tensor("packed", F32, [300], big))
data = open(path, "rb").read()
expect, text = data.find(big.tobytes()), open(__file__).read()
assert f"offset = {expect} " in text, f"the model has its weights at {expect}"

# EXTERNAL: graph.parameter "w" {bytes = 1200 : i64, file = "{{.*}}/w.bin", offset = 64 : i64} : tensor<300xf32>
open(f"{folder}/w.bin", "wb").write(bytes(64) + big.tobytes())
save("external", external("w", location="w.bin", offset=64, length=1200))

# TYPED: graph.parameter "v" {bytes = 2400 : i64, file = "{{.*}}/decoded"} : tensor<300xi64>
# NOFILE: error: tensor 'v': its 2400 bytes are stored as typed fields, not as raw data, and no file for decoded weights was named
# NOFOLDER: error: tensor 'v': cannot write '{{.*}}/no/folder': No such file or directory
save("typed", helper.make_tensor("v", I64, [300], np.arange(300) - 150))

# SHORT: error: tensor 'w': external data 'w.bin': need 1200 bytes at byte 65, have a file of 1264 bytes
save("short", external("w", location="w.bin", offset=65))
# MISSING: error: tensor 'w': external data 'none.bin': No such file or directory
save("missing", external("w", location="none.bin"))
# OUTSIDE: error: tensor 'w': external data '../w.bin': the location has a '..'
save("outside", external("w", location="../w.bin"))
# SIZE: error: tensor 'w': need 1204 bytes of data, have 1200 (byte
wrong = raw("w", big)
wrong.dims[0] = 301
save("size", wrong)
# STRINGS: error: tensor 'w': elements of type string are not supported
save("strings", helper.make_tensor("w", TensorProto.STRING, [1], [b"text"]))
