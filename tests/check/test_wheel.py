"""tools/wheel: which licences a wheel may carry, whose texts it holds, and what it takes the place of."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tools.wheel import bare_debian, built_wheel, bundle, debian, interpreters, shipped, symbol_versions
from tools.wheel.bill import Component, bill_of
from tools.wheel.build_wheel import metadata_of
from tools.wheel.interpreters import Interpreter, Unfit
from tools.wheel.licences import COMMON, Licences, NotAllowed, join

TABLE = {
    "allowed": ["Apache-2.0", "BSD-3-Clause", "MIT"],
    "compiled-in": {"debian": [], "python": []},
    "names": {"Expat": "MIT"},
    "sources": {
        "tools-apart": {"elsewhere": ["tools/*"]},
        "free-form": {"licence": "MIT"},
        "wrong-form": {"licence": "GPL-2.0-only"},
        "own-names": {"names": {"PD": "MIT"}},
    },
}
HEADING = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: x\n"
EXPAT = "License: Expat\n Permission is granted.\n .\n Without warranty.\n"
GPL = "License: GPL-2+\n See /usr/share/common-licenses/GPL-2.\n"


def files(patterns: str, licence: str) -> str:
    return f"Files: {patterns}\nCopyright: 2020 Someone\nLicense: {licence}\n"


def read(source: str, *paragraphs: str):
    return Licences(TABLE).of(source, "\n".join([HEADING, *paragraphs]))


def test_a_licence_has_its_text():
    licence = read("x", files("*", "Expat"), EXPAT)
    assert licence.expression == "MIT"
    assert "2020 Someone" in licence.text and "Without warranty." in licence.text


@pytest.mark.parametrize(
    "name",
    ["GPL-2+", "Expat and GPL-2+", "GPL-2+ or LGPL-3", "Expat or GPL-2+, and BSD-3-Clause", "Beerware", ""],
)
def test_a_licence_that_is_not_on_the_list_is_refused(name):
    with pytest.raises(
        NotAllowed, match=re.escape(f"x has the licence {name or 'without a name'} for lib/a.c lib/b.c")
    ):
        read("x", files("*", "Expat"), files("lib/a.c lib/b.c", name), EXPAT, GPL)


def test_of_alternatives_the_one_on_the_list_is_taken():
    licence = read("x", files("*", "GPL-2+ or Expat"), EXPAT, GPL)
    assert licence.expression == "MIT" and "common-licenses" not in licence.text


def test_both_licences_count_where_both_apply():
    licence = read("x", files("*", "bsd-3-clause AND Expat"), EXPAT, "License: BSD-3-Clause\n Redistribution …\n")
    assert licence.expression == "BSD-3-Clause AND MIT"


def test_files_that_are_in_no_library_do_not_count():
    paragraphs = [files("*", "Expat"), files("debian/*", "GPL-2+"), files("tools/a.c tools/b/*", "GPL-2+"), EXPAT, GPL]
    licence = read("tools-apart", *paragraphs)
    assert licence.expression == "MIT" and "GPL" not in licence.text
    with pytest.raises(NotAllowed):
        read("another", *paragraphs)
    with pytest.raises(NotAllowed):
        read("tools-apart", *paragraphs, files("tools/a.c lib/a.c", "GPL-2+"))


def test_a_name_of_one_package_says_nothing_of_another():
    paragraphs = [files("*", "PD\n Do whatever you want.")]
    assert read("own-names", *paragraphs).expression == "MIT"
    with pytest.raises(NotAllowed):
        read("x", *paragraphs)


def test_a_licence_without_a_text_is_refused():
    with pytest.raises(NotAllowed, match="no text of its licence expat"):
        read("x", files("*", "Expat"))
    with pytest.raises(NotAllowed, match="no text"):
        read("x", files("debian/*", "Expat"), EXPAT)


def test_texts_of_debian_s_systems_are_inside():
    licence = read("x", files("*", "Apache-2.0\n See `/usr/share/common-licenses/Apache-2.0'."))
    assert (COMMON / "Apache-2.0").read_text().strip() in licence.text


def test_a_file_of_another_form_needs_a_reader():
    text = "This work was packaged by someone.\n\nLicense:\n\n    Do what you want.\n"
    assert Licences(TABLE).of("free-form", text).expression == "MIT"
    for source in ("x", "wrong-form"):
        with pytest.raises(NotAllowed):
            Licences(TABLE).of(source, text)


def test_fields_are_read_however_they_are_written():
    copyright = f"{HEADING}\n# A remark.\n\nfiles:\n a.c\n\tb.c\nLicense:Expat\n \t\n{EXPAT}"
    licence = Licences(TABLE).of("x", copyright)
    assert licence.expression == "MIT" and "A remark" not in licence.text


def test_libjbig_is_refused():
    """By its real copyright file: Debian's libtiff needs it, so it is installed."""
    package = debian.find_packages(["libjbig0"])["libjbig0"]
    with pytest.raises(NotAllowed, match="jbigkit has the licence GPL-2"):
        Licences.read().of(package.source, package.copyright())


