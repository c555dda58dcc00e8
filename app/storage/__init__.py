"""Public files by their SHA-256: written once, never changed, checked whenever they are read.

Where they lie, a local folder or an S3-compatible store, is known in here only.
"""

from app.storage.store import Store, digest_of, opened, store, use

__all__ = ["Store", "digest_of", "opened", "store", "use"]
