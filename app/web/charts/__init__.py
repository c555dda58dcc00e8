"""Charts drawn on the server as SVG: pure functions of plain data and words, which know no language."""
