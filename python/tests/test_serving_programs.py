"""The servers of examples/serve over other runtimes: from the bytes of a picture to a class, as in Python."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import headrace as hr
from headrace import vision as V

SERVE = ROOT / "examples/serve"
PHOTOS = sorted((ROOT / "examples/photos").rglob("*.jpg"))[:3]


def built(name: str, folder: pathlib.Path, *options: str) -> None:
    command = ["cmake", "-S", SERVE / name, "-B", folder, f"-DCMAKE_PREFIX_PATH={os.path.dirname(hr.library_dir())}"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder], check=True, capture_output=True)


def write_classifier(path: pathlib.Path) -> None:
    """A network of two classes, in ONNX: the mean of each channel, times weights."""
    onnx = pytest.importorskip("onnx", reason="pip install onnx")
    weights = onnx.numpy_helper.from_array(np.array([[1, -2], [-3, 4], [2, -1]], np.float32), "weights")
    of = onnx.helper
    graph = of.make_graph(
        [
            of.make_node("ReduceMean", ["image", "axes"], ["means"], keepdims=0),
            of.make_node("MatMul", ["means", "weights"], ["sums"]),
            of.make_node("Softmax", ["sums"], ["scores"]),
        ],
        "two_classes",
        [of.make_tensor_value_info("image", onnx.TensorProto.FLOAT, ["n", 3, 48, 192])],
        [of.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["n", 2])],
        [weights, onnx.numpy_helper.from_array(np.array([2, 3], np.int64), "axes")],
    )
    onnx.save(of.make_model(graph, opset_imports=[of.make_opsetid("", 18)], ir_version=9), path)


def copy_angle_classifier(path: pathlib.Path) -> None:
    """A classifier of the angle of texts."""
    package = pytest.importorskip("rapidocr_onnxruntime", reason="pip install rapidocr-onnxruntime==1.4.4")
    found = pathlib.Path(package.__file__).parent / "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
    shutil.copyfile(found, path)


@pytest.fixture(scope="module", params=[write_classifier, copy_angle_classifier])
def model(request, tmp_path_factory):
    """A model, with its preprocessing inside."""
    model = tmp_path_factory.mktemp("model") / "model.onnx"
    request.param(model)
    kernels = [
        V.Decode(),
        V.Resize((48, 192)),
        V.ConvertColor("RGB", "BGR"),
        V.Normalize([127.5] * 3, [127.5] * 3),
        V.HWC2CHW(),
    ]
    hr.InferenceGraph(kernels, {"image": "bytes"}).attach(model)
    return model


def expected(model: pathlib.Path, picture: pathlib.Path) -> np.ndarray:
    runtime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    image = hr.inference_of(model)(picture.read_bytes())
    (scores,) = session.run(None, {session.get_inputs()[0].name: image[None]})
    return scores[0]


def scores_of(line: str) -> tuple[int, np.ndarray]:
    words = line.partition(": class ")[2].split()
    return int(words[0]), np.array(words[1:], np.float32)


def test_a_server_over_onnxruntime(model, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    (library,) = (pathlib.Path(runtime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    built("cpp", tmp_path, f"-DONNXRUNTIME={library}")
    command = [tmp_path / "classify", model, *PHOTOS]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for line, picture in zip(lines, PHOTOS, strict=True):
        best, scores = scores_of(line)
        wanted = expected(model, picture)
        np.testing.assert_array_equal(scores, wanted)
        assert best == wanted.argmax()


def test_it_says_what_is_wrong(model, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    (library,) = (pathlib.Path(runtime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    built("cpp", tmp_path, f"-DONNXRUNTIME={library}")
    for given, picture, said in [("none.onnx", PHOTOS[0], "none.onnx"), (model, __file__, "Decode")]:
        done = subprocess.run([tmp_path / "classify", given, picture], capture_output=True, text=True)
        assert done.returncode == 1 and said in done.stderr and done.stderr.startswith("classify: ")


def test_a_server_over_openvino(model, tmp_path):
    openvino = pytest.importorskip("openvino", reason="pip install openvino")
    built("openvino", tmp_path, f"-DOpenVINO_DIR={pathlib.Path(openvino.__file__).parent / 'cmake'}")
    command = [tmp_path / "classify_openvino", model, *PHOTOS]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for line, picture in zip(lines, PHOTOS, strict=True):
        best, scores = scores_of(line)
        wanted = expected(model, picture)
        np.testing.assert_allclose(scores, wanted, rtol=1e-3, atol=1e-5)
        assert best == wanted.argmax()
