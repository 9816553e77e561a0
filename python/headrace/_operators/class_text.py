"""Writes the source of the Python classes and methods of operators, from their declarations.

`python/generate.py` writes modules of this package with it, so it imports none of them; `headrace._operators.late_classes` makes
classes with it while the process runs."""

import json
import re
import textwrap
from typing import Any, NamedTuple

__all__ = [
    "Argument",
    "arguments",
    "call",
    "documentation",
    "function",
    "indented",
    "kernel",
    "method",
    "parameter_names",
    "plugin_source",
    "plugin_source_in_python",
    "python_type",
    "sentence",
    "signature",
    "source",
    "traits",
    "visible",
]


def python_type(attribute: dict[str, Any]) -> str:
    given: str = attribute["python_type"]
    if attribute["choices"]:
        choices = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in attribute["choices"])
        given = given.replace("str", f"Literal[{choices}]")
    if attribute["path"]:
        one = "str | PathLike[str]"
        given = one if given == "str" else f"{one} | Sequence[{one}]"
    elif given.startswith("Sequence["):
        lone = attribute["broadcast"] or 1 in attribute["lengths"] or not attribute["lengths"]
        given = f"{given[9:-1]} | {given}" if lone else given
    elif given == "Mapping[str, str]":
        given = "Mapping[str, str | int]"
    return f"{given} | None" if attribute["nullable"] else given


def visible(op: dict[str, Any]) -> list[dict[str, Any]]:
    return [attribute for attribute in op["attributes"] if not attribute["hidden"]]


def by_name_alone(attribute: dict[str, Any]) -> bool:
    return bool(attribute["name"] in ("seed", "name") or attribute["tuning"])


def _may_change(attribute: dict[str, Any]) -> bool:
    """Whether a headrace.Parameter may stand for it, in a kernel."""
    numbers = attribute["python_type"] in ("int", "float", "Sequence[int]", "Sequence[float]")
    return numbers and not (by_name_alone(attribute) or attribute["hidden"])


def _with_parameters(given: str) -> str:
    """A type whose lists may have parameters among their numbers."""
    return re.sub(r"Sequence\[(int|float)\]", r"Sequence[\1 | Parameter]", given)


def parameters(op: dict[str, Any]) -> str:
    """The parameters: required ones first; seeds and tuning attributes as keywords only."""
    shown = visible(op)
    positional = [each for each in shown if not by_name_alone(each)]
    positional.sort(key=lambda each: each["default"] is not None)
    named = [each for each in shown if by_name_alone(each)]

    def one(attribute: dict[str, Any]) -> str:
        default = "" if attribute["default"] is None else f" = {attribute['default']}"
        given = python_type(attribute)
        if op["role"] == "kernel" and _may_change(attribute):
            given = f"{_with_parameters(given)} | Parameter"
        return f"{attribute['name']}: {given}{default}"

    return ", ".join([one(each) for each in positional] + (["*"] if named else []) + [one(each) for each in named])


def signature(op: dict[str, Any]) -> tuple[str, dict[str, str | None] | None]:
    """Parameters and their documentation (None: the attribute's), if the declaration has its own."""
    given, own = _declared_signature(op)
    further = [(_LABEL_TYPE, _LABEL_TYPE_DOC)] if _gives_labels(op) else []
    further += [(_STORAGE, _STORAGE_DOC)] if _reads_paths(op) else []
    if not further:
        return given, own
    docs: dict[str, str | None] = {attribute["name"]: None for attribute in visible(op)}
    docs = docs if own is None else dict(own)
    for parameter, text in further:
        given = f"{given}{'' if '*' in _parts(given) else ', *'}, {parameter}"
        docs[parameter.partition(":")[0]] = text
    return given, docs


def _declared_signature(op: dict[str, Any]) -> tuple[str, dict[str, str | None] | None]:
    own = op["python"]
    return (_with_choices(op, own["parameters"]), own["docs"]) if own else (parameters(op), None)


