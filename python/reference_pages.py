"""Writes the reference: an index, docs/ops.md, and a page of docs/reference/ for each operator and each name of the package.

Operators are described by their declarations, as `headrace ops` prints them; other names by their docstrings, as
`python/public_names.py` lists them."""

import re
import textwrap
from typing import Any, NamedTuple

FOLDER = "docs/reference"
INDEX = "docs/ops.md"
# What users call the operators of a module whose declarations have the role `kernel`.
KINDS = {"source": "source", "stream": "method", "row": "method", "kernel": "transform (kernel)"}
MODULE_KINDS = {"samplers": "sampler", "functions": "function"}
TITLES = {
    "vision": "Transforms of images: headrace.vision",
    "transforms": "Transforms of any tensor: headrace.transforms",
    "dataset": "Dataset methods: operators",
}
IMPORTS = {"V.": "from headrace import vision as V", "T.": "from headrace import transforms as T"}
# Of a class that has the methods of all datasets.
DATASET = ", with the [methods of datasets](../ops.md#dataset-methods-operators)"
FRESH = "Written by `python/generate.py` from the operators' declarations and from docstrings; not edited by hand."


class Page(NamedTuple):
    """A page of the reference: `name` as users write it, `summary` its line in the index, `body` what its title heads."""

    name: str
    summary: str
    body: str


class Section(NamedTuple):
    """A part of the index."""

    title: str
    text: str
    pages: list[Page]


def escaped(text: str) -> str:
    """Text as Markdown that shows it, with its code as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    for at in range(0, len(parts), 2):
        part = re.sub(r"([\\*<\[])", r"\\\1", parts[at])
        parts[at] = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", part)
    return "".join(parts)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def block(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```\n"


def argument_table(rows: list[tuple[str, str, str, str]]) -> str:
    """Of name, type, default and text."""
    lines = ["| argument | type | default | |", "|---|---|---|---|"]
    lines += [
        f"| `{name}` | {cell(code(kind))} | {cell(code(default))} | {cell(escaped(text))} |"
        for name, kind, default, text in rows
    ]
    return "\n".join(lines) + "\n"


class Operators:
    """The pages of operators. `text_of` is the module `class_text`."""

    def __init__(self, declarations: dict[str, Any], text_of: Any) -> None:
        self.declarations = declarations
        self.text_of = text_of

    def sections(self) -> list[Section]:
        return [self._section(module) for module in self.declarations["modules"]]

    def passes(self) -> str:
        lines = [f"- `{each['name']}`: {each['doc']}" for each in self.declarations["passes"]]
        return "## Passes of the optimizer\n\n" + "\n".join(lines) + "\n"

    def _section(self, module: dict[str, Any]) -> Section:
        name, prefix = module["name"], module["prefix"]
        ops = [
            op
            for op in self.declarations["operators"]
            if op["python_module"] == name and (name or op["role"] == "source")
        ]
        text = module["doc"]
        if prefix in IMPORTS:
            text = f"`{IMPORTS[prefix]}`. {text}".strip()
        title = TITLES.get(name, module["title"])
        return Section(title, text, [self._page(op, prefix, title) for op in ops])

    def _page(self, op: dict[str, Any], prefix: str, section: str) -> Page:
        kind = MODULE_KINDS.get(op["python_module"], KINDS[op["role"]])
        called = f"{prefix}{self.text_of.call(op)}"
        lines = [where(section, kind), block(wrapped_call(called)), escaped(op["summary"]) + "\n"]
        lines += [escaped(paragraph) + "\n" for paragraph in op["doc"].split("\n") if paragraph]
        rows = [(each.name, each.type, each.default, each.text) for each in self.text_of.arguments(op)]
        if rows:
            lines += ["## Arguments\n", argument_table(rows)]
        if op["example"]:
            lines += ["## Example\n", block(op["example"])]
        traits = self.text_of.traits(op)
        lines.append(f"Version {op['version']}" + (f"; {traits}." if traits else ".") + "\n")
        return Page(f"{prefix}{op['python_name'] or op['name']}", op["summary"], "\n".join(lines))


def where(section: str, kind: str) -> str:
    return f"[Reference](../ops.md) · [{section}](../ops.md#{anchor(section)}) · {kind}\n"


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def wrapped_call(called: str, width: int = 72) -> str:
    """A call on several lines, one for each argument, where one line would be wide."""
    name, _, rest = called.partition("(")
    if len(called) <= width or not rest.endswith(")"):
        return called
    return f"{name}(\n" + "".join(f"    {each},\n" for each in arguments_of(rest[:-1])) + ")"


def arguments_of(text: str) -> list[str]:
    """The arguments between a call's brackets: divided at commas within no bracket and no quotes."""
    found, depth, quote, begin = [], 0, "", 0
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [*found, text[begin:].strip()]


# ---- names that are no operators ----


def described(name: dict[str, Any], section: str) -> Page:
    """The page of what `public_names.py` gives for a name."""
    lines = [where(section, name["kind"] + (DATASET if name.get("dataset") else ""))]
    if name["kind"] == "command":
        lines += [block(name["call"], "text")]
        name = name | {"call": ""}
    lines += _of_docstring(name["call"], name["doc"], "##")
    for member in name["members"]:
        lines.append(f"## {member['name']}\n")
        lines += _of_docstring(member["call"], member["doc"], "###")
    return Page(name["name"], summary_of(name["doc"]), "\n".join(lines))


