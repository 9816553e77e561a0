"""Sphinx's settings for the documentation site, which tools/site/build makes."""

project = "Headrace"
html_title = "Headrace"
html_theme = "furo"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
language = "en"

# Anchors as GitHub makes them, since the same files are read there.
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# Summaries are read by requests, which browsers refuse to pages of a folder.
html_show_search_summary = False
html_use_index = False
# Quotes in prose are often Python's, and stay as they are written.
smartquotes = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
