"""A client can be generated from the description of the API."""

import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import API
from tests.support.pinned_package import skip_without_registry

pytestmark = pytest.mark.full

GENERATOR = "openapi-python-client==0.29.1"
CONFIGURATION = Path(__file__).parents[2] / "examples/openapi_client.yml"
UV = Path(sys.executable).parent / "uv"


def test_client_is_generated_without_warnings(client: TestClient, tmp_path: Path) -> None:
    description, package = tmp_path / "openapi.json", tmp_path / "contest_client"
    description.write_bytes(client.get(f"{API}/openapi.json").content)
    completed = subprocess.run(
        [
            *(UV, "tool", "run", "-q", "--from", GENERATOR, "openapi-python-client", "generate"),
            *("--path", description, "--config", CONFIGURATION, "--meta", "none", "--fail-on-warning"),
            *("--output-path", package),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    skip_without_registry(completed)
    assert (package / "api/submissions/create_submission.py").exists()
