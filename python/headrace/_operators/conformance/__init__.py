"""The checks that `headrace check-plugin` runs over a plugin's operators."""