def test_what_is_bundled_and_compiled_in_can_be_carried():
    """With the packages of this machine, whose new versions may have new licences."""
    patterns = re.findall(
        r'^        "(\w+\*?)",$', (ROOT / "third_party/debian.BUILD").read_text().split('"bundled"')[1], re.M
    )
    folder = pathlib.Path("/usr/lib/x86_64-linux-gnu")
    libraries = [str(path) for pattern in patterns for path in folder.glob(f"lib{pattern}.so.*")]
    assert {"tiff", "absl_*"} <= set(patterns)
    licences = Licences.read()
    packages = {*debian.owners_of(libraries).values()}
    packages |= {*debian.find_packages(licences.compiled_in["debian"]).values()}
    found = {package.source: licences.of(package.source, package.copyright()) for package in packages}
    assert found["tiff"].expression == "libtiff" and found["opencv"].expression == "Apache-2.0 AND BSD-3-Clause"
    assert all("GENERAL PUBLIC LICENSE" not in licence.text for licence in found.values())


def test_what_is_linked_statically_is_named():
    build = (ROOT / "third_party/debian.BUILD").read_text()
    (static,) = re.findall(r'"-Wl,-Bstatic",(.*?)"-Wl,-Bdynamic"', build, re.DOTALL)
    archives = [f"/usr/lib/x86_64-linux-gnu/lib{name}.a" for name in re.findall(r'"-l(\w+)"', static)]
    headers_alone = re.findall(r'^cc_library\(name = "(\w+)"\)$', build, re.MULTILINE)
    assert archives and headers_alone == ["json", "hwy"]
    owners = {package.name for package in debian.owners_of(archives).values()}
    assert owners | {"libhwy-dev", "nlohmann-json3-dev"} == set(Licences.read().compiled_in["debian"])


def test_the_library_for_far_files_names_curl(monkeypatch):
    monkeypatch.setattr(shipped, "find_packages", lambda names: {})
    copyright = "\n".join([HEADING, files("*", "Expat"), files("tests/*", "GPL-2+"), EXPAT])
    far = shipped.FarLibrary("headrace/libheadrace_far.so", "7.88.1-10+deb12u5", copyright)
    table = {
        **TABLE,
        "compiled-in": {"debian": [], "python": [], "far": []},
        "sources": {"curl": {"elsewhere": ["tests/*"]}},
    }
    found = shipped.find_shipped({}, "1.0", "headrace/_engine.so", Licences(table), far)
    (curl,) = found.components
    assert (curl.name, curl.version, curl.licence, curl.file) == ("curl", far.curl_version, "MIT", far.file)
    assert curl.url == "pkg:deb/debian/curl@7.88.1-10%2Bdeb12u5?arch=source&distro=debian-12"
    assert "Permission is granted." in found.texts[curl.licence_file]


