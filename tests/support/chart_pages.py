"""Pages with charts."""

SITE = "https://charts.test"
SHEETS = "".join(
    f'<link rel="stylesheet" href="/static/{name}.css">'
    for name in ("tokens", "site", "parts", "charts", "matrix")
)
KINDS = {"css": "text/css", "js": "text/javascript", "woff2": "font/woff2"}
