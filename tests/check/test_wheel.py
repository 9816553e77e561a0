"""tools/wheel: which licences a wheel may carry, whose texts it holds, and what it takes the place of."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from tests.conftest import ROOT
from tools.wheel import bundle, debian, shipped
from tools.wheel.bill import Component, bill_of
from tools.wheel.build_wheel import metadata_of
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