def test_a_file_of_no_package_is_refused(tmp_path):
    (tmp_path / "libx.so.1").touch()
    with pytest.raises(debian.NotOfAPackage, match="libx.so.1 comes from no installed package"):
        debian.owners_of([str(tmp_path / "libx.so.1")])


def test_a_package_has_a_url():
    package = debian.Package("libx1", "1:2.0+dfsg~rc1-3", "x", "1:2.0+dfsg~rc1-3", "amd64")
    assert package.url == "pkg:deb/debian/libx1@1%3A2.0%2Bdfsg~rc1-3?arch=amd64&distro=debian-12"


def test_the_bill_and_the_metadata_agree():
    one = Component(
        "libx.so.1", "1-2", "MIT AND Zlib", "x", "pkg:deb/debian/libx1@1-2", "headrace.libs/x", "ab", "t/x.txt"
    )
    inside = Component("y", "3", "ISC", "y", "", "headrace/_engine.so", "", "t/y.txt", "About y.")
    bill = json.loads(bill_of("0.1.0", "Apache-2.0", [one, inside]))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    first, second = bill["components"]
    assert first["hashes"] == [{"alg": "SHA-256", "content": "ab"}] and first["purl"] == one.url
    assert first["licenses"] == [{"expression": "MIT AND Zlib"}]
    assert {"name": "headrace:source", "value": "x"} in first["properties"]
    assert second["description"] == "About y." and "hashes" not in second and "purl" not in second
    assert bill["dependencies"][0]["dependsOn"] == [first["bom-ref"], second["bom-ref"]]
    metadata = metadata_of("0.1.0", shipped.Shipped([one, inside], {"t/y.txt": "", "t/x.txt": ""}))
    assert "License-Expression: Apache-2.0 AND ISC AND MIT AND Zlib\n" in metadata
    assert "License-File: LICENSE\nLicense-File: t/x.txt\nLicense-File: t/y.txt\n" in metadata


def test_expressions_are_joined_once_each():
    assert join(["MIT AND Zlib", "Apache-2.0", "MIT"]) == "Apache-2.0 AND MIT AND Zlib"


@pytest.mark.parametrize(("has", "lacks"), [({"f", "g"}, None), ({"f", "h"}, "g")])
def test_a_stand_in_has_what_is_called(monkeypatch, has, lacks):
    """The user calls f and g of the original, and others of libc."""
    table = {
        ("user", "undefined"): {"f", "g", "malloc"},
        ("original", "defined"): {"f", "g", "never_called"},
        ("stand_in", "defined"): has,
    }
    monkeypatch.setattr(bundle, "_symbols", lambda path, which: table[(str(path), which)])
    paths = [pathlib.Path(name) for name in ("original", "stand_in")]
    if lacks is None:
        bundle._check_stand_in("libx.so.1", *paths, [pathlib.Path("user")])
    else:
        with pytest.raises(bundle.CannotBundle, match=f"stand_in, which stands in for libx.so.1, lacks {lacks}"):
            bundle._check_stand_in("libx.so.1", *paths, [pathlib.Path("user")])


def test_symbols_are_read_without_their_versions():
    libtiff = pathlib.Path("/usr/lib/x86_64-linux-gnu/libtiff.so.6")
    assert {"jbg_dec_in", "malloc"} <= bundle._symbols(libtiff, "undefined")
    assert "TIFFClientOpenExt" in bundle._symbols(libtiff, "defined")


