"""Charts drawn on the server as SVG: pure functions of plain data and words, which know no language:
the words bring the signs of its numbers.

A route makes ``scatter(points, worded(ScatterWords, t))``; ``worded`` takes other words for single
fields. Its template links ``/static/charts.css`` and the module ``/static/charts.js``, imports ``chart``
from ``site/figure.html`` and writes ``{{ chart(figure, t) }}``. A thin strip is written as ``{{ figure.svg }}``
alone. A figure with a ``view`` is large, and D3 takes over from its picture in the browser, which
``charts.js`` loads by itself (docs/decisions/0039). Identifiers must be unique on a page. Names of attackers, kinds of cheats and the like are the
route's to translate.
"""
