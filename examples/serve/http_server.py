"""Serves a model over HTTP: POST a picture, get the classes. A few requests are worked on at once, the others wait.

Usage: http_server.py MODEL [--port N] [--in-flight N] [--classes NAME,NAME,…]

MODEL holds the inference graph that prepares its input (graph.attach); its example is run before the first request, so a
machine that would prepare pictures otherwise than the one where the graph was attached does not start. Of an ONNX file the
answer is the output of the network, run by onnxruntime; of any other file, or without onnxruntime, it is the prepared input's
type, shape and checksum.

    POST /    the bytes of a picture    → 200 {"…": …}, or 400 {"error": "…"} for bytes that are not a picture
    GET /     what the server runs
"""

import argparse
import json
import sys
import threading
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

import headrace as hr

MOST_BYTES = 32 << 20

Answer = Callable[[np.ndarray], dict[str, Any]]


def describe(prepared: np.ndarray) -> dict[str, Any]:
    """The answer without a network."""
    checksum = zlib.crc32(np.ascontiguousarray(prepared).tobytes())
    return {"dtype": str(prepared.dtype), "shape": list(prepared.shape), "crc32": checksum}


def network_of(path: str, classes: list[str]) -> Answer:
    if not path.endswith(".onnx"):
        return describe
    try:
        import onnxruntime
    except ImportError:
        return describe
    options = onnxruntime.SessionOptions()
    # Requests run beside each other; more threads for each would only take turns.
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (wanted, *_) = session.get_inputs()

    def answer(prepared: np.ndarray) -> dict[str, Any]:
        (scores, *_) = session.run(None, {wanted.name: prepared[None]})
        best = int(np.argmax(scores[0]))
        name = classes[best] if best < len(classes) else str(best)
        return {"class": name, "scores": [round(float(each), 6) for each in np.ravel(scores[0])]}

    return answer


class Server(ThreadingHTTPServer):
    """A thread for each connection, of which `in_flight` at once prepare a picture and run the network."""

    daemon_threads = True
    # Connections that wait to be accepted: of more than these the system drops some, and clients wait for seconds.
    request_queue_size = 128

    def __init__(self, port: int, graph: hr.InferenceGraph, answer: Answer, in_flight: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.graph, self.answer = graph, answer
        self._places = threading.BoundedSemaphore(in_flight)

    def answer_to(self, picture: bytes) -> dict[str, Any]:
        with self._places:
            # The engine works without Python's lock, so pictures are prepared beside each other.
            return self.answer(self.graph(picture))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Seconds without a byte after which a connection is closed, so that a client that stalls keeps no thread.
    timeout = 30
    server: Server

    def do_GET(self) -> None:
        self._reply(200, {"graph": self.server.graph.hash, "steps": self.server.graph.explain().splitlines()})

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MOST_BYTES:
            self.close_connection = True
            self._reply(411 if length < 0 else 413, {"error": f"give a Content-Length of at most {MOST_BYTES:,} bytes"})
            return
        try:
            picture = self.rfile.read(length)
        except TimeoutError:
            self.close_connection = True
            return
        if len(picture) < length:  # the client went away
            self.close_connection = True
            return
        try:
            self._reply(200, self.server.answer_to(picture))
        except (hr.DataError, hr.GraphError) as error:  # the request's fault
            self._reply(400, {"error": str(error)})
        except Exception as error:  # as of a network that takes another shape than the graph gives
            self._reply(500, {"error": f"{type(error).__name__}: {error}"})

    def _reply(self, status: int, found: dict[str, Any]) -> None:
        text = json.dumps(found).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing for each request."""


def above_zero(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return number


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="with an inference graph of one input and one output")
    parser.add_argument("--port", type=int, default=8000, help="of 127.0.0.1; 0: any that is free")
    parser.add_argument(
        "--in-flight", type=above_zero, default=8, metavar="N", help="requests that are worked on at once (8)"
    )
    parser.add_argument("--classes", default="", metavar="NAMES", help="names of the classes, with commas between them")
    return parser.parse_args(arguments)


def serving(options: argparse.Namespace) -> Server:
    graph = hr.inference_of(options.model, verify=True)
    if len(graph.inputs) != 1 or len(graph.outputs) != 1:
        sys.exit(
            f"{options.model}: the graph takes {list(graph.inputs)} and gives {list(graph.outputs)}; one of each is served"
        )
    answer = network_of(options.model, [name for name in options.classes.split(",") if name])
    try:
        return Server(options.port, graph, answer, options.in_flight)
    except (OSError, OverflowError) as error:
        sys.exit(f"no server at port {options.port} of 127.0.0.1: {error}; give another with --port")


def main(arguments: list[str] | None = None) -> None:
    with serving(parsed(arguments)) as server:
        host, port = server.server_address[:2]
        print(f"http://{host!s}:{port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    try:
        main()
    except hr.Error as error:
        sys.exit(f"{type(error).__name__}: {error}")