def test_what_is_loaded_late_is_inside_with_all_that_it_needs(tmp_path):
    """Under a name that the module knows: it says no other where it asks for the library."""
    module = tmp_path / "module.so"
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    folder = pathlib.Path("/usr/lib/x86_64-linux-gnu")
    shutil.copyfile(folder / "libz.so.1", module)
    known = [path for path in folder.glob("lib*.so.*") if path.is_file()]
    bundled = {each.name: each for each in bundle.bundle_libraries(module, libraries, known, {}, ["libtiff.so.6"])}
    assert {"libtiff.so.6", "libjbig.so.0", "libjpeg.so.62", "libdeflate.so.0"} <= bundled.keys()
    late = bundled["libtiff.so.6"].path
    assert late.name == "libtiff-headrace.so.6"
    source = (ROOT / "kernels/vision/codecs/whole/tiff_library.cc").read_text()
    assert f'{{"{late.name}", "libtiff.so.6"}}' in source
    dynamic = subprocess.run(["readelf", "-d", late], check=True, capture_output=True, text=True).stdout
    assert f"soname: [{late.name}]" in dynamic and "[$ORIGIN]" in dynamic
    assert bundled["libjbig.so.0"].path.name in dynamic
    assert "[$ORIGIN/../libraries]" in subprocess.run(["readelf", "-d", module], capture_output=True, text=True).stdout


def test_what_is_loaded_late_is_named_for_the_build(tmp_path):
    with pytest.raises(bundle.CannotBundle, match="libtiff.so.6 is loaded late and not named in"):
        bundle.bundle_libraries(pathlib.Path("/usr/lib/x86_64-linux-gnu/libz.so.1"), tmp_path, [], {}, ["libtiff.so.6"])


VERSIONS = """
Version definition section '.gnu.version_d' contains 2 entries:
  0x001c: Rev: 1  Flags: none  Index: 2  Cnt: 1  Name: GLIBC_9.9

Version needs section '.gnu.version_r' contains 2 entries:
 Addr: 0x0000000000002284  Offset: 0x00002284  Link: 3 (.dynstr)
  000000: Version: 1  File: libc.so.6  Cnt: 2
  0x0010:   Name: GLIBC_2.34  Flags: none  Version: 2
  0x0020:   Name: GLIBC_ABI_DT_RELR  Flags: none  Version: 3
  0x0030: Version: 1  File: libtiff.so.6  Cnt: 1
  0x0040:   Name: LIBTIFF_4.5  Flags: none  Version: 4
"""


def test_versions_of_symbols_are_read_with_their_library():
    needed = [("libc.so.6", "GLIBC_2.34"), ("libc.so.6", "GLIBC_ABI_DT_RELR"), ("libtiff.so.6", "LIBTIFF_4.5")]
    assert symbol_versions.needed_versions(VERSIONS) == needed
    assert symbol_versions.needed_versions("") == []


@pytest.mark.parametrize(
    ("version", "is_old"),
    [
        ("GLIBC_2.34", True), ("GLIBC_2.2.5", True), ("GLIBC_2.35", False), ("GLIBC_PRIVATE", False),
        ("GLIBC_ABI_DT_RELR", False), ("GLIBCXX_3.4", True), ("GLIBCXX_3.4.29", True), ("GLIBCXX_3.4.30", False),
        ("CXXABI_1.3.13", True), ("CXXABI_1.3.14", False), ("GCC_4.2.0", True), ("GCC_12.0.0", False), ("NEW_1.0", False),
    ],
)  # fmt: skip
def test_versions_are_compared_with_those_of_the_tag(version, is_old):
    assert symbol_versions.is_old_enough(version) == is_old


def test_a_library_that_needs_a_newer_symbol_is_named(tmp_path):
    """The symbol that made the wheel need GCC 12's libstdc++."""
    source = tmp_path / "wait.cc"
    source.write_text(
        "#include <condition_variable>\n"
        "void Wait(std::condition_variable& c, std::unique_lock<std::mutex>& l) { c.wait(l); }\n"
    )
    wait = ROOT / "core/condition_wait.cc"
    for name, sources in (("new.so", [source]), ("old.so", [source, wait])):
        subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-o", tmp_path / name, *sources], check=True)
    assert symbol_versions.version_complaints(tmp_path.glob("*.so"), tmp_path) == [
        "new.so needs GLIBCXX_3.4.30 of libstdc++.so.6, newer than manylinux_2_34 has"
    ]


