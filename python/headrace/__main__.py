"""The command line: `headrace`, also `python -m headrace`."""

import argparse
import difflib
import io
import json
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import headrace
from headrace import _engine
from headrace._arguments.printed import say, say_text
from headrace._commands import bench, doctor_command, model_command, share_command, show_command, version_command
from headrace._formats import convert_command
from headrace._graph.declared import modules, prefixes
from headrace._operators import class_text
from headrace._operators.conformance import command as check_plugin
from headrace.pack import (
    im2rec_command,
    index_command,
    inspect_command,
    pack_command,
    unpack_command,
    verify_command,
)

_RECORD_COMMANDS: dict[str, Any] = {
    "pack": pack_command,
    "im2rec": im2rec_command,
    "inspect": inspect_command,
    "unpack": unpack_command,
    "verify": verify_command,
    "index": index_command,
    "convert": convert_command,
}


def explain(options: argparse.Namespace) -> int:
    dataset = headrace.load(options.file)
    graph = dataset._graph()
    if graph.references and not options.passes:
        say_text(graph.dump())
        listed = ", ".join(dict.fromkeys(graph.references))
        say(f"It runs only where these Python functions and arrays are given: {listed}")
        graph.validate()
        return 0
    say_text(dataset.explain(passes=options.passes))
    return 0


def _operators() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_engine.declarations())["operators"]
    return found


def _python_name(op: dict[str, Any]) -> str:
    # Of a plugin its name in graphs, "myops.Blur", is also that in Python.
    prefix = prefixes().get(op["python_module"])
    return op["name"] if prefix is None else f"{prefix}{op['python_name'] or op['name']}"


def ops(options: argparse.Namespace) -> int:
    plugins = [headrace.load_plugin(path).__name__.rpartition(".")[2] for path in options.plugin]
    found = _operators()
    if options.name is not None:
        return _one_op(found, options.name)
    width = max(len(_python_name(op)) for op in found)
    for title, module in (
        *((_title(each), each["name"]) for each in modules()),
        *((f"operators of the plugin {plugin}", plugin) for plugin in plugins),
        *([("inside graphs", "internal")] if options.all else []),
    ):
        say(f"{title}:")
        for op in found:
            if op["python_module"] == module:
                say(f"  {_python_name(op):{width}}  {op['summary']}")
    return 0


def _title(module: dict[str, Any]) -> str:
    return f"kernels of {module['title']}" if module["kernels"] else module["title"].lower()


def _one_op(found: list[dict[str, Any]], name: str) -> int:
    wanted = name.rpartition(".")[2]
    exact = [each for each in found if each["name"] == name]
    op = next((each for each in [*exact, *found] if wanted in (each["name"], each["python_name"])), None)
    if op is None:
        names = [each["name"] for each in found]
        near = difflib.get_close_matches(wanted, names, 1) or [n for n in names if n.lower() == wanted.lower()]
        hint = f"; did you mean {near[0]}?" if near else "; `headrace ops` lists them all"
        say(f"headrace: no operator {name}{hint}", file=sys.stderr)
        return 1
    _print_reference(class_text.plugin_source_in_python(op) if _is_plugin_source(op) else op, _python_name(op))
    return 0


def _is_plugin_source(op: dict[str, Any]) -> bool:
    return op["role"] == "source" and op["python_module"] not in (*prefixes(), "internal")


def _print_reference(op: dict[str, Any], name: str) -> None:
    """What the page of docs/reference has."""
    prefix = name.rpartition(".")[0]
    called = f"{prefix}.{class_text.call(op)}" if prefix else class_text.call(op)
    say_text(f"{name} (version {op['version']})\n\n{called}\n\n{op['summary']}")
    if op["doc"]:
        say_text(f"\n{op['doc']}")
    arguments = class_text.arguments(op)
    if arguments:
        say("", "Arguments:")
    for argument in arguments:
        kind = f": {argument.type}" if argument.type else ""
        default = f" = {argument.default}" if argument.default else ""
        say(f"  {argument.name}{kind}{default}", f"      {argument.text}")
    if traits := class_text.traits(op):
        say("", f"Traits: {traits}.")
    if op["example"]:
        say_text(f"\nExample:\n  {op['example']}")


