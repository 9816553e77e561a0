"""Contact sheets: the images of any dataset's rows in a grid, as `Dataset.show` and `headrace show` make them."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["ContactSheet", "show"]

if TYPE_CHECKING:
    from headrace.sheet.contact_sheet import ContactSheet
    from headrace.sheet.showing import show
else:
    __getattr__ = late_room(__name__, {"ContactSheet": "contact_sheet", "show": "showing"})
