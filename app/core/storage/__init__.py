"""Content-addressed storage: files are named by their SHA-256, written once and verified at every read.

The backend is a local folder or an S3-compatible store; other packages do not depend on which.
"""

from app.core.storage.store import Store, compute_digest, get_store, open_store, use_backend

__all__ = ["Store", "compute_digest", "get_store", "open_store", "use_backend"]