def passes(options: argparse.Namespace) -> int:
    found: list[dict[str, str]] = json.loads(_engine.declarations())["passes"]
    if options.name is None:
        for each in found:
            say(f"{each['name']}: {each['doc']}")
        return 0
    shown = next((each for each in found if each["name"] == options.name), None)
    if shown is None:
        near = difflib.get_close_matches(options.name, [each["name"] for each in found], 1)
        hint = f"; did you mean {near[0]}?" if near else "; `headrace passes` lists them all"
        say(f"headrace: no pass {options.name}{hint}", file=sys.stderr)
        return 1
    say_text(f"{shown['name']}\n\n{shown['doc']}")
    if shown["details"]:
        say_text(f"\n{shown['details']}")
    say("", f'To leave it out: ds.iterate(disabled_passes=["{shown["name"]}"]).')
    return 0


def version(options: argparse.Namespace) -> int:
    say(f"headrace {headrace.__version__}")
    if options.all:
        for line in version_command.describe_all(headrace.__version__):
            say(line)
    return 0


def doctor(options: argparse.Namespace) -> int:
    return doctor_command.run(options, headrace.__version__)


class _Parser(argparse.ArgumentParser):
    """One whose messages are printable: a name of a file may be among the arguments by a pattern of the shell."""

    def error(self, message: str) -> NoReturn:
        super().error(_engine.printable(message))

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(_engine.printable(message, keep_lines=True), file)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="headrace", description=headrace.__doc__)
    parser.add_argument("--version", action="version", version=f"headrace {headrace.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    command = commands.add_parser("explain", help="show the plan of a saved graph")
    command.add_argument("file", metavar="FILE", help="what Dataset.save() or Dataset.to_json() gave")
    command.add_argument("--passes", action="store_true", help="the graph before and after every pass of the optimizer")
    command.set_defaults(run=explain)
    command = commands.add_parser("ops", help="list every operator, or show one's reference")
    command.add_argument("--all", action="store_true", help="those that passes and methods put into graphs, too")
    command.add_argument("name", metavar="NAME", nargs="?", help="such as Resize, or ds.batch")
    command.add_argument(
        "--plugin", metavar="FILE", action="append", default=[], help="also the operators of this plugin"
    )
    command.set_defaults(run=ops)
    command = commands.add_parser("bench", help="measure a saved graph on its data, part by part")
    bench.add_arguments(command)
    command.set_defaults(run=bench.run)
    show_command.add_arguments(commands.add_parser("show", help=show_command.HELP))
    share_command.add_arguments(commands.add_parser("share", help=share_command.HELP))
    model_command.add_arguments(commands.add_parser("model", help=model_command.HELP))
    command = commands.add_parser("passes", help="list the passes of the optimizer in their order, or describe one")
    command.add_argument("name", metavar="NAME", nargs="?", help="such as push_down")
    command.set_defaults(run=passes)
    check_plugin.add_arguments(commands.add_parser("check-plugin", help=check_plugin.HELP))
    for name, module in _RECORD_COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=module.HELP))
    command = commands.add_parser("doctor", help=doctor_command.HELP)
    doctor_command.add_arguments(command)
    command.set_defaults(run=doctor)
    command = commands.add_parser("version", help=version_command.HELP)
    version_command.add_arguments(command)
    command.set_defaults(run=version)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    # Names of files need not be UTF-8; errors on stderr are written so, too.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code: int = options.run(options)
    except headrace.Error as error:
        say_text(f"headrace: {error}", sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("headrace: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # Such as `headrace ops | head`.
        sys.stderr.close()
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())
