"""`headrace share`: makes the batches of a saved pipeline for other processes of this host."""

import argparse
import pickle

from headrace._arguments import options as check
from headrace._arguments.printed import say
from headrace._commands.whole_graph import add_no_writes, load_whole
from headrace._datasets.dataset import Dataset
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace._share.sharing import serve, settings_of
from headrace.errors import GraphError

HELP = "make the batches of a saved graph for other processes of this host"
DESCRIPTION = (
    "Makes batches in shared memory for the processes that call headrace.connect(SOCKET), until SIGTERM or Ctrl-C. Nothing "
    "listens on a network; Linux only."
)
_MOST_RIGHTS = 0o777


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument(
        "file",
        metavar="GRAPH",
        help="what Dataset.save() or Dataset.to_json() gave; or pickle.dumps(ds) in a file whose name ends in .pkl, which "
        "runs code that is in it: give only your own",
    )
    command.add_argument("--socket", metavar="PATH", required=True, help="where consumers connect, at most 107 bytes")
    command.add_argument("--mode", default="600", metavar="OCTAL", help="of the socket's file: who may connect (600)")
    command.add_argument("--ahead", type=int, default=4, metavar="N", help="batches that may wait for a consumer (4)")
    command.add_argument(
        "--slow",
        default="wait",
        metavar="HOW",
        help="a consumer that is so far behind holds those of the same batches (wait, the default), or is left with an error (drop)",
    )
    command.add_argument(
        "--consumers",
        type=int,
        default=1,
        metavar="N",
        help="how many consumers of the same batches must have connected before the first batch is made (1)",
    )
    add_no_writes(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    settings = settings_of(options.ahead, options.slow, options.consumers)
    rights = _rights(options.mode)
    serve(_dataset(options.file, options.writes), options.socket, rights, settings, _say_began)
    return 0


def _say_began(path: str) -> None:
    say(f"{path}: ready")


def _rights(text: str) -> int:
    try:
        rights = int(text, 8)
    except ValueError:
        rights = -1
    if not 0 <= rights <= _MOST_RIGHTS:
        raise GraphError(f"share: --mode is {check.shown(text)}; write octal digits, such as 660")
    return rights


def _dataset(file: str, writes: bool) -> Dataset:
    if not file.endswith(".pkl"):
        return load_whole(file, "share", "share it where they are, with headrace.share(ds), or pickle it", writes)
    try:
        found = pickle.loads(read_whole(file))
    except OSError as error:
        raise system_error(f"share: no pickle at {file}", error) from None
    except Exception as error:
        raise GraphError(f"share: {file} cannot be unpickled: {type(error).__name__}: {error}") from None
    if not isinstance(found, Dataset):
        raise GraphError(f"share: {file} holds a {type(found).__name__}; pickle a Dataset")
    return found
