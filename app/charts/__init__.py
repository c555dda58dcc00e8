"""Charts drawn on the server as SVG: pure functions of plain data and translated texts.

A route calls ``build_scatter(points, translate_words(ScatterWords, t))``; keyword arguments of
``translate_words`` override single texts. The route's template links ``/static/charts.css`` and the module
``/static/charts.js``, imports ``chart`` from ``site/figure.html`` and writes ``{{ chart(figure, t) }}``.

A figure with a ``view`` is large: ``charts.js`` loads D3 and replaces the picture by an interactive view
(docs/decisions/0039). Each figure on a page needs an identifier of its own. Names of attackers and of kinds
of cheats are translated by the routes.
"""
