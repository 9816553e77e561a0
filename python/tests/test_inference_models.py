"""Inference graphs in the files of models: attached, read again, checked and compared."""

import base64
import copy
import json
import pathlib
import pickle
import re
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main

PREPARE = [V.Decode(), V.Resize(64), V.CenterCrop(56), V.HWC2CHW()]
OTHER = [V.Decode(), V.Resize(64, antialias=False), V.CenterCrop(56), V.HWC2CHW()]
FOLDER = pathlib.Path(__file__).parents[2] / "examples/photos"
WEIGHTS = np.arange(6, dtype=np.float32).tobytes()


@pytest.fixture
def prepare() -> hr.InferenceGraph:
    return hr.InferenceGraph(PREPARE, {"image": "bytes"})


@pytest.fixture
def picture() -> pathlib.Path:
    return next(iter(sorted(FOLDER.rglob("*.jpg"))))


@pytest.fixture
def model(tmp_path) -> pathlib.Path:
    """A file of safetensors with metadata of its own."""
    path = tmp_path / "model.safetensors"
    write_tensors(path, {"format": "pt"})
    return path


def write_tensors(path: pathlib.Path, metadata: dict[str, str]) -> None:
    tensor = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, len(WEIGHTS)]}
    header = json.dumps({"__metadata__": metadata, "weight": tensor}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + WEIGHTS)


def metadata_of(path: pathlib.Path) -> dict[str, str]:
    data = path.read_bytes()
    found: dict[str, str] = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    return found


def with_check(model: pathlib.Path, graph: hr.InferenceGraph, change: Any) -> None:
    """Attaches the graph with another check."""
    entries = graph.entries()
    check = json.loads(entries["headrace.check"])
    change(check)
    write_tensors(model, entries | {"headrace.check": json.dumps(check)})


def test_a_graph_travels_in_a_model(prepare, model, picture):
    prepare.attach(model)
    found = metadata_of(model)
    assert found["format"] == "pt" and model.read_bytes().endswith(WEIGHTS)
    assert base64.b64decode(found["headrace.graph"]) == prepare.to_bytes()
    assert found["headrace.hash"] == prepare.hash
    again = hr.inference_of(model, verify=True)
    assert again == prepare
    np.testing.assert_array_equal(again(picture.read_bytes()), prepare(picture.read_bytes()))


def test_another_graph_takes_its_place(prepare, model):
    prepare.attach(model)
    other = hr.InferenceGraph(OTHER, {"image": "bytes"})
    other.attach(model)
    assert hr.inference_of(model, verify=True) == other
    assert set(metadata_of(model)) == {"format", "headrace.graph", "headrace.hash", "headrace.check"}


def test_other_models_have_it_beside_them(prepare, tmp_path):
    model = tmp_path / "model.tflite"
    model.write_bytes(b"\x1c\x00\x00\x00TFL3 weights")
    with pytest.raises(hr.Error):
        hr.inference_of(model)
    prepare.attach(model)
    assert model.read_bytes() == b"\x1c\x00\x00\x00TFL3 weights"
    beside = tmp_path / "model.tflite.hrg"
    assert set(json.loads(beside.read_text())) == {"headrace.graph", "headrace.hash", "headrace.check"}
    assert hr.inference_of(model, verify=True) == prepare
    assert hr.inference_of(beside, verify=True) == prepare


