"""Constants for pages with charts in a browser."""

SITE = "https://charts.test"
STYLESHEET_LINKS = "".join(
    f'<link rel="stylesheet" href="/static/{name}.css">'
    for name in ("tokens", "site", "parts", "charts", "matrix")
)
CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "woff2": "font/woff2"}
