"""Prints as JSON what the package has besides operators: sections of names, each with its call, docstring and members."""

import argparse
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import headrace as hr
import headrace.__main__
import headrace.datasets
import headrace.mindrecord
import headrace.pack
import headrace.ray
import headrace.torch
from headrace import _engine

OPERATORS = json.loads(_engine.declarations())["operators"]


def text_of_call(name: str, called: Callable[..., Any]) -> str:
    """`name(size, *, p=0.5)`, without types and without what it gives."""
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return ""
    kept = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in signature.parameters.values()
        if each.name not in ("self", "cls") and not each.name.startswith("_")
    ]
    return name + str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def own_doc(value: Any) -> str:
    """Its docstring, without that of what it is made of."""
    doc = value.__doc__ if isinstance(value.__doc__, str) else ""
    return inspect.cleandoc(doc)


def member(name: str, owner: str, value: Any) -> dict[str, Any] | None:
    """None: without a docstring."""
    if isinstance(value, property):
        doc, call = own_doc(value.fget), ""
    elif isinstance(value, (classmethod, staticmethod)):
        doc, call = own_doc(value.__func__), text_of_call(f"{owner}.{name}", value.__func__)
    elif inspect.isfunction(value):
        doc, call = own_doc(value), text_of_call(f"{owner}.{name}", value)
    else:
        return None
    return {"name": name, "call": call, "doc": doc} if doc else None


def is_dataset(kind: type) -> bool:
    """Whether it has the methods of all datasets, which have pages of their own."""
    return kind is not hr.Dataset and issubclass(kind, hr.Dataset)


def members_of(kind: type, owner: str) -> list[dict[str, Any]]:
    found = {}
    left_out = hr.Dataset.__mro__ if is_dataset(kind) else ()
    for base in reversed(kind.__mro__):
        # What Python's own classes have is no part of this reference.
        if base not in left_out and base.__module__.partition(".")[0] == "headrace":
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    made = (member(name, owner, value) for name, value in sorted(found.items()))
    return [each for each in made if each is not None]


def described_class(name: str, kind: type, with_members: bool) -> dict[str, Any]:
    doc = own_doc(kind)
    # The arguments of some are described where they are taken.
    if "\nArgs:" not in doc and "\nArgs:" in (made := own_doc(kind.__init__)):  # type: ignore[misc]
        doc = f"{doc}\n\n{made}"
    error = issubclass(kind, BaseException)
    call = "" if error or _is_only_given(doc) else text_of_call(name, kind)
    members = members_of(kind, name.rpartition(".")[2].lower()) if with_members else []
    described = {"name": name, "kind": "error" if error else "class", "call": call, "doc": doc, "members": members}
    return described | {"dataset": is_dataset(kind)}


def _is_only_given(doc: str) -> bool:
    """Whether users get objects of the class and make none."""
    return re.search(r"^Made by |\. Made by ", doc, re.MULTILINE) is not None


def described_name(name: str, value: Any, with_members: bool = True) -> dict[str, Any]:
    if isinstance(value, type):
        return described_class(name, value, with_members)
    call = text_of_call(name, value) if callable(value) else ""
    kind = "function" if callable(value) else "value"
    return {"name": name, "kind": kind, "call": call, "doc": own_doc(value), "members": []}


def section(title: str, text: str, names: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"title": title, "text": text, "names": [name for name in names if name["doc"]]}


def of_module(module: ModuleType, prefix: str) -> list[dict[str, Any]]:
    # Of names that share a page, the function before the class that it gives.
    names = sorted(module.__all__, key=lambda name: (name.lower(), name.swapcase()))
    return [described_name(f"{prefix}{name}", getattr(module, name)) for name in names]


def of_package() -> list[dict[str, Any]]:
    """Of `headrace`, without operators, errors, and Dataset's members, which have pages of their own."""
    operators = {op["name"] for op in OPERATORS} | {"transforms", "vision"}
    names = sorted(sorted(set(hr.__all__) - operators), key=str.lower)
    found = [described_name(f"hr.{name}", getattr(hr, name), name != "Dataset") for name in names]
    return [name for name in found if name["kind"] != "error"]


def errors() -> list[dict[str, Any]]:
    found = [described_name(f"hr.{name}", getattr(hr, name)) for name in sorted(hr.__all__)]
    return [name for name in found if name["kind"] == "error"]


def of_dataset() -> list[dict[str, Any]]:
    operators = {op["python_name"] or op["name"] for op in OPERATORS if op["python_module"] == "dataset"}
    members = [each for each in members_of(hr.Dataset, "ds") if each["name"] not in operators]
    return [
        each | {"name": f"ds.{each['name']}", "kind": "method" if each["call"] else "property", "members": []}
        for each in members
    ]


def commands() -> list[dict[str, Any]]:
    """The commands of `headrace`, and their parts."""
    waiting, found = [("headrace", "", headrace.__main__._parser())], []
    while waiting:
        name, text, parser = waiting.pop()
        parts = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        for action in parts:
            texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            waiting += [(f"{name} {part}", texts.get(part, ""), made) for part, made in action.choices.items()]
        if not parts:
            found.append(command(name, text, parser))
    return sorted(found, key=lambda each: str(each["name"]))


def command(name: str, text: str, parser: argparse.ArgumentParser) -> dict[str, Any]:
    usage = re.sub("\n {7}", "\n", parser.format_usage().removeprefix("usage: ")).strip()
    doc = f"{text[:1].upper()}{text[1:]}."
    actions = [action for action in parser._actions if action.dest != "help" and action.help != argparse.SUPPRESS]
    if actions:
        doc += "\n\nArgs:\n" + "\n".join(f"    {argument(parser, action)}" for action in actions)
    return {"name": name, "kind": "command", "call": usage, "doc": doc, "members": []}


def argument(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """`--size SIZE: …`, as `--help` says it."""
    names = ", ".join(action.option_strings)
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    if action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    text = parser._get_formatter()._expand_help(action) if action.help else ""
    return f"{' '.join(filter(None, [names, value if names else action.metavar or action.dest]))}: {' '.join(text.split())}"


def sections() -> list[dict[str, Any]]:
    return [
        section("Dataset methods: runs, parts and files", "", of_dataset()),
        section("Functions and classes", "`import headrace as hr`.", of_package()),
        section("Errors and warnings", "", errors()),
        section("Training loops of torch: headrace.torch", "", of_module(headrace.torch, "headrace.torch.")),
        section(
            "Batches and files of a Ray cluster: headrace.ray",
            "[How to take batches of a cluster](ray.md), [pack on many nodes, and give batches to Ray Data](ray-data.md).",
            of_module(headrace.ray, "hr.ray."),
        ),
        section(
            "Named data sets: headrace.datasets",
            "[Their columns and files](datasets.md).",
            of_module(headrace.datasets, "hr.datasets."),
        ),
        section(
            "Packing images: headrace.pack",
            "[How to pack images](packing.md).",
            of_module(headrace.pack, "headrace.pack."),
        ),
        section(
            "MindRecord by MindSpore's names: headrace.mindrecord",
            "[MindRecord](mindrecord.md).",
            of_module(headrace.mindrecord, "headrace.mindrecord."),
        ),
        section("Commands", "", commands()),
    ]


if __name__ == "__main__":
    # How wide argparse writes.
    os.environ["COLUMNS"] = "80"
    json.dump(sections(), sys.stdout)