def test_models_that_others_write_are_refused_with_what_to_call(prepare, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text('<?xml version="1.0"?><net name="m" version="11"><layers/><edges/></net>')
    with pytest.raises(
        hr.UnsupportedError, match=r"converted from: .*; graph\.entries\(\) gives the texts, and graph"
    ) as raised:
        prepare.attach(path)
    beside = f"{path}.hrg"
    assert f"graph.attach({beside!r}) puts them beside" in str(raised.value)
    prepare.attach(beside)
    assert hr.inference_of(path, verify=True) == prepare


def test_saved_graphs_are_opened_too(prepare, tmp_path):
    prepare.save(tmp_path / "prepare.hrg")
    (tmp_path / "prepare.json").write_text(prepare.to_json())
    assert hr.inference_of(tmp_path / "prepare.hrg") == prepare
    assert hr.inference_of(tmp_path / "prepare.json") == prepare
    with pytest.raises(hr.GraphError, match="not read from the file of a model"):
        hr.inference_of(tmp_path / "prepare.hrg", verify=True)


def test_json_need_not_say_what_wrote_it(prepare, tmp_path):
    document = json.loads(prepare.to_json())
    assert document.pop("producer").startswith("headrace ")
    (tmp_path / "prepare.json").write_text(json.dumps(document))
    assert hr.inference_of(tmp_path / "prepare.json") == prepare


@pytest.mark.parametrize("name", ["prepare.hrg", "prepare.graph", "prepare.json"])
def test_a_saved_graph_of_a_later_version_says_so(prepare, tmp_path, name):
    path = tmp_path / name
    if name.endswith("json"):
        path.write_text(json.dumps(json.loads(prepare.to_json()) | {"format": 99}))
    else:
        data = bytearray(prepare.to_bytes())
        assert data[:1] == b"\x08"  # the format
        data[1] = 99
        path.write_bytes(data)
    with pytest.raises(hr.GraphError, match=f"{name}: the graph has format 99; .*upgrade Headrace"):
        hr.inference_of(path)
    assert main(["model", "show", str(path)]) == 1


def test_a_saved_graph_is_not_detached(prepare, tmp_path, capsys):
    prepare.save(tmp_path / "prepare.hrg")
    assert main(["model", "detach", str(tmp_path / "prepare.hrg")]) == 1
    assert "prepare.hrg is a saved graph, not a model; remove the file" in capsys.readouterr().err
    assert hr.inference_of(tmp_path / "prepare.hrg") == prepare


def test_a_model_without_a_graph_is_an_error(model, tmp_path):
    with pytest.raises(
        hr.GraphError, match=r"model\.safetensors holds no inference graph; put one into it: graph\.attach"
    ):
        hr.inference_of(model)
    with pytest.raises(hr.NotFoundError):
        hr.inference_of(tmp_path / "none.onnx")


def test_a_pipeline_is_no_inference_graph(tmp_path):
    hr.ImageFolder(str(FOLDER)).map(V.Decode(), "image").save(tmp_path / "pipeline.graph")
    with pytest.raises(hr.GraphError, match=re.escape(str(tmp_path / "pipeline.graph"))):
        hr.inference_of(tmp_path / "pipeline.graph")


def test_the_check_finds_a_step_that_differs(prepare, model):
    def change(check: dict[str, Any]) -> None:
        check["libraries"] |= {"libjpeg-turbo": "1.0.0", "Headrace's JPEG decoder": "0.9"}
        check["outputs"]["image"]["crc32c"] = "00000000"
        check["steps"][1]["crc32c"] = "00000001"

    with_check(model, prepare, change)
    hr.inference_of(model)
    with pytest.raises(hr.UnsupportedError) as raised:
        hr.inference_of(model, verify=True)
    message = str(raised.value)
    assert "Resize" in message.partition(" makes something else")[0] and "checksum 00000001" in message
    assert re.search(r"here is Headrace's JPEG decoder [\d.]+, not 0\.9, libjpeg-turbo [\d.]+, not 1\.0\.0", message)


def test_the_check_goes_to_other_processes(prepare, model):
    prepare.attach(model)
    graph = hr.inference_of(model)
    for again in (pickle.loads(pickle.dumps(graph)), copy.copy(graph), copy.deepcopy(graph)):
        assert again == graph
        again.verify()


def test_the_check_finds_a_step_of_another_shape(prepare, model):
    def change(check: dict[str, Any]) -> None:
        check["outputs"]["image"]["shape"] = [3, 55, 56]
        check["steps"][2]["shape"] = [55, 56, 3]

    with_check(model, prepare, change)
    with pytest.raises(
        hr.UnsupportedError, match=r"CenterCrop.*uint8 \(56, 56, 3\).*and not uint8 \(55, 56, 3\)"
    ) as raised:
        hr.inference_of(model).verify()
    assert "the same versions in both places" in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda check: check.pop("steps"),
        lambda check: check.update(inputs=[]),
        lambda check: check.update(steps=[3]),
        lambda check: check.update(libraries=None),
        lambda check: check["inputs"].clear(),
        lambda check: check["inputs"].update(image="not base64!"),
        lambda check: check["inputs"].update(image={"dtype": "uint8", "shape": [3], "base64": ""}),
        lambda check: check["inputs"].update(image={"dtype": "object", "shape": [], "base64": ""}),
        lambda check: check["inputs"].update(image=[1]),
    ],
)
def test_a_damaged_check_is_an_error_of_its_own(prepare, model, change):
    with_check(model, prepare, change)
    with pytest.raises(hr.DataError, match="attach the graph again"):
        hr.inference_of(model, verify=True)


