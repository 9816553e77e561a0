"""Statistics of the columns of a dataset's rows, as `Dataset.statistics` finds them."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["Statistics", "statistics_of"]

if TYPE_CHECKING:
    from headrace._statistics.column_statistics import Statistics, statistics_of
else:
    __getattr__ = late_room(__name__, {"Statistics": "column_statistics", "statistics_of": "column_statistics"})
