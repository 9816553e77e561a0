"""The formats, a file each; headrace._formats.table lists them."""