@pytest.mark.parametrize("text", ["{", "[]", "3", "[" * 100_000])
def test_a_check_that_is_no_object_is_an_error(prepare, model, text):
    write_tensors(model, prepare.entries() | {"headrace.check": text})
    with pytest.raises(hr.DataError, match="attach the graph again"):
        hr.inference_of(model, verify=True)
    assert main(["model", "show", str(model)]) == 0


def test_damaged_entries_are_errors(model):
    for text in ("%%%", base64.b64encode(b"no graph").decode(), ""):
        write_tensors(model, {"headrace.graph": text})
        with pytest.raises(hr.Error, match="model"):
            hr.inference_of(model)


def test_an_example_of_the_users_is_checked(model):
    graph = hr.InferenceGraph((V.Normalize([1.0], [2.0]), "x"), {"x": ("float32", (None, 4, 1)), "n": "int32"})
    with pytest.raises(hr.GraphError, match='the input "x" is float32 .*give example='):
        graph.attach(model)
    graph.attach(model, {"x": np.ones((2, 4, 1), np.float32), "n": 5})
    check = json.loads(metadata_of(model)["headrace.check"])
    assert check["inputs"]["x"]["shape"] == [2, 4, 1] and set(check["outputs"]) == {"x", "n"}
    assert hr.inference_of(model, verify=True) == graph
    sound = hr.InferenceGraph(V.Decode(), {"image": "bytes"})
    with pytest.raises(hr.GraphError, match="has no input 'imge'; did you mean image"):
        sound.attach(model, example={"imge": b""})
    with pytest.raises(hr.DataError):
        sound.attach(model, example=b"no picture")


def test_an_example_that_the_graph_does_not_take_is_named(prepare, model, tmp_path, capsys):
    with pytest.raises(hr.DataError, match="the example: not a JPEG"):
        prepare.attach(model, example=b"not a picture")
    with pytest.raises(hr.GraphError, match="the example: has no input 'imag'; did you mean image"):
        prepare.attach(model, example={"imag": b""})
    assert "headrace.graph" not in metadata_of(model)
    prepare.save(tmp_path / "prepare.graph")
    arguments = [str(tmp_path / "prepare.graph"), str(model), f"--example={tmp_path / 'prepare.graph'}"]
    assert main(["model", "attach", *arguments]) == 1
    assert "the example: not a JPEG" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dtype", "texts", "stored"),
    [
        ("bytes", np.array([b"a", b"", b"b\0:9"], object), b"1:a0:4:b\0:9"),
        ("bytes", np.array([[b"ab"], [b"c"]]), b"2:ab1:c"),
        ("string", np.array([["\u00fc", "b"]], object), b"2:\xc3\xbc1:b"),
        ("string", np.array(["x", "yz"]), b"1:x2:yz"),
        ("string", np.array([], object), b""),
        ("bytes", [b"a\0", b"b"], b"2:a\x001:b"),
        ("string", [["a"], ["bc"]], b"1:a2:bc"),
    ],
)
def test_an_example_may_be_an_array_of_texts(model, dtype, texts, stored):
    shape = np.shape(texts)
    graph = hr.InferenceGraph([], {"texts": (dtype, (None,) * len(shape))})
    graph.attach(model, example=texts)
    check = json.loads(metadata_of(model)["headrace.check"])
    written = check["inputs"]["texts"]
    assert (written["dtype"], written["shape"], base64.b64decode(written["base64"])) == (dtype, [*shape], stored)
    assert hr.inference_of(model, verify=True) == graph


