"""MindRecord files by the names of `mindspore.mindrecord`: a script that writes or reads them runs here after its import
is changed.

from headrace.mindrecord import FileReader, FileWriter, MindPage

To train from such files, read them with `headrace.MindRecord`, and write datasets with `Dataset.write_mindrecord`.
"""

from headrace.mindrecord.absent import no_name
from headrace.mindrecord.file_reader import FileReader
from headrace.mindrecord.file_writer import FileWriter
from headrace.mindrecord.mind_page import MindPage
from headrace.mindrecord.status import FAILED, SUCCESS, MSRStatus

__all__ = ["FAILED", "FileReader", "FileWriter", "MSRStatus", "MindPage", "SUCCESS"]

# Where users find them.
for _name in ("FileReader", "FileWriter", "MSRStatus", "MindPage"):
    globals()[_name].__module__ = __name__


def __getattr__(name: str) -> object:
    raise no_name(__name__, name)
