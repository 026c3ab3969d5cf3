import os

import lit.formats

config.name = "plimsoll"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.plim_tools, config.llvm_tools, os.environ["PATH"]])
config.substitutions.append(("%python", config.plim_python))
# Tests with a device run only where it is asked for, so that a machine with one gives the same verdict as one without.
if "PLIM_TEST_GPU" in os.environ:
    config.available_features.add("gpu")