def script(path: pathlib.Path, text: str) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def answer(tmp_path: pathlib.Path, **changes) -> str:
    said = {"minor": 12, "version": "3.12.1", "implementation": "cpython", "is_free_threaded": False}
    said |= {"include": str(tmp_path), "has_venv": True} | changes
    return f"echo '{json.dumps(said)}'"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"minor": 9, "version": "3.9.18"}, "there are no wheels for 3.9.18"),
        ({"implementation": "pypy"}, "it is not CPython with its lock"),
        ({"is_free_threaded": True}, "it is not CPython with its lock"),
        ({"include": "/no"}, "/no has no Python.h"),
        ({"has_venv": False}, "it lacks venv or ensurepip, which the tests need"),
    ],
)
def test_an_interpreter_that_no_wheel_can_be_built_for_is_left_out(tmp_path, changes, reason):
    (tmp_path / "Python.h").touch()
    path = script(tmp_path / "python3.12", answer(tmp_path, **changes))
    assert interpreters.examine(path) == Unfit(path, reason)
    good = script(tmp_path / "good", answer(tmp_path))
    assert interpreters.examine(good) == Interpreter(good, 12, "3.12.1")
    assert interpreters.examine(script(tmp_path / "bad", "exit 1")) == Unfit(tmp_path / "bad", "it does not start")


def test_interpreters_are_found_on_path_and_in_pyenv(monkeypatch, tmp_path):
    on_path = script(tmp_path / "bin/python3.13", "exit 1")
    in_pyenv = script(tmp_path / "pyenv/versions/3.10.1/bin/python3.10", "exit 1")
    script(tmp_path / "bin/python3.9", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    found = [path for path in interpreters.candidates() if path.parent != pathlib.Path("/usr/bin")]
    assert found == [on_path, in_pyenv]
    assert {each.path for each in interpreters.find_interpreters()[1]} >= {on_path, in_pyenv}


def test_of_each_version_the_first_is_taken_and_this_one_s_is_built_last():
    ours = Interpreter(pathlib.Path("/usr/bin/python3"), sys.version_info[1], "")
    newer = Interpreter(pathlib.Path("/a/python3.99"), 99, "")
    older = Interpreter(pathlib.Path("/a/python3.1"), 1, "")
    again = Interpreter(pathlib.Path("/b/python3.99"), 99, "")
    assert interpreters.choose([ours, newer, Unfit(pathlib.Path("/c"), ""), again, older]) == [older, newer, ours]


def test_the_newest_wheel_of_a_python_is_found(tmp_path):
    assert built_wheel.find_wheel(tmp_path, "cp311") is None
    for seconds, name in enumerate(
        ("0.1.0-cp311-cp311-manylinux_2_36", "0.1.0-cp311-cp311-manylinux_2_34", "0.1.0-cp310-cp310-manylinux_2_34")
    ):
        path = tmp_path / f"headrace-{name}_x86_64.whl"
        path.touch()
        os.utime(path, (seconds, seconds))
    found = built_wheel.find_wheel(tmp_path, "cp311")
    assert found is not None and "manylinux_2_34" in found.name


def test_the_bare_systems_say_what_they_lack(monkeypatch, tmp_path):
    monkeypatch.setattr(bare_debian.os, "geteuid", lambda: 1000)
    assert bare_debian.obstacle() == "debootstrap, mount and chroot need root"
    monkeypatch.setattr(bare_debian.os, "geteuid", lambda: 0)
    monkeypatch.setattr(bare_debian.shutil, "which", lambda name: None if name == "debootstrap" else name)
    assert bare_debian.obstacle() == "debootstrap is not installed (apt-get install debootstrap)"
    monkeypatch.setattr(bare_debian.shutil, "which", lambda name: name)
    assert bare_debian.obstacle() is None


def test_a_bare_system_without_a_wheel_is_skipped_by_name(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bare_debian, "obstacle", lambda: None)
    monkeypatch.setattr(sys, "argv", ["bare_debian", str(tmp_path), str(tmp_path)])
    assert bare_debian.main() == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [f"skipped: {each.name}: no wheel for {each.tag} in {tmp_path}" for each in bare_debian.SYSTEMS]
