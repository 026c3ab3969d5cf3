"""test/models/models.csv describes the models' files as they are, and says what it stands for."""

import onnx
import pytest

import harness
from harness import models

TYPES = {"f32": onnx.TensorProto.FLOAT, "i64": onnx.TensorProto.INT64, "i32": onnx.TensorProto.INT32}


@pytest.mark.parametrize("name", list(models.table()))
def test_a_row_names_the_inputs_of_its_file(model_file, name):
    row, path = model_file(name)
    graph = onnx.load(path, load_external_data=False).graph
    inputs = {i.name: i.type.tensor_type for i in graph.input if i.name not in {w.name for w in graph.initializer}}
    assert set(row.inputs) == set(inputs)
    for input_name, (dims, dtype) in row.inputs.items():
        have = inputs[input_name]
        assert have.elem_type == TYPES[dtype], input_name
        assert len(have.shape.dim) == len(dims), input_name
        for size, dim in zip(dims, have.shape.dim):
            assert dim.dim_value in (-1, 0, size), input_name


def test_a_pattern_stands_for_each_name_in_order():
    assert models.expand("x") == ["x"]
    assert models.expand("past_{k,v}.{9..11}") == [f"past_{kind}.{layer}" for kind in "kv" for layer in (9, 10, 11)]


def test_a_converted_model_is_made_once_and_again_when_its_script_changes(tmp_path, monkeypatch):
    script = tmp_path / "tools" / "make.py"
    script.parent.mkdir()
    monkeypatch.setattr(models, "__file__", str(script.parent / "models.py"))
    script.write_text("import sys; open(sys.argv[2], 'w').write('first ' + open(sys.argv[1]).read())\n")
    source = tmp_path / "a.gguf"
    source.write_text("source")
    row = models.Model({"name": "m", "group": "first", "package": "p", "version": "1", "path_in_wheel": "a.gguf",
                        "bytes": "6", "sha256": "0" * 64, "licence": "none", "opset": "17",
                        "converter": "make.py", "inputs": "ids:1x4:i64:7"})
    assert row.counted == {"ids": 7}
    made = models.convert(row, source, tmp_path)
    assert made.read_text() == "first source"
    stamp = made.stat().st_mtime_ns
    assert models.convert(row, source, tmp_path) == made and made.stat().st_mtime_ns == stamp
    script.write_text("import sys; open(sys.argv[2], 'w').write('second')\n")
    assert models.convert(row, source, tmp_path).read_text() == "second"
    script.write_text("raise SystemExit('no such tensor')\n")
    with pytest.raises(RuntimeError, match="make.py: no such tensor"):
        models.convert(row, source, tmp_path)
    assert not list(tmp_path.glob("tmp*")), "a failed conversion leaves nothing"


def test_positions_count_up_from_the_length_of_the_cache():
    rows = models.table()
    assert harness.seeded_inputs(rows["smollm2@decode255"])["position_ids"].tolist() == [[255]]
    assert harness.seeded_inputs(rows["smollm2@prefill128"])["position_ids"].tolist() == [list(range(128))]
