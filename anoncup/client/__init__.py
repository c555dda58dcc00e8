"""Python client of the HTTP API."""

from anoncup.client.client import FINAL_STATES, Client
from anoncup.client.transport import ApiError, competition_path

__all__ = ["FINAL_STATES", "ApiError", "Client", "competition_path"]
