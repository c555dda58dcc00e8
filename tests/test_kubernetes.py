"""deploy/kubernetes: valid manifests of hardened pods that agree with docker-compose.yml."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from app.config import Settings
from app.core.db.logins import ROLES, load_or_create_password

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "deploy" / "kubernetes"
SERVED_VERSIONS = ("1.29", kubernetes_validate.latest_version())
"""Oldest and newest supported version of Kubernetes."""
OTHER_VARIABLES = {
    *("DATABASE_URL", "REDIS_URL", "PGUSER", "PGPASSWORD", "NUMBA_CACHE_DIR"),
    *("FORWARDED_ALLOW_IPS", "AWS_ENDPOINT_URL", "AWS_REGION"),
}

Manifest = dict[str, Any]
KUSTOMIZATION: Manifest = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
MANIFESTS: list[Manifest] = [
    manifest
    for name in KUSTOMIZATION["resources"]
    for manifest in yaml.safe_load_all((FOLDER / name).read_text())
]
PODS: dict[str, Manifest] = {
    manifest["metadata"]["name"].removeprefix("anoncup-"): manifest["spec"]["template"]["spec"]
    for manifest in MANIFESTS
    if "template" in manifest.get("spec", {})
}
COMPOSE: Manifest = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def get_container(pod: str) -> Manifest:
    (container,) = PODS[pod]["containers"]
    return dict(container)


def read_variables(pod: str) -> dict[str, str | Manifest]:
    """Return the values of a container's own variables, or where they come from."""
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in get_container(pod)["env"]}


def list_secret_names(pod: str) -> set[str]:
    """Return the secrets that a pod reads as variables or files."""
    return set(re.findall(r"'(?:secretName|name)': '(anoncup-[a-z-]+)'", str(list_secret_references(pod))))


def list_secret_references(pod: str) -> list[Manifest]:
    container = get_container(pod)
    variables = [item["valueFrom"]["secretKeyRef"] for item in container["env"] if "valueFrom" in item]
    groups = [item["secretRef"] for item in container["envFrom"] if "secretRef" in item]
    return variables + groups + [item["secret"] for item in PODS[pod]["volumes"] if "secret" in item]


@pytest.mark.parametrize("version", SERVED_VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda item: f"{item['kind']} {item['metadata']['name']}")
def test_manifests_match_the_schema_of_kubernetes(manifest: Manifest, version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_kustomization_contains_every_file() -> None:
    files = {path.name for path in FOLDER.glob("*.yaml")}
    assert files == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


def test_pods_are_the_services_of_compose() -> None:
    assert set(PODS) == set(COMPOSE) - {"postgres", "redis", "keys"}


@pytest.mark.parametrize("pod", PODS)
def test_pods_run_without_privileges(pod: str) -> None:
    security, container = PODS[pod]["securityContext"], get_container(pod)
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == COMPOSE[pod]["user"]
    assert security["runAsNonRoot"]
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert PODS[pod]["automountServiceAccountToken"] is False
    # A service named anoncup-… would add variables that begin like settings.
    assert PODS[pod]["enableServiceLinks"] is False


@pytest.mark.parametrize("pod", PODS)
def test_volumes_are_limited_and_mounted(pod: str) -> None:
    volumes = {volume["name"]: volume for volume in PODS[pod]["volumes"]}
    mounts = {mount["name"]: mount for mount in get_container(pod)["volumeMounts"]}
    assert set(volumes) == set(mounts)
    for name, volume in volumes.items():
        if "secret" in volume:
            assert mounts[name]["readOnly"], name
        else:
            assert volume["emptyDir"]["sizeLimit"], name


@pytest.mark.parametrize("pod", PODS)
def test_pods_use_existing_settings(pod: str) -> None:
    (settings,) = [item["data"] for item in MANIFESTS if item["kind"] == "ConfigMap"]
    setting_names = {f"ANONCUP_{name.upper()}" for name in Settings.model_fields}
    assert {*settings, *read_variables(pod)} <= setting_names | OTHER_VARIABLES


@pytest.mark.parametrize("pod", PODS)
def test_commands_and_roles_agree_with_compose(pod: str) -> None:
    assert get_container(pod)["command"] == COMPOSE[pod]["command"]
    assert read_variables(pod)["PGUSER"] in COMPOSE[pod]["environment"]["DATABASE_URL"]
    role = next(
        (process for process, role in ROLES.items() if role == read_variables(pod)["PGUSER"]), "owner"
    )
    assert read_variables(pod)["PGPASSWORD"] == {"secretKeyRef": {"name": "anoncup-database", "key": role}}


def test_migration_takes_passwords_from_the_mounted_secret(tmp_path: Path) -> None:
    (roles,) = [volume for volume in PODS["migrate"]["volumes"] if volume["name"] == "roles"]
    paths = {item["key"]: item["path"] for item in roles["secret"]["items"]}
    assert paths == {process: f"{process}/pgpass" for process in ROLES}
    (tmp_path / "pgpass").write_text("a password\n")
    assert load_or_create_password(tmp_path / "pgpass", ROLES["web"]) == "a password"


def test_web_has_probes_on_the_port_of_compose() -> None:
    container = get_container("web")
    (port,) = container["ports"]
    assert COMPOSE["web"]["ports"][0].endswith(f":{port['containerPort']}")
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": port["name"]}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": port["name"]}


@pytest.mark.parametrize("pod", ["worker", "reports", "scheduler"])
def test_other_probes_are_the_health_checks_of_compose(pod: str) -> None:
    check = " ".join(COMPOSE[pod]["healthcheck"]["test"][1:]).replace("$$", "$")
    assert " ".join(get_container(pod)["livenessProbe"]["exec"]["command"]).removeprefix("sh -c ") == check


def test_scoring_memory_limit_is_below_the_workers() -> None:
    for pod in ("worker", "reports"):
        limit = get_container(pod)["resources"]["limits"]["memory"]
        assert int(limit.removesuffix("Gi")) * 1024 > int(
            str(read_variables(pod)["ANONCUP_SCORING_MEMORY_MB"])
        )


def test_private_keys_are_mounted_by_workers_and_clock_only() -> None:
    key_pods = {pod for pod in PODS if "anoncup-opening-keys" in list_secret_names(pod)}
    assert key_pods == {"worker", "reports", "scheduler"}


def test_documentation_creates_every_secret() -> None:
    used_names = {name for pod in PODS for name in list_secret_names(pod)}
    page = (ROOT / "docs" / "hosting.md").read_text("utf-8").split()
    assert {after for before, after in pairwise(page) if before == "generic"} == used_names


def test_selectors_and_disruption_budgets_name_existing_pods() -> None:
    labels = [
        item["spec"]["template"]["metadata"]["labels"] for item in MANIFESTS if item["kind"] == "Deployment"
    ]
    budgets = [item["spec"] for item in MANIFESTS if item["kind"] == "PodDisruptionBudget"]
    assert len(budgets) == 3
    assert all(budget["selector"]["matchLabels"] in labels for budget in budgets)