def summary_of(doc: str) -> str:
    """Its first sentence."""
    first = " ".join(doc.split("\n\n")[0].split())
    found = re.match(r".*?[.:](?= [A-Z`]|$)", first)
    return found[0].rstrip(":") if found else first


def _of_docstring(call: str, doc: str, heading: str) -> list[str]:
    lines = [block(wrapped_call(call))] if call else []
    prose, parts = divided(doc)
    lines += [_prose(prose)]
    for title, text in parts:
        if title == "Example":
            lines += [f"{heading} Example\n", block(text)]
        else:
            rows = [(entry, text) for entry, text in entries(text)]
            lines += [f"{heading} {'Arguments' if title == 'Args' else title}\n", _entry_table(rows)]
    return lines


def divided(doc: str) -> tuple[str, list[tuple[str, str]]]:
    """Its prose, and its parts such as Args by their names."""
    prose, *rest = re.split(r"^(Args|Attributes|Raises|Returns|Example):\n", doc, flags=re.MULTILINE)
    parts = [(title, textwrap.dedent(text).strip("\n")) for title, text in zip(rest[::2], rest[1::2], strict=True)]
    return prose.strip(), parts


def entries(text: str) -> list[tuple[str, str]]:
    """`name: text` of lines that begin at the margin, with the lines below them that do not."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if line.startswith(" ") or not colon:
            before = found.pop() if found else ("", "")
            found.append((before[0], f"{before[1]} {line.strip()}".strip()))
        else:
            found.append((name, rest.strip()))
    return found


def _entry_table(rows: list[tuple[str, str]]) -> str:
    lines = ["| | |", "|---|---|", *(f"| {code(name)} | {cell(escaped(text))} |" for name, text in rows)]
    return "\n".join(lines) + "\n"


def _prose(text: str) -> str:
    """Paragraphs, and indented ones as blocks of Python."""
    parts = []
    for paragraph in re.split(r"\n\n(?=\S)|\n\n(?=    )", text):
        if paragraph.startswith("    "):
            parts.append(block(textwrap.dedent(paragraph).rstrip()))
        else:
            parts.append(escaped(paragraph) + "\n")
    return "\n".join(parts)


# ---- the files ----


def files_of(sections: list[Section], after: str) -> dict[str, str]:
    """The index and the pages, by their paths. Names that differ only in case share a page, as they would a file elsewhere."""
    homes: dict[str, str] = {}
    together: dict[str, list[Page]] = {}
    for page in (page for section in sections for page in section.pages):
        home = homes.setdefault(page.name.lower(), page.name)
        together.setdefault(home, []).append(page)
    links = {page.name: f"{home.replace(' ', '-')}.md" for home, pages in together.items() for page in pages}
    files = {f"{FOLDER}/{links[home]}": _file(pages, links) for home, pages in together.items()}
    return {INDEX: _index(sections, links, after), **files}


def _file(pages: list[Page], links: dict[str, str]) -> str:
    text = "\n".join(f"# {page.name}\n\n{page.body}" if page is pages[0] else _second(page) for page in pages)
    own = {page.name for page in pages}
    return linked(text, {name: link for name, link in links.items() if name not in own})


def _second(page: Page) -> str:
    """A page below another one: its headings are one lower."""
    body = re.sub(r"^(?=##+ )", "#", page.body, flags=re.MULTILINE)
    return f"## {page.name}\n\n{body}"


def linked(text: str, links: dict[str, str]) -> str:
    """With links from names in prose to their pages, and from paths of pages to these."""

    def name_link(found: re.Match[str]) -> str:
        name = re.sub(r"^headrace\.(?=\w+$)", "hr.", found[1])
        name = re.sub(r"^Dataset\.(?=\w+$)", "ds.", name)
        return f"[{found[0]}]({links[name]})" if name in links else found[0]

    parts = re.split(r"(^```.*?^```$|^#+ [^\n]*$)", text, flags=re.DOTALL | re.MULTILINE)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"(?<!\[)`([\w.]+)(?:\([^`|]*\))?`(?!\])", name_link, parts[at])
        parts[at] = re.sub(r"(?<![\w/`(])docs/([\w/-]+)\.md", r"[\1](../\1.md)", parts[at])
    return "".join(parts)


def _index(sections: list[Section], links: dict[str, str], after: str) -> str:
    parts = [
        f"# Reference\n\nEvery source, method, transform and function, each with a page of its own. A transform is called a "
        f"kernel where the engine is described. `headrace ops NAME` prints the page of an operator.\n\n{FRESH}\n"
    ]
    for section in sections:
        parts.append(f"## {section.title}\n")
        if section.text:
            parts.append(section.text + "\n")
        parts.append("| name | |\n|---|---|")
        parts[-1] += "".join(f"\n{_row(page, links)}" for page in section.pages) + "\n"
    return "\n".join([*parts, after])


def _row(page: Page, links: dict[str, str]) -> str:
    """Links to the anchor of a name, as headings of this page had them, arrive at its line. Of names that share a page, the
    first one has it."""
    home = links[page.name] == f"{page.name.replace(' ', '-')}.md"
    target = f'<a id="{anchor(page.name)}"></a>' if home else ""
    return f"| {target}[`{page.name}`](reference/{links[page.name]}) | {cell(escaped(page.summary))} |"
