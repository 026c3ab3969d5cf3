# A damaged file is refused with the place, and a file that cannot be read is exit code 4.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: not import-onnx %t/cut.onnx 2>&1 | FileCheck %s --check-prefix=CUT
# RUN: not import-onnx %t/empty.onnx 2>&1 | FileCheck %s --check-prefix=EMPTY
# RUN: not import-onnx %t/none.onnx 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: sh -c 'import-onnx %t/cut.onnx 2>/dev/null; test $? = 2'
# RUN: sh -c 'import-onnx %t/none.onnx 2>/dev/null; test $? = 4'
from models import *

# CUT: error: not a readable ONNX model: field 7 is truncated: need {{[0-9]+}} bytes, have {{[0-9]+}} (byte {{[0-9]+}})
# EMPTY: error: not a readable ONNX model: no graph: need field 7 of the model message, have none (byte 0)
# NONE: error: cannot open '{{.*}}none.onnx': No such file or directory
model = write([node("Relu", "x", "y")], [value("x", [2])], [value("y", None)], path=f"{sys.argv[1]}/whole.onnx")
data = model.SerializeToString()
open(f"{sys.argv[1]}/cut.onnx", "wb").write(data[: len(data) // 2])
open(f"{sys.argv[1]}/empty.onnx", "wb").close()
