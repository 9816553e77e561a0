"""`headrace model`: the inference graph that travels with a model: shown, attached, taken out, checked and compared."""

import argparse
import json
import os

from headrace._arguments.options import file_path
from headrace._arguments.printed import say, say_text
from headrace._commands import difference_pictures
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace._inference import model_file
from headrace._inference.inference_graph import InferenceGraph
from headrace._inference.models import inference_of
from headrace._inference.step_difference import StepDifference, parting, step_differences
from headrace.errors import GraphError
from headrace.vision import Decode

HELP = "show, attach, detach, check and compare the inference graphs of models"
_HOLDER = "an ONNX, safetensors, TorchScript, .pt2 or OpenVINO file, another one with MODEL.hrg beside it"
_MODEL = f"{_HOLDER}, or a saved graph"


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = "The graph that prepares the input of a model, in the file of the model or beside it."
    parts = command.add_subparsers(title="commands", required=True, metavar="COMMAND")
    part = parts.add_parser("show", help="the steps of a model's graph, and what it was attached with")
    part.add_argument("model", metavar="MODEL", help=_MODEL)
    part.set_defaults(run=show)
    part = parts.add_parser("attach", help="put a graph into a model, with an example that checks it")
    part.add_argument("graph", metavar="GRAPH", help="what InferenceGraph.save() wrote, or another model with a graph")
    part.add_argument("model", metavar="MODEL", help="the file that gets it")
    part.add_argument(
        "--example", metavar="FILE", help="the bytes of the only input for the check; otherwise a picture is made"
    )
    part.set_defaults(run=attach)
    part = parts.add_parser("detach", help="take the graph out of a model")
    part.add_argument("model", metavar="MODEL", help=_HOLDER)
    part.set_defaults(run=detach)
    part = parts.add_parser(
        "check", help="run the example of a model's graph, and end with code 1 if it gives anything else"
    )
    part.add_argument("model", metavar="MODEL", help=_HOLDER)
    part.set_defaults(run=check)
    part = parts.add_parser("diff", help="where two graphs part on a picture, step by step; code 1 if they do")
    part.add_argument("first", metavar="A", help=_MODEL)
    part.add_argument("second", metavar="B", help="the same")
    part.add_argument("picture", metavar="PICTURE", help="an encoded picture")
    part.add_argument("--out", metavar="FOLDER", help="write a PNG for each step: A, B and their difference")
    part.set_defaults(run=diff)


def show(options: argparse.Namespace) -> int:
    path = file_path("MODEL", options.model, "model show")
    entries = model_file.read_entries(path, "model show")
    say_text(inference_of(path).explain())
    text = entries.get(model_file.CHECK)
    if text is None:
        say("no example travels with it, so it cannot be checked")
        return 0
    say(_check_text(text))
    return 0


def _check_text(text: str) -> str:
    try:
        found = json.loads(text)
        libraries = ", ".join(f"{name} {version}" for name, version in found["libraries"].items())
        return f"an example travels with it, run by headrace {found['headrace']} with {libraries}"
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return "the example that travels with it is damaged; attach the graph again"


def attach(options: argparse.Namespace) -> int:
    graph = inference_of(file_path("GRAPH", options.graph, "model attach"))
    model = file_path("MODEL", options.model, "model attach")
    example = None if options.example is None else _bytes_of(file_path("--example", options.example, "model attach"))
    graph.attach(model, example)
    say(f"{model}: {graph!r}, hash {graph.hash[:12]}")
    return 0


def detach(options: argparse.Namespace) -> int:
    model = file_path("MODEL", options.model, "model detach")
    model_file.remove_entries(model, "model detach")
    say(f"{model}: no inference graph any more")
    return 0


def check(options: argparse.Namespace) -> int:
    path = file_path("MODEL", options.model, "model check")
    graph = inference_of(path)
    if graph._check is None:
        raise GraphError(f"model check: no example travels with the graph of {path}; attach the graph to a model")
    graph.verify()
    say(f"{path}: the example gives the same as where the graph was attached, hash {graph.hash[:12]}")
    return 0


def diff(options: argparse.Namespace) -> int:
    paths = [file_path(name, given, "model diff") for name, given in (("A", options.first), ("B", options.second))]
    picture = _bytes_of(file_path("PICTURE", options.picture, "model diff"))
    first, second = map(inference_of, paths)
    values = (_values(first, picture, paths[0]), _values(second, picture, paths[1]))
    found = step_differences(first, second, values)
    for line in difference_pictures.table(found):
        say(line)
    say("", *_verdict(found))
    if options.out is not None:
        folder = file_path("--out", options.out, "model diff")
        for path in difference_pictures.write(found, folder):
            say(path)
    return 1 if parting(found) is not None else 0


def _verdict(found: list[StepDifference]) -> list[str]:
    apart = parting(found)
    if apart is None:
        return ["equal at every step"]
    lines = ["they part at"]
    lines += [
        f"  {name}: {'no such step' if made is None else made.step}" for name, made in zip("AB", apart, strict=True)
    ]
    return lines


def _values(graph: InferenceGraph, picture: bytes, path: str) -> tuple[object, ...]:
    (name, column), *others = graph.inputs.items()
    if others:
        raise GraphError(
            f"model diff: {path} takes several inputs ({', '.join(graph.inputs)}), and one picture is given"
        )
    if column.dtype == "bytes":
        return (picture,)
    if column.dtype == "uint8":
        return (Decode()(picture),)
    raise GraphError(f'model diff: the input "{name}" of {path} is {column.dtype}, not a picture')


def _bytes_of(path: str) -> bytes:
    try:
        return read_whole(path)
    except OSError as error:
        raise system_error(f"cannot read {os.fspath(path)}", error) from None