# Of sources of labels: not an attribute, but a map above.
_LABEL_TYPE = "label_type: DType | None = None"
_LABEL_TYPE_DOC = (
    'The type of the labels, such as "int64", which torch\'s cross_entropy takes: as by a map of T.TypeCast above the '
    "source. None: as the source gives them."
)


def _gives_labels(op: dict[str, Any]) -> bool:
    """Whether it is a source whose labels are numbers of classes, or those of MXNet's records and lists."""
    if op["role"] != "source" or op["python_module"] != "":
        return False
    return not {"classes", "label_width"}.isdisjoint(parameter_names(_declared_signature(op)[0]))


# Of sources of files: not an attribute, but an option of runs.
_STORAGE = "storage: Storage | None = None"
_STORAGE_DOC = (
    "How far stores are reached, as `headrace.storage` describes it: of what is read to make the source, and of its runs, "
    "as by `options(storage=…)`. Not part of the graph."
)


def _reads_paths(op: dict[str, Any]) -> bool:
    """Whether it is a source of files, which may be far."""
    if op["role"] != "source" or op["python_module"] != "":
        return False
    return "PathLike" in _declared_signature(op)[0] or any(attribute["path"] for attribute in visible(op))


def adapter_call(op: dict[str, Any], subject: str, given: str) -> str:
    """Of the function that turns the arguments into attributes; `given`: the parameters."""
    passed = [f'"{op["name"]}"', *filter(None, [subject]), *(f"{name}={name}" for name in parameter_names(given))]
    return f"adapted({', '.join(passed)})"


def parameter_names(given: str) -> list[str]:
    """`size: int, *, p: float = 0.5` -> size, p."""
    return [part.partition(":")[0] for part in _parts(given) if part != "*"]


def _parts(given: str) -> list[str]:
    return re.split(r", (?=\*?\w+:|\*$|\*,)", given)


def _with_choices(op: dict[str, Any], given: str) -> str:
    """The declaration's own parameters, with the choices of those that are texts."""
    for attribute in op["attributes"]:
        if attribute["choices"]:
            choices = python_type(attribute | {"nullable": False})
            given = re.sub(
                rf"(?<!\w){attribute['name']}: str(?= = | \| None|,|$)", f"{attribute['name']}: {choices}", given
            )
    return given


def bounds_text(attribute: dict[str, Any]) -> str:
    def number(value: float) -> str:
        return f"{int(value):,}" if value == int(value) else repr(value)

    parts = []
    if attribute["minimum"] is not None:
        parts.append(f"{'above' if attribute['exclusive_minimum'] else 'at least'} {number(attribute['minimum'])}")
    if attribute["maximum"] is not None:
        parts.append(f"at most {number(attribute['maximum'])}")
    return ", ".join(parts)


def sentence(attribute: dict[str, Any], own: str | None = None) -> str:
    text: str = own or attribute["doc"]
    if own is None and (bounds := bounds_text(attribute)):
        text = f"{text.rstrip('.')} ({bounds})."
    return text


def documentation(op: dict[str, Any], own: dict[str, str | None] | None = None) -> str:
    """The docstring, without quotes."""
    declared = {attribute["name"]: attribute for attribute in op["attributes"]}
    order = list(own) if own is not None else [attribute["name"] for attribute in visible(op)]
    lines = [op["summary"]]
    for paragraph in filter(None, op["doc"].split("\n")):
        lines += ["", *textwrap.wrap(paragraph, 100)]
    if order:
        lines += ["", "Args:"]
    for name in order:
        text = sentence(declared.get(name, {}), (own or {}).get(name)) if name in declared else (own or {})[name] or ""
        lines += textwrap.wrap(f"{name}: {text}", 96, initial_indent="    ", subsequent_indent="        ")
    if op["inputs"]["most"] is None and op["python_module"] == "dataset":
        lines += ["", "Args:", "    others: The other datasets, at least one."]
    if op["example"]:
        lines += ["", "Example:", *(f"    {line}" for line in op["example"].split("\n"))]
    return "\n".join(lines)


