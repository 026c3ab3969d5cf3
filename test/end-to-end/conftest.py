"""Fixtures: models fetched once, artifacts compiled once for all tests that only read them."""

import types

import pytest

import harness
import tiny


class Compiled(types.SimpleNamespace):
    """model: the .onnx file; flags: those of the compile; out: the artifact's folder; row: its line of models.csv."""


@pytest.fixture(scope="session")
def model_file():
    """Path of a model of models.csv by name."""
    rows = harness.models.table()

    def find(name):
        return rows[name], harness.models.fetch(rows[name], harness.CACHE)

    return find


@pytest.fixture(scope="session")
def compiled_real(model_file, tmp_path_factory):
    """compiled_real(name): a model of models.csv, compiled without a budget."""
    made = {}

    def get(name):
        if name not in made:
            row, path = model_file(name)
            out = tmp_path_factory.mktemp("real") / "out"
            flags = row.shape_flags()
            harness.compile_model(path, out, *flags)
            made[name] = Compiled(model=path, flags=flags, out=out, row=row)
        return made[name]

    return get


@pytest.fixture(scope="session")
def cls(compiled_real):
    """A small real model: convolutions, pooling, a classifier; 0.6 MB."""
    return compiled_real("ppocr_cls")


@pytest.fixture(scope="module")
def compiled_case(request, tmp_path_factory):
    """compiled_case(name): (.onnx file, folder of the artifact) of the module's CASES[name] = (maker, bounds, ...)."""
    made = {}

    def get(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            make, bounds, *_ = request.module.CASES[name]
            model = tiny.save(make(), folder / "m.onnx")
            harness.compile_model(model, folder / "out", *(f"--bound={b}" for b in bounds))
            made[name] = model, folder / "out"
        return made[name]

    return get


@pytest.fixture(scope="session")
def compiled_tiny(tmp_path_factory):
    """compiled_tiny(name, *flags): the model that tiny.NAME() makes."""
    made = {}

    def get(name, *flags):
        if (name, flags) not in made:
            folder = tmp_path_factory.mktemp(name)
            path = tiny.save(getattr(tiny, name)(), folder / f"{name}.onnx")
            harness.compile_model(path, folder / "out", *flags)
            made[name, flags] = Compiled(model=path, flags=list(flags), out=folder / "out", row=None)
        return made[name, flags]

    return get
