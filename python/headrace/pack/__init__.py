"""Lists of pictures for RecordIO files, as MXNet's im2rec makes them.

from headrace import pack

pack.make_lists("data/train", "photos", recursive=True)
"""

from headrace.pack.list_making import MadeLists, make_lists

__all__ = ["MadeLists", "make_lists"]
