"""benchmarks/compare: its protocol with the peers, and its output, with peers that need nothing."""

import json
import os
import pathlib
import subprocess
import sys
import time
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPARE = ROOT / "benchmarks" / "compare"

FAKE = """
TITLE = "{title}"
DISTRIBUTION = ""
REQUIREMENTS = ()
DEBIAN = ("some-library",)
MODULES = ("json",)
SETUP = "as it comes"


def version():
    return "1.2"


class Batch:
    shape = ({batch}, 3, 224, 224)
    dtype = "float32"


def prepare(folder, scratch):
    import os

    path = os.path.join(scratch, "own.file")
    with open(path, "w") as file:
        file.write("\\n".join(sorted(os.listdir(folder))))
    return path


def images(data, workers):
    import os

    assert os.path.isfile(data) and workers == 3
    print("chatter on stdout")
    while True:
        yield Batch()
"""
WITH_ROWS = """

def rows(count, workers):
    for start in range(0, count, 256):
        yield min(256, count - start)
"""


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(COMPARE))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import compare

    yield compare
    for name in ("compare", "child", "table", "machine", "process_tree", "work"):
        sys.modules.pop(name, None)


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("cat_1.jpg", "cat_2.jpg", "dog_1.jpeg"):
        (folder / name).write_bytes(b"x" * 1000)
    (folder / "README.md").write_text("not an image")
    return folder


def write_peers(tmp_path, **texts):
    folder = tmp_path / "peers"
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def options_of(compare, tmp_path, images, peers, *more):
    arguments = [str(images), "--venvs", str(tmp_path / "venvs"), "--peers-folder", str(peers)]
    counts = ["--rounds", "2", "--images", "64", "--warm-up", "32", "--rows", "1000", "--workers", "3"]
    return [*arguments, *counts, *more]


def test_peers_take_turns_and_failures_are_reported(compare, tmp_path, images, capsys):
    peers = write_peers(
        tmp_path,
        good=FAKE.format(title="Good", batch=32) + WITH_ROWS,
        rowless=FAKE.format(title="No rows", batch=32),
        small=FAKE.format(title="Small", batch=31),
        broken=FAKE.format(title="Broken", batch=32).replace("yield Batch()", "raise OSError('no such codec')"),
    )
    out = tmp_path / "docs"
    compare.machine.busy_cores = lambda: 0.0
    compare.make_environment = lambda *_: (_ for _ in ()).throw(compare.PeerError("no matplotlib here"))
    assert compare.main(options_of(compare, tmp_path, images, peers, "--out", str(out))) == 0
    results = json.loads((out / "compare.json").read_text())
    by_name = {peer["name"]: peer for peer in results["peers"]}
    assert [len(by_name[name]["runs"]) for name in ("good", "rowless", "small", "broken")] == [2, 2, 0, 0]
    run = by_name["good"]["runs"][0]
    assert run["version"] == "1.2" and run["images_per_s"] > 0 and run["ns_per_row"] > 0
    assert run["cpu_s_per_1000"] >= 0 and run["first_batch_s"] > 0 and run["import_s"] >= 0
    assert by_name["rowless"]["runs"][0]["ns_per_row"] is None
    assert "(31, 3, 224, 224)" in by_name["small"]["error"]
    assert by_name["broken"]["error"] == "images: OSError: no such codec"
    assert results["settings"]["pictures"] == 3 and results["settings"]["links"] == compare.LINKS
    page = (out / "compare.md").read_text()
    assert "| Broken | – | not measured: images: OSError: no such codec |" in page
    assert "- **Good**: as it comes." in page and "![" not in page
    assert results["machine"]["cpu"] in page
    assert "no plot: no matplotlib here" in capsys.readouterr().err


def test_an_installation_that_fails_is_in_the_table(compare, tmp_path, images, capsys):
    text = FAKE.format(title="Far", batch=32).replace("REQUIREMENTS = ()", 'REQUIREMENTS = ("far==1",)')
    peers = write_peers(tmp_path, far=text)

    def refuse(venv, requirements):
        assert venv.name == "peers-far" and requirements == ("far==1",)
        raise compare.PeerError("pip: no matching distribution")

    compare.make_environment = refuse
    assert compare.main(options_of(compare, tmp_path, images, peers)) == 0
    shown = capsys.readouterr().out
    assert "| Far | – | not measured: pip: no matching distribution (it needs Debian's some-library) |" in shown


@pytest.mark.timing
def test_a_busy_machine_gets_no_page(compare, tmp_path, images, capsys):
    compare.machine.busy_cores = lambda: 3.5
    peers = write_peers(tmp_path, good=FAKE.format(title="Good", batch=32))
    assert compare.main(options_of(compare, tmp_path, images, peers, "--out", str(tmp_path / "docs"))) == 1
    assert "the machine is busy (load 3.50)" in capsys.readouterr().err
    assert not (tmp_path / "docs").exists()


def test_a_peer_that_is_not_there_is_named(compare, tmp_path, images):
    peers = write_peers(tmp_path, good=FAKE.format(title="Good", batch=32))
    with pytest.raises(SystemExit, match="there is no peer 'best'; there are: good"):
        compare.main(options_of(compare, tmp_path, images, peers, "--peers", "best"))


