"""Contact sheets: the images of any dataset's rows in a grid, as `Dataset.show` and `headrace show` make them."""
