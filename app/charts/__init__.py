"""Charts drawn on the server as SVG: pure functions of plain data and translated texts.

A route calls ``build_scatter(points, translate_words(ScatterWords, t))``; ``translate_words`` accepts other
texts for single fields. Its template links ``/static/charts.css`` and the module ``/static/charts.js``,
imports ``chart`` from ``site/figure.html`` and writes ``{{ chart(figure, t) }}``. A thin strip is written as
``{{ figure.svg }}`` alone.

A figure with a ``view`` is large: ``charts.js`` loads D3, which replaces the picture by an interactive view
in the browser (docs/decisions/0039). Identifiers must be unique on a page. Routes translate names of
attackers, kinds of cheats and the like.
"""
