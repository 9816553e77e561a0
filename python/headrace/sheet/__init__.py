"""Contact sheets: the pictures of any dataset's rows in a grid, as `Dataset.show` and `headrace show` make them."""