@pytest.mark.parametrize("stored", [b"1:a1", b"1:a9:b", b"1:a:b", b"-1:a1:b", b"1:a", b"1:a1:b1:c", b"1:a+1:b"])
def test_a_damaged_array_of_texts_is_an_error(model, stored):
    graph = hr.InferenceGraph([], {"texts": ("bytes", (None,))})
    graph.attach(model, example=np.array([b"a", b"b"], object))
    entries = metadata_of(model)
    check = json.loads(entries["headrace.check"])
    check["inputs"]["texts"]["base64"] = base64.b64encode(stored).decode()
    write_tensors(model, {**entries, "headrace.check": json.dumps(check)})
    with pytest.raises(hr.DataError, match='the check has no value for the input "texts"'):
        hr.inference_of(model, verify=True)


def test_arrays_of_pictures_get_an_example(model):
    for shape in ((None, None, 3), (40, 30), (None, None, 1), (20, None, 4)):
        graph = hr.InferenceGraph(V.HorizontalFlip(), {"image": ("uint8", shape)})
        graph.attach(model)
        assert hr.inference_of(model, verify=True) == graph


def test_the_example_is_the_same_everywhere(prepare):
    check = json.loads(prepare.entries()["headrace.check"])
    assert check == json.loads(prepare.entries()["headrace.check"])
    assert len(base64.b64decode(check["inputs"]["image"])) < 10_000
    assert set(check["libraries"]) >= {"Headrace's JPEG decoder", "libjpeg-turbo", "libwebp", "OpenCV"}
    assert check["headrace"] == hr.__version__


def test_the_command_shows_attaches_checks_and_detaches(prepare, model, tmp_path, capsys):
    graph = tmp_path / "prepare.graph"
    prepare.save(graph)
    assert main(["model", "show", str(graph)]) == 0
    assert capsys.readouterr().out == f"{prepare.explain()}\nno example travels with it, so it cannot be checked\n"
    assert main(["model", "check", str(graph)]) == 2
    assert "no example travels with the graph" in capsys.readouterr().err
    assert main(["model", "attach", str(graph), str(model)]) == 0
    assert capsys.readouterr().out == f"{model}: {prepare!r}, hash {prepare.hash[:12]}\n"
    assert main(["model", "show", str(model)]) == 0
    assert "an example travels with it, run by headrace" in capsys.readouterr().out
    assert main(["model", "check", str(model)]) == 0
    assert "gives the same as where the graph was attached" in capsys.readouterr().out
    assert main(["model", "detach", str(model)]) == 0
    assert metadata_of(model) == {"format": "pt"}
    assert main(["model", "detach", str(model)]) == 1
    assert main(["model", "check", str(model)]) == 2
    assert "holds no inference graph" in capsys.readouterr().err


