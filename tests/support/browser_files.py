"""Files for forms of a browser."""

from playwright.sync_api import FilePayload


def csv(content: bytes) -> FilePayload:
    return {"name": "file.csv", "mimeType": "text/csv", "buffer": content}
