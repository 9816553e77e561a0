"""Formats of files: what a path holds, the source that reads it, and what the commands inspect, verify, unpack and convert
do with it. `table` lists them, one entry each."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

if TYPE_CHECKING:
    from headrace._formats.converting import Conversion as Conversion
    from headrace._formats.converting import convert as convert
    from headrace._formats.opening import Found as Found
    from headrace._formats.opening import found_at as found_at
    from headrace._formats.opening import open_source as open_source
    from headrace._formats.row_checks import check_rows as check_rows
    from headrace._formats.row_files import unpack_rows as unpack_rows
    from headrace._formats.row_survey import survey_lines as survey_lines
else:
    __getattr__ = late_room(
        __name__,
        {
            "Conversion": "converting",
            "convert": "converting",
            "Found": "opening",
            "found_at": "opening",
            "open_source": "opening",
            "check_rows": "row_checks",
            "unpack_rows": "row_files",
            "survey_lines": "row_survey",
        },
    )