def test_the_command_attaches_with_an_example_and_checks_it(prepare, model, tmp_path, picture, capsys):
    prepare.save(tmp_path / "prepare.graph")
    command = ["model", "attach", str(tmp_path / "prepare.graph"), str(model), "--example"]
    assert main([*command, str(picture)]) == 0
    check = json.loads(metadata_of(model)["headrace.check"])
    assert base64.b64decode(check["inputs"]["image"]) == picture.read_bytes()
    assert main([*command, str(tmp_path / "none.jpg")]) == 1

    def change(check: dict[str, Any]) -> None:
        check["outputs"]["image"]["crc32c"] = check["steps"][0]["crc32c"] = "00000000"

    with_check(model, prepare, change)
    capsys.readouterr()
    assert main(["model", "check", str(model)]) == 1
    assert "Decode makes something else" in re.sub(r"\([^)]*\)", "", capsys.readouterr().err)


def test_the_command_says_where_two_graphs_part(prepare, tmp_path, picture, capsys):
    other = hr.InferenceGraph([*OTHER[:3], V.Invert(), OTHER[3]], {"image": "bytes"})
    one, two = tmp_path / "one.graph", tmp_path / "two.graph"
    prepare.save(one)
    other.save(two)
    assert main(["model", "diff", str(one), str(one), str(picture)]) == 0
    assert capsys.readouterr().out.endswith("\nequal at every step\n")
    assert main(["model", "diff", str(one), str(two), str(picture), "--out", str(tmp_path / "pictures")]) == 1
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines[1:6]}
    assert list(rows) == ["Decode", "Resize", "CenterCrop", "Invert", "HWC2CHW"]
    assert rows["Decode"].split()[-2:] == ["0", "0"] and float(rows["Resize"].split()[-1]) > 0
    assert " – " in rows["Invert"]
    assert lines[7] == "they part at" and "antialias=True" in lines[8] and "antialias=False" in lines[9]
    written = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert written == ["00-Decode.png", "01-Resize.png", "02-CenterCrop.png", "03-Invert.png", "04-HWC2CHW.png"]
    assert V.Decode()((tmp_path / "pictures/01-Resize.png").read_bytes()).ndim == 3


def test_the_command_compares_pictures_given_as_pixels(tmp_path, picture, capsys):
    encoded, pixels = tmp_path / "encoded.graph", tmp_path / "pixels.graph"
    hr.InferenceGraph([V.Decode(), V.Resize(20)], {"image": "bytes"}).save(encoded)
    hr.InferenceGraph([V.Resize(20)], {"image": ("uint8", (None, None, 3))}).save(pixels)
    assert main(["model", "diff", str(encoded), str(pixels), str(picture)]) == 1
    assert "B: no such step" in capsys.readouterr().out
    several = tmp_path / "several.graph"
    hr.InferenceGraph({"a": V.Decode(), "b": V.Decode()}, {"a": "bytes", "b": "bytes"}).save(several)
    assert main(["model", "diff", str(several), str(encoded), str(picture)]) == 2
    assert "takes several inputs (a, b)" in capsys.readouterr().err


def test_the_code_tells_a_difference_from_what_cannot_be_compared(prepare, tmp_path, picture, capsys):
    graph, none = str(tmp_path / "one.graph"), str(tmp_path / "none.graph")
    prepare.save(graph)
    assert main(["model", "diff", graph, none, str(picture)]) == 2
    assert "none.graph" in capsys.readouterr().err
    assert main(["model", "diff", graph, graph, str(tmp_path / "none.jpg")]) == 2
    assert main(["model", "check", none]) == 2
    assert main(["model", "check", graph]) == 2
    assert "no example travels" in capsys.readouterr().err


def test_a_model_that_is_loaded_as_a_pipeline_is_an_error_with_advice(prepare, tmp_path):
    path = tmp_path / "model.onnx"
    (tmp_path / "plain.bin").write_bytes(b"no model")
    onnx = pytest.importorskip("onnx")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [])), path)
    prepare.attach(path)
    with pytest.raises(hr.GraphError, match=r"a model, not a saved pipeline; hr\.inference_of"):
        hr.load(path)
    with pytest.raises(hr.GraphError, match="no Headrace graph"):
        hr.load(tmp_path / "plain.bin")
