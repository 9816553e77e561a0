"""Pipelines on a Ray cluster: an epoch's batches, sets of files and blocks for Ray Data, with the bytes of one machine.

    import headrace as hr

    for batch in hr.ray.feed(train, makers=4, epoch=epoch, seed=1):
        ...
    hr.ray.write(packed, "/shared/records/", format="records", files=64)

Needs Ray: `pip install ray`.
"""

from headrace.ray.datasource import datasource
from headrace.ray.feed import Feed
from headrace.ray.feed_of_rows import FeedOfRows
from headrace.ray.feeding import feed
from headrace.ray.makers import Makers
from headrace.ray.write import write

__all__ = ["Feed", "FeedOfRows", "Makers", "datasource", "feed", "write"]

# Where users find them.
for _name in __all__:
    globals()[_name].__module__ = __name__
