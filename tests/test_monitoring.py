"""deploy/grafana and deploy/prometheus use metrics that a running service has."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.config import Settings
from app.core.db.transaction import transaction
from app.jobs import health

ROOT = Path(__file__).parent.parent
RULES_FILE = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "anoncup.json").read_text())
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES_FILE.read_text())["groups"][0]["rules"]
GRAFANA_VARIABLES = {"$__rate_interval": "5m", "$__interval": "5m", "$job": "anoncup"}
OTHER_METRICS = {"up"}
"""Metrics that Prometheus adds."""
TARGET_LABELS = {"job", "instance"}
"""Labels that Prometheus adds."""


def list_dashboard_expressions() -> list[str]:
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    for variable, value in GRAFANA_VARIABLES.items():
        expressions = [expression.replace(variable, value) for expression in expressions]
    return expressions


EXPRESSIONS = [*list_dashboard_expressions(), *(alert["expr"] for alert in ALERTS)]


def iterate_selectors(expression: str) -> Iterator[promql_parser.VectorSelector]:
    """Yield the metrics with labels that an expression reads."""
    selectors: list[promql_parser.VectorSelector] = []

    def visit(node: object) -> bool:
        if isinstance(node, promql_parser.MatrixSelector):
            selectors.append(node.vector_selector)
        elif isinstance(node, promql_parser.VectorSelector):
            selectors.append(node)
        return True

    promql_parser.walk(promql_parser.parse(expression), visit)
    yield from selectors


@pytest.fixture
def labels_by_metric(settings: Settings, server: str) -> dict[str, set[str]]:
    """The metrics of a running web server whose clock has run, each with its labels."""
    with transaction() as session:
        health.record_heartbeat(session, health.TRANSITION_TASK)
        health.record_heartbeat(session, health.SWEEP_TASK)
    httpx2.get(f"{server}/api/v1/competitions").raise_for_status()
    text = httpx2.get(f"{server}/metrics").raise_for_status().text
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.full
def test_expressions_use_existing_metrics_and_labels(labels_by_metric: dict[str, set[str]]) -> None:
    selectors = [selector for text in EXPRESSIONS for selector in iterate_selectors(text)]
    assert len(selectors) >= len(EXPRESSIONS)
    for selector in selectors:
        assert selector.name is not None
        if selector.name in OTHER_METRICS:
            continue
        assert selector.name in labels_by_metric
        used_labels = {matcher.name for matcher in selector.matchers.matchers} - TARGET_LABELS
        assert used_labels <= labels_by_metric[selector.name], selector


def test_every_metric_of_ours_is_shown(labels_by_metric: dict[str, set[str]]) -> None:
    shown_names = {
        selector.name for text in list_dashboard_expressions() for selector in iterate_selectors(text)
    }
    own_names = {name for name in labels_by_metric if name.startswith("anoncup_")}
    assert {name for name in own_names if not name.endswith("_created")} <= shown_names


def test_documentation_explains_every_alert() -> None:
    page = (ROOT / "docs" / "operate.md").read_text("utf-8")
    assert re.findall(r"^\| `(Anoncup\w+)` \|", page, re.MULTILINE) == [alert["alert"] for alert in ALERTS]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool")
def test_alerts_fire_in_prometheus() -> None:
    command = ["promtool", "test", "rules", str(ROOT / "tests" / "prometheus" / "alerts_test.yml")]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    tested_alerts = re.findall(
        r"alertname: (\w+)", (ROOT / "tests" / "prometheus" / "alerts_test.yml").read_text()
    )
    assert {alert["alert"] for alert in ALERTS} == set(tested_alerts)
