"""Path and options of Chromium, and the files that tests serve and upload."""

import shutil

from playwright.sync_api import FilePayload

CHROMIUM = next(
    filter(
        None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))
    ),
    None,
)
"""The first takes a third of the processor time of the others."""
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]


def build_csv_payload(content: bytes) -> FilePayload:
    return {"name": "file.csv", "mimeType": "text/csv", "buffer": content}


SITE = "https://charts.test"
STYLESHEET_LINKS = "".join(
    f'<link rel="stylesheet" href="/static/{name}.css">'
    for name in ("tokens", "site", "parts", "charts", "matrix")
)
CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "woff2": "font/woff2"}
