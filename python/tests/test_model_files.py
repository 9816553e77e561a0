"""Entries in files of models: what the formats' own libraries read of ours, and we of theirs."""

import contextlib
import io
import json
import pathlib
import re
import struct
import zipfile

import numpy as np
import pytest

import headrace as hr
from headrace import _engine

GRAPH = "QUJD" * 100
CHECK = json.dumps({"é": "\u202e<b> & \"'\n", "n": [1, 2]}, ensure_ascii=False)
ENTRIES = [("headrace.graph", GRAPH), ("headrace.check", CHECK)]


def onnx_model(path: pathlib.Path, properties: dict[str, str], weights: int = 4) -> bytes:
    """A model that adds a constant to x."""
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [weights])]
    outputs = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [weights])]
    constant = numpy_helper.from_array(np.arange(weights, dtype=np.float32), "c")
    graph = helper.make_graph([helper.make_node("Add", ["x", "c"], ["y"])], "g", inputs, outputs, [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, properties)
    onnx.save(model, str(path))
    return path.read_bytes()


def properties_of(path: pathlib.Path) -> dict[str, str]:
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(path))
    onnx.checker.check_model(model)
    return {entry.key: entry.value for entry in model.metadata_props}


def test_onnx_reads_what_is_written(tmp_path):
    path = tmp_path / "m.onnx"
    before = onnx_model(path, {"author": "a", "headrace.graph": "old"})
    assert _engine.read_model_entries(str(path)) == [("author", "a"), ("headrace.graph", "old")]
    _engine.write_model_entries(str(path), ENTRIES)
    assert properties_of(path) == {"author": "a", "headrace.graph": GRAPH, "headrace.check": CHECK}
    _engine.write_model_entries(str(path), [("headrace.check", None), ("headrace.graph", "old")])
    assert path.read_bytes() == before
    _engine.write_model_entries(str(path), [("headrace.graph", None), ("author", None), ("none", None)])
    assert properties_of(path) == {}


