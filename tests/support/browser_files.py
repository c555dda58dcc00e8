"""Files for browser forms."""

from playwright.sync_api import FilePayload


def build_csv_payload(content: bytes) -> FilePayload:
    return {"name": "file.csv", "mimeType": "text/csv", "buffer": content}