def docstring(text: str, indent: int) -> str:
    pad = " " * indent
    body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" not in body:
        return f'{pad}"""{body}"""'
    return "\n".join((pad + line if line else "") for line in f'"""{body}\n"""'.split("\n"))


class Argument(NamedTuple):
    """A line of an operator's reference. `type` and `default` are as Python writes them, or empty: the text says them."""

    name: str
    type: str
    default: str
    text: str


def arguments(op: dict[str, Any]) -> list[Argument]:
    """Those of its class or method, in their order."""
    _, own = signature(op)
    declared = {attribute["name"]: attribute for attribute in op["attributes"]}
    order = own if own is not None else [attribute["name"] for attribute in visible(op)]
    return [_argument(name, declared.get(name), (own or {}).get(name)) for name in order]


def _argument(name: str, attribute: dict[str, Any] | None, own: str | None) -> Argument:
    if attribute is None:
        return Argument(name, "", "", own or "")
    kind = python_type(attribute) if own is None else ""
    return Argument(name, kind, attribute["default"] or "", sentence(attribute, own))


def call(op: dict[str, Any]) -> str:
    """`batch(size, drop_remainder=False, …)`: its parameters without types."""
    given, _ = signature(op)
    if op["inputs"]["most"] is None and op["python_module"] == "dataset":
        given = "*others"
    return f"{op['python_name'] or op['name']}({_without_types(given)})"


def _without_types(given: str) -> str:
    """`size: int, p: float = 0.5` -> `size, p=0.5`."""
    names = []
    for part in _parts(given):
        name, _, rest = part.partition(":")
        default = rest.rpartition(" = ")[2] if " = " in rest else None
        names.append(f"{name}={default}" if default is not None else name)
    return ", ".join(names)


def traits(op: dict[str, Any]) -> str:
    """`deterministic, joins rows`."""
    return ", ".join(trait.replace("_", " ") for trait, on in op["traits"].items() if on and trait != "light")


def attribute_dict(op: dict[str, Any]) -> str:
    return "{" + ", ".join(f'"{each["name"]}": {each["name"]}' for each in visible(op)) + "}"


def indented(text: str, by: int) -> str:
    return textwrap.indent(text, " " * by)


def takes_size_alone(op: dict[str, Any]) -> bool:
    """Whether its only parameter that may be given without its name is one number or two."""
    positional = [each for each in visible(op) if not by_name_alone(each)]
    return len(positional) == 1 and positional[0]["broadcast"] and 2 in positional[0]["lengths"]


def kernel(op: dict[str, Any], outputs: int | None = None) -> str:
    """`outputs`: how many columns a plugin declares that its kernel gives."""
    if op["chooses"]:
        return chooser(op)
    given = parameters(op)
    comma = ", " if given else ""
    several = (outputs or op["outputs"]) not in (None, 1)
    unary = "" if op["inputs"]["most"] == 1 and not several else "    _unary = False\n\n"
    # Of any number of inputs: the number depends on them and on the attributes, and the engine counts.
    count = outputs or (None if op["inputs"]["most"] is None else op["outputs"])
    counts = f"    _outputs = {count}\n\n" if several else ""
    sized = "    @of_one_size\n" if takes_size_alone(op) else ""
    return (
        f"class {op['name']}(Kernel):\n{docstring(documentation(op), 4)}\n\n{unary}{counts}{sized}"
        f"    def __init__(self{comma}{given}) -> None:\n        super().__init__({attribute_dict(op)})\n\n\n"
    )