def test_onnxruntime_runs_what_is_written(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "m.onnx"
    onnx_model(path, {"author": "a"})
    _engine.write_model_entries(str(path), ENTRIES)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map == {"author": "a", **dict(ENTRIES)}
    assert session.run(None, {"x": np.ones(4, np.float32)})[0].tolist() == [1, 2, 3, 4]
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    assert dict(_engine.read_model_entries(str(tmp_path / "optimized.onnx"))) == {"author": "a", **dict(ENTRIES)}


def test_onnxruntime_takes_the_last_of_a_key_too(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "m.onnx"
    written = onnx_model(path, {"k": "first"})
    other = onnx_model(tmp_path / "other.onnx", {"k": "laast"})
    path.write_bytes(written + other[-len(b"\x72\x0a\x0a\x01k\x12\x05laast") :])
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map == {"k": "laast"}
    assert _engine.read_model_entries(str(path)) == [("k", "laast")]
    _engine.write_model_entries(str(path), [("k", "only")])
    assert properties_of(path) == {"k": "only"}


def test_onnx_with_external_weights(tmp_path):
    onnx = pytest.importorskip("onnx")
    onnx_model(tmp_path / "whole.onnx", {}, 1000)
    path = tmp_path / "m.onnx"
    onnx.save(onnx.load(str(tmp_path / "whole.onnx")), str(path), save_as_external_data=True, location="m.data")
    _engine.write_model_entries(str(path), ENTRIES)
    assert properties_of(path) == dict(ENTRIES)


def test_safetensors_reads_what_is_written(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    opened = pytest.importorskip("safetensors").safe_open
    path = tmp_path / "m.safetensors"
    tensors = {"b": np.arange(3, dtype=np.float32), "a": np.ones((2, 2), np.uint8), "empty": np.zeros((0, 3))}
    safetensors.save_file(tensors, str(path), metadata={"format": "pt", "é": "1"})
    before = path.read_bytes()
    assert sorted(_engine.read_model_entries(str(path))) == [("format", "pt"), ("é", "1")]
    _engine.write_model_entries(str(path), ENTRIES)
    with opened(str(path), "np") as file:
        assert file.metadata() == {"format": "pt", "é": "1", **dict(ENTRIES)}
        for name, value in tensors.items():
            np.testing.assert_array_equal(file.get_tensor(name), value)
    _engine.write_model_entries(str(path), [(key, None) for key, _ in ENTRIES])
    assert path.read_bytes() == before


def test_safetensors_without_metadata(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    opened = pytest.importorskip("safetensors").safe_open
    for number, tensors in enumerate([{}, {"a": np.arange(5, dtype=np.uint8)}]):
        path = tmp_path / f"{number}.safetensors"
        safetensors.save_file(tensors, str(path))
        before = path.read_bytes()
        assert _engine.read_model_entries(str(path)) == []
        _engine.write_model_entries(str(path), ENTRIES)
        with opened(str(path), "np") as file:
            assert file.metadata() == dict(ENTRIES)
        assert safetensors.load_file(str(path)).keys() == tensors.keys()
        assert _engine.read_model_entries(str(path)) == ENTRIES
        _engine.write_model_entries(str(path), [(key, None) for key, _ in ENTRIES])
        assert path.read_bytes() == before


def test_safetensors_refuses_what_the_library_refuses(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "m.safetensors"
    safetensors.save_file({"a": np.arange(5, dtype=np.uint8)}, str(path), metadata={"k": "v"})
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(Exception):  # noqa: B017 - whatever the library raises
            safetensors.load_file(str(path))
        with pytest.raises(hr.errors.DataError, match=re.escape(str(path)) + ".*cut off"):
            _engine.read_model_entries(str(path))


@pytest.mark.torch
def test_torchscript_is_read(tmp_path):
    torch = pytest.importorskip("torch")

    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    path = tmp_path / "m.pt"
    scripted = torch.jit.script(Add())
    torch.jit.save(scripted, str(path), _extra_files={**dict(ENTRIES), "bytes": b"\xff\x00"})
    assert dict(_engine.read_model_entries(str(path))) == {**dict(ENTRIES), "bytes": "\udcff\x00"}
    with pytest.raises(hr.errors.UnsupportedError, match="_extra_files"):
        _engine.write_model_entries(str(path), ENTRIES)
    torch.jit.save(scripted, str(path))
    assert _engine.read_model_entries(str(path)) == []
    torch.save({"weights": torch.zeros(3)}, str(path))
    assert _engine.read_model_entries(str(path)) == []
    _engine.write_model_entries(f"{path}.hrg", ENTRIES)
    assert _engine.read_model_entries(str(path)) == ENTRIES


@pytest.mark.torch
def test_exported_programs_are_read(tmp_path):
    torch = pytest.importorskip("torch")
    export = pytest.importorskip("torch.export")

    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    path = tmp_path / "m.pt2"
    export.save(export.export(Add(), (torch.zeros(2),)), str(path), extra_files=dict(ENTRIES))
    assert dict(_engine.read_model_entries(str(path))) == dict(ENTRIES)
    with pytest.raises(hr.errors.UnsupportedError, match=r"torch\.export\.save"):
        _engine.write_model_entries(str(path), ENTRIES)


def test_openvino_keeps_the_properties_of_onnx(tmp_path):
    openvino = pytest.importorskip("openvino")
    path = tmp_path / "m.onnx"
    onnx_model(path, {"1 a": "not a name in XML"})
    _engine.write_model_entries(str(path), ENTRIES)
    with contextlib.redirect_stdout(io.StringIO()):
        openvino.save_model(openvino.convert_model(str(path)), str(tmp_path / "m.xml"))
    converted = dict(_engine.read_model_entries(str(tmp_path / "m.xml")))
    assert converted == {"1 a": "not a name in XML", **dict(ENTRIES)}
    with pytest.raises(hr.errors.UnsupportedError, match="before it is converted"):
        _engine.write_model_entries(str(tmp_path / "m.xml"), [("headrace.graph", "x")])


def test_other_files_have_a_file_beside_them(tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(b"\x1c\0\0\0TFL3")
    with pytest.raises(hr.errors.UnsupportedError, match=r"neither an ONNX model.*m\.tflite\.hrg beside it"):
        _engine.read_model_entries(str(path))
    _engine.write_model_entries(str(path), ENTRIES)
    assert json.loads((tmp_path / "m.tflite.hrg").read_text()) == dict(ENTRIES)
    assert _engine.read_model_entries(str(path)) == ENTRIES
    (tmp_path / "m.tflite.hrg").write_text(json.dumps({"k": "é😀"}))
    assert _engine.read_model_entries(str(path)) == [("k", "é😀")]
    _engine.write_model_entries(str(path), [("k", None)])
    assert not (tmp_path / "m.tflite.hrg").exists()


def test_two_texts_of_one_key_are_an_error(tmp_path):
    header = json.dumps({"__metadata__": {"k": "v"}}).encode()
    path = tmp_path / "model"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    (tmp_path / "model.hrg").write_text('{"k": "w"}')
    with pytest.raises(hr.errors.DataError, match=r"model and .*model\.hrg hold different texts for k"):
        _engine.read_model_entries(str(path))
    _engine.write_model_entries(str(path), [("k", "x")])
    assert _engine.read_model_entries(str(path)) == [("k", "x")]


def test_archives_of_others_are_not_models(tmp_path):
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/extra/k", "v")
    with pytest.raises(hr.errors.UnsupportedError, match="nor an archive of torch"):
        _engine.read_model_entries(str(path))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("m/version", "3", zipfile.ZIP_DEFLATED)
        archive.writestr("m/extra/l", "w" * 100, zipfile.ZIP_DEFLATED)
    assert _engine.read_model_entries(str(path)) == [("k", "v"), ("l", "w" * 100)]


def test_missing_and_wrong_arguments(tmp_path):
    with pytest.raises(hr.errors.NotFoundError, match="m.onnx"):
        _engine.read_model_entries(str(tmp_path / "m.onnx"))
    with pytest.raises(hr.errors.NotFoundError, match="m.onnx"):
        _engine.write_model_entries(str(tmp_path / "m.onnx"), [("k", "v")])
    path = tmp_path / "m.hrg"
    with pytest.raises(hr.errors.GraphError, match="two entries have the key k"):
        _engine.write_model_entries(str(path), [("k", "v"), ("k", "w")])
    assert not path.exists()
