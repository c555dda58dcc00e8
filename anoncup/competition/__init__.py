"""Competition files: templates, parsing, and changes to their text."""
