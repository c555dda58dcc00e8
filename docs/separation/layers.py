"""The proposed layers, lowest first; one entry is one layer, of modules that do not import each other."""
from mapping import MODEL

ANONCUP: list[tuple[str, ...]] = [
    ("anoncup.messages",),
    ("anoncup.errors",),
    ("anoncup.lazy", "anoncup.catalogues"),
    ("anoncup.schemas",),
    ("anoncup.client",),
    ("anoncup.geometry",),
    ("anoncup.tables",),
    (f"anoncup.{MODEL}.toml_text", f"anoncup.{MODEL}.toml_values", f"anoncup.{MODEL}.settings"),
    (f"anoncup.{MODEL}.model", f"anoncup.{MODEL}.parameters", f"anoncup.{MODEL}.rounds"),
    ("anoncup.tracks.seeds", "anoncup.tracks.memo", "anoncup.tracks.outcomes", "anoncup.tracks.files", "anoncup.tracks.parts"),
    ("anoncup.tracks.generators", "anoncup.tracks.model"),
    ("anoncup.tracks.swapped_files",),
    ("anoncup.tracks.uploads",),
    ("anoncup.competition.writer", "anoncup.competition.rules_text"),
    ("anoncup.tracks.linkage",),
    ("anoncup.tracks.microdata", "anoncup.tracks.transactions", "anoncup.tracks.membership"),
    ("anoncup.tracks.monthly",),
    ("anoncup.tracks.plugin",),
    ("anoncup.plugins",),
    ("anoncup.competition.scoring_versions", "anoncup.competition.requirements", "anoncup.competition.templates"),
    ("anoncup.competition.parser",),
    ("anoncup.competition.drafts",),
    ("anoncup.excessive",),
    ("anoncup.evaluation",),
    ("anoncup.testing", "anoncup.cli"),
]
SERVICE: list[tuple[str, ...]] = [
    ("workers.sandbox",),
    ("app.config", "app.logs"),
    ("app.locale",),
    ("app.crypto",),
    ("app.db",),
    ("migrations", "app.storage"),
    ("app.processes",),
    ("app.services",),
    ("app.http", "app.charts"),
    ("app.api", "app.web"),
    ("app.main",),
    ("workers",),
    ("app.cli",),
]
ROOMS = [  # of app.services, lowest first
    ("jobs",), ("accounts",), ("contests",), ("teams", "originals"), ("submissions",), ("boards",), ("attacks",), ("organizing",),
]