def test_an_environment_is_made_once(compare, tmp_path, monkeypatch):
    ran = []

    def run(command, **_):
        ran.append(command[0])
        if command[1:3] == ["-m", "venv"]:
            pathlib.Path(command[3]).mkdir(exist_ok=True)
        return types.SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(compare.subprocess, "run", run)
    for _ in range(2):
        compare.make_environment(tmp_path / "v", ("a==1",))
    assert ran == ["/usr/bin/python3", str(tmp_path / "v/bin/pip")]
    compare.make_environment(tmp_path / "v", ("a==2",))
    assert len(ran) == 4


def test_what_pip_compiles_is_compiled_for_this_environment(compare, tmp_path, monkeypatch):
    ran = []

    def run(command, env=None, **_):
        pathlib.Path(tmp_path / "v").mkdir(exist_ok=True)
        ran.append(("--no-cache-dir" in command, (env or {}).get("CC")))
        return types.SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(compare.subprocess, "run", run)
    monkeypatch.delenv("CC", raising=False)
    compare.make_environment(tmp_path / "v", ("a==1",), {"CC": "cc -mavx2"})
    compare.make_environment(tmp_path / "v", ("a==2",))
    assert ran[1] == (True, "cc -mavx2") and ran[3] == (False, None)


def test_the_links_make_class_folders(compare, tmp_path, images):
    count, megabytes = compare.link_images(images, tmp_path / "links")
    assert (count, megabytes) == (3, 0.003)
    assert sorted(entry.name for entry in (tmp_path / "links").iterdir()) == ["cat", "dog"]
    links = list((tmp_path / "links" / "cat").iterdir())
    assert len(links) == 2 * compare.LINKS and all(link.is_symlink() and link.is_file() for link in links)


def test_the_table_has_medians_and_the_fastest_first(compare):
    def peer(title, rates, **more):
        runs = [{"version": "1", "images_per_s": rate, "peak_bytes": 1 << 20, **more} for rate in rates]
        return {"title": title, "runs": runs, "installed_mb": 12.3, "error": None}

    text = compare.table.table([peer("slow", [90, 100, 110]), peer("fast", [2000], ns_per_row=1500)])
    head, rule, first, second = text.splitlines()
    assert head.count("|") == rule.count("|") == first.count("|") == second.count("|") == 10
    assert first == "| fast | 1 | 2,000 (0%) | – | 1 | 1.50 | – | – | 12 |"
    assert second == "| slow | 1 | 100 (20%) | – | 1 | – | – | – | 12 |"


def test_the_last_line_of_an_error_tells_most(compare):
    assert compare.last_line("a\nValueError: bad\n\nnote: see above\nhint: x\n") == "ValueError: bad"
    assert compare.last_line("\x1b[31mplain words\x1b[0m\n") == "plain words"
    assert compare.last_line("  RuntimeError: Could not find x.\n  [end of output]\n  error: failed\n") == (
        "RuntimeError: Could not find x."
    )
    assert (
        compare.last_line("ERROR: No matching distribution\n[notice] pip is old\n") == "ERROR: No matching distribution"
    )
    assert compare.last_line("") == "it said nothing"


def test_every_peer_says_what_the_readme_asks_for(compare):
    files = sorted((COMPARE / "peers").glob("*.py"))
    assert len(files) >= 9
    for file in files:
        peer = compare.peer_module(str(COMPARE / "peers"), file.stem)
        assert peer.TITLE and peer.SETUP and peer.MODULES and callable(peer.images)
        assert all("==" in peer.REQUIREMENTS[0] for _ in peer.REQUIREMENTS)
        assert not peer.SETUP.endswith(".")


def test_our_own_peer_gives_batches_and_rows(compare, photos, tmp_path):
    compare.link_images(photos, tmp_path / "links")
    peers = COMPARE / "peers"
    module = compare.peer_module(str(peers), "headrace")
    peer = compare.Peer("headrace", module, pathlib.Path(sys.executable), str(tmp_path / "links"))
    peer.data = compare.run_child(peer, peers, "prepare", peer.data, tmp_path)["data"]
    assert compare.run_child(peer, peers, "images", peer.data, 2, 32, 32)["images_per_s"] > 0
    assert compare.run_child(peer, peers, "rows", 5000, 2)["ns_per_row"] > 0


@pytest.mark.timing
def test_a_child_that_hangs_is_given_up(compare, tmp_path):
    text = FAKE.format(title="Slow", batch=32).replace(
        "    while True:\n", "    import time\n    time.sleep(600)\n    while True:\n"
    )
    peers = write_peers(tmp_path, slow=text)
    module = compare.peer_module(str(peers), "slow")
    peer = compare.Peer("slow", module, pathlib.Path(sys.executable))
    (tmp_path / "data").write_text("")
    with pytest.raises(compare.PeerError, match="did not end in 1 s"):
        compare.run_child(peer, peers, "images", tmp_path / "data", 3, 32, 32, timeout=1)


@pytest.mark.timing
def test_memory_and_time_of_children_count(compare):
    code = "import time; block = bytearray(60 << 20); print('there', flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "there\n"
        own = compare.process_tree.memory_bytes(os.getpid())
        alone = compare.process_tree.memory_bytes(child.pid)
        assert own > alone > 60 << 20
        assert child.pid in compare.process_tree.processes(os.getpid())
        before = compare.process_tree.cpu_seconds(os.getpid())
        began = time.process_time()
        while time.process_time() - began < 0.05:
            pass
        assert compare.process_tree.cpu_seconds(os.getpid()) > before
    finally:
        child.kill()
        child.communicate()