def chooser(op: dict[str, Any]) -> str:
    given, own = signature(op)
    called = adapter_call(op, "self", given)
    for attribute in op["attributes"]:
        if _may_change(attribute):
            kind = re.escape(attribute["python_type"])
            given = re.sub(
                rf"(?<!\w)({attribute['name']}): ({kind})(?= = | \| None|,|$)",
                lambda found: f"{found[1]}: {_with_parameters(found[2])} | Parameter",
                given,
            )
    head = f"class {op['name']}(Chooser):\n{docstring(documentation(op, own), 4)}\n\n"
    made = f"    def __init__(self, {given}) -> None:"
    draws = "" if op["traits"]["random"] else "    _draws = False\n\n"
    return f"{head}{draws}{made}\n{indented(called, 8)}\n\n\n"


def source(op: dict[str, Any], base: str = "Dataset") -> str:
    given, own = _declared_signature(op)
    return _source(op, base, adapter_call(op, "self", given) if own is not None else _begin_call(op))


def _begin_call(op: dict[str, Any]) -> str:
    return f'self._begin("{op["name"]}", {attribute_dict(op)})'


def _source(op: dict[str, Any], base: str, code: str) -> str:
    given, own = signature(op)
    comma = ", " if given else ""
    head = f"class {op['name']}({base}):\n{docstring(documentation(op, own), 4)}\n\n"
    head += f"    def __init__(self{comma}{given}) -> None:"
    if _gives_labels(op):
        code += "\nself._cast_labels(label_type)"
    if _reads_paths(op):
        code = f"with self._reading(storage):\n{indented(code, 4)}"
    return f"{head}\n{indented(code, 8)}\n\n\n"


def plugin_source(op: dict[str, Any]) -> str:
    # A parameter may be called mix.
    mixes = "\n_mix(self, shuffle, window, seed, name)" if _has_window(op) else ""
    return _source(plugin_source_in_python(op), "Dataset", _begin_call(op) + mixes)


def _has_window(op: dict[str, Any]) -> bool:
    return not op["traits"]["indexed"] and any(each["name"] == "shuffle" for each in visible(op))


def plugin_source_in_python(op: dict[str, Any]) -> dict[str, Any]:
    """A source of a plugin; one that reads files in splits has `window`, as those of Headrace's own."""
    shown = []
    for attribute in visible(op):
        shown.append(attribute)
        if attribute["name"] == "shuffle" and _has_window(op):
            shown.append(_WINDOW)
    whole = op | {"name": op["python_name"], "attributes": shown}
    return whole | {"python": {"parameters": parameters(whole), "docs": {each["name"]: None for each in shown}}}


# Of sources that read files in splits: not an attribute, but an operator above.
_WINDOW = {
    "name": "window",
    "python_type": "int",
    "default": "16384",
    "doc": "With `shuffle`: rows are then mixed by shuffle(window); 0: they are not.",
    "choices": [],
    "path": False,
    "nullable": False,
    "tuning": False,
    "hidden": False,
    "minimum": None,
    "maximum": None,
}


def function(op: dict[str, Any]) -> str:
    given, own = signature(op)
    code = f"made: Dataset = {adapter_call(op, '', given)}\nreturn made"
    head = f"def {op['name']}({given}) -> Dataset:\n{docstring(documentation(op, own), 4)}\n"
    return f"{head}{indented(code, 4)}\n\n\n"


def method(op: dict[str, Any]) -> str:
    name = op["python_name"] or op["name"]
    given, own = signature(op)
    returns = op["python"]["returns"] if op["python"] else "Dataset"
    if op["python"]:
        code = f"made: {returns} = {adapter_call(op, 'self', given)}\nreturn made"
    elif op["inputs"]["most"] is None:
        given = "*others: Dataset" + (", " + given if given else "")
        code = f'return self._append("{op["name"]}", {attribute_dict(op)}, others)'
    else:
        code = f'return self._append("{op["name"]}", {attribute_dict(op)})'
    comma = ", " if given else ""
    head = f"def {name}(self{comma}{given}) -> {returns}:\n{docstring(documentation(op, own), 4)}\n"
    return indented(f"{head}{indented(code, 4)}\n\n", 4)
