"""The example of an HTTP server: what it answers, and how many requests it works on at once."""

import importlib.util
import json
import pathlib
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V

ROOT = pathlib.Path(__file__).parents[2]
PREPARE = [V.Decode(), V.Resize(32), V.CenterCrop(24), V.HWC2CHW()]


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("http_server", ROOT / "examples/serve/http_server.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def model(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "model.bin"
    path.write_bytes(b"weights")
    hr.InferenceGraph(PREPARE, {"image": "bytes"}).attach(path)
    return path


@pytest.fixture
def server(script: Any, model: pathlib.Path) -> Iterator[Any]:
    with script.serving(script.parsed([str(model), "--port=0"])) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: Any, data: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_address[1]}/", data, headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_answers_with_what_the_graph_gives(script, server, model, photos):
    graph = hr.inference_of(model)
    for picture in sorted(photos.rglob("*.jpg")):
        assert ask(server, picture.read_bytes()) == (200, script.describe(graph(picture.read_bytes())))
    status, found = ask(server)
    assert status == 200 and found["graph"] == graph.hash and "\n".join(found["steps"]) == graph.explain()


def test_bytes_that_are_not_a_picture_are_the_requests_fault(server, photos):
    picture = next(iter(sorted(photos.rglob("*.jpg")))).read_bytes()
    for data in (b"no picture", picture[:300], b""):
        status, found = ask(server, data)
        assert status == 400 and found["error"]
    assert ask(server, b"", {"Content-Length": str(1 << 40)})[0] == 413
    assert ask(server, picture)[0] == 200


def test_a_network_that_fails_answers_too(server, photos):
    def answer(prepared: np.ndarray) -> dict[str, Any]:
        raise ValueError("got an input of another shape")

    server.answer = answer
    picture = next(iter(sorted(photos.rglob("*.jpg")))).read_bytes()
    assert ask(server, picture) == (500, {"error": "ValueError: got an input of another shape"})


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_works_on_one_request_at_least(script, model, number, capsys):
    with pytest.raises(SystemExit):
        script.parsed([str(model), f"--in-flight={number}"])
    assert "--in-flight" in capsys.readouterr().err


def test_onnxruntime_runs_the_network(script, tmp_path, photos):
    pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx.helper")
    pixels = helper.make_tensor_value_info("pixels", helper.np_dtype_to_tensor_dtype(np.dtype("float32")), ["n", 3])
    scores = helper.make_tensor_value_info("scores", helper.np_dtype_to_tensor_dtype(np.dtype("float32")), ["n", 3])
    network = helper.make_graph([helper.make_node("Neg", ["pixels"], ["scores"])], "network", [pixels], [scores])
    model = helper.make_model(network, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "network.onnx"
    path.write_bytes(model.SerializeToString())
    graph = hr.InferenceGraph([], {"pixels": ("float32", (3,))})
    graph.attach(path, example=[1, 2, 3])
    answer = script.network_of(str(path), ["a", "b"])
    assert answer(graph([3, -1, 2])) == {"class": "b", "scores": [-3.0, 1.0, -2.0]}
    assert answer(graph([3, 2, -1]))["class"] == "2"


def test_works_on_eight_requests_at_once(server, photos):
    """Eight answers are held until all eight are there; the ninth waits."""
    picture = next(iter(sorted(photos.rglob("*.jpg")))).read_bytes()
    together, now, most, lock = threading.Barrier(8), 0, 0, threading.Lock()

    def answer(prepared: np.ndarray) -> dict[str, Any]:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait(60)
        with lock:
            now -= 1
        return {"sum": int(prepared.sum())}

    server.answer = answer
    answers: list[tuple[int, Any]] = []
    threads = [threading.Thread(target=lambda: answers.append(ask(server, picture))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16 and {status for status, _ in answers} == {200}
    assert most == 8


def test_a_machine_that_prepares_otherwise_does_not_start(script, model):
    beside = pathlib.Path(f"{model}.hrg")
    entries = json.loads(beside.read_text())
    check = json.loads(entries["headrace.check"])
    check["outputs"]["image"]["crc32c"] = check["steps"][0]["crc32c"] = "00000000"
    beside.write_text(json.dumps(entries | {"headrace.check": json.dumps(check)}))
    with pytest.raises(hr.UnsupportedError, match="Decode"):
        script.serving(script.parsed([str(model), "--port=0"]))


@pytest.mark.parametrize("ends", [True, False])
def test_a_client_that_sends_half_a_picture_keeps_no_thread(script, server, monkeypatch, ends):
    monkeypatch.setattr(script.Handler, "timeout", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=60) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\nhalf")
        if ends:
            client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


def test_a_port_in_use_is_a_sentence(script, server, model):
    with pytest.raises(SystemExit, match="give another with --port"):
        script.serving(script.parsed([str(model), f"--port={server.server_address[1]}"]))
    with pytest.raises(SystemExit, match="give another with --port"):
        script.serving(script.parsed([str(model), "--port=70000"]))
