"""A compiled model in this process: its object and the runtime as shared libraries, driven through the C interface."""

import ctypes
import functools
import pathlib
import tempfile

import numpy as np

import harness

ARG, BOUND, CANCELLED = 1, 4, 9
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


class Scope(ctypes.Structure):
    _fields_ = [("variant", ctypes.c_uint32), ("program", ctypes.c_uint32)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("code", ctypes.c_int32), ("need", ctypes.c_int64), ("have", ctypes.c_int64),
                ("program", ctypes.c_uint32), ("step", ctypes.c_uint32), ("where", ctypes.c_char * 112),
                ("message", ctypes.c_char * 256)]


class RunOptions(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint32), ("fault", ctypes.c_uint32), ("progress", PROGRESS),
                ("progress_data", ctypes.c_void_p), ("trace", ctypes.c_void_p)]


class Refused(Exception):
    def __init__(self, status, error):
        super().__init__(f"{error.where.decode()}: {error.message.decode()} (need {error.need}, have {error.have})")
        self.status, self.need, self.have = status, error.need, error.have


def link(out, *arguments):
    harness.run(["cc", "-shared", "-o", out, f"-L{harness.BUILD / 'lib'}", *arguments, "-lpthread", "-lm"])


@functools.cache
def runtime():
    """Loaded once, as its thread-local storage is scarce."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/runtime.so"
        link(path, "-Wl,--whole-archive", "-lplim_rt", "-Wl,--no-whole-archive")
        lib = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    lib.plim_last_error.restype = ctypes.POINTER(Error)
    return lib


class Session:
    """All entries of an artifact over one session."""

    def __init__(self, out, name="model"):
        out = pathlib.Path(out)
        shared = out / "session.so"
        if not shared.exists():
            link(shared, out / "model.o", "-lplim_kernels")
        self.lib = runtime()
        self.code = ctypes.CDLL(str(shared))
        self.model = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.code, f"{name}_model")))
        scope = Scope()
        self.call("plim_find", self.model, None, None, ctypes.byref(scope))
        self.weights, self.context, self.session = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("plim_weights_create", self.model, scope, str(out / "model.weights").encode(), None,
                  ctypes.byref(self.weights))
        self.call("plim_context_create", self.weights, scope, None, ctypes.byref(self.context))
        self.call("plim_session_create", self.weights, scope, None, ctypes.byref(self.session))

    def close(self):
        for kind in ("session", "context", "weights"):
            getattr(self.lib, f"plim_{kind}_destroy")(getattr(self, kind))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, function, *arguments):
        status = getattr(self.lib, function)(*arguments)
        if status:
            raise Refused(status, self.lib.plim_last_error().contents)

    def program(self, entry):
        scope = Scope()
        self.call("plim_find", self.model, entry.encode(), None, ctypes.byref(scope))
        return scope.program

    def run(self, entry, inputs, outputs, stop_at=None):
        """Runs an entry; `outputs` are {name: array with room for the output}. `stop_at` cancels before that step."""
        program = self.program(entry)
        kept = []
        for name, array in inputs.items():
            array = np.ascontiguousarray(array)
            dims = (ctypes.c_int64 * array.ndim)(*array.shape)
            kept += [array, dims]
            # A tensor without elements still has an address.
            data = array.ctypes.data or dims
            self.call("plim_bind_input", self.session, program, name.encode(), ctypes.c_void_p(data),
                      ctypes.c_uint64(array.nbytes), dims, array.ndim)
        for name, array in outputs.items():
            self.call("plim_bind_output", self.session, program, name.encode(), ctypes.c_void_p(array.ctypes.data),
                      ctypes.c_uint64(array.nbytes))
        options = RunOptions()
        if stop_at is not None:
            options.progress = PROGRESS(lambda data, step, steps: int(step >= stop_at))
        self.call("plim_run", self.session, self.context, program, ctypes.byref(options))
        return outputs

    def state(self, name, dtype):
        """The elements of a state, which are the session's."""
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("plim_state_data", self.session, name.encode(), ctypes.byref(data), ctypes.byref(size))
        return np.frombuffer((ctypes.c_char * size.value).from_address(data.value), dtype)

    def save(self, path):
        self.call("plim_state_save", self.session, str(path).encode())

    def load(self, path):
        self.call("plim_state_load", self.session, str(path).encode())

    def reset(self):
        self.call("plim_state_reset", self.session)
