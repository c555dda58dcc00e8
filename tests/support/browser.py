"""Path and options of Chromium, and the files that tests serve and upload."""

import shutil

from playwright.sync_api import FilePayload

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
