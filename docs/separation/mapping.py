"""The plan of the moves, written by hand: `python mapping.py` makes moves.tsv, splits.tsv and data_moves.tsv.

MOVES: step -> {old path: new path | (new path, note)}; a path that is not named stays where it is.
SPLITS: (step, old module, symbols, new module, reason): top-level names that go to another module than their file.
"""
from __future__ import annotations
import subprocess, sys
from pathlib import Path

REPO = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
OUT = Path(__file__).parent
S = "app/scoring/"
T = S + "tracks/"
A = "anoncup/"
MODEL = "competition"
"""Package of the model of the competition file (what tracks need of it). As in architecture.md: "competition", which then
imports tracks and is imported by them, so that only layers of modules can be checked. With "rules" the packages themselves
are layers: see layers.md, variant B."""
M = A + MODEL + "/"

def many(old: str, new: str, *names: str, **renamed: str) -> dict[str, str]:
    """Modules of one folder into another: `names` keep theirs, `renamed` get new ones."""
    return {f"{old}{n}.py": f"{new}{n}.py" for n in names} | {f"{old}{o}.py": f"{new}{n}.py" for o, n in renamed.items()}

MOVES: dict[str, dict] = {
 "L00-faces": {
    A + f"{n}.py": ("", "delete: a re-export; importers get the real locations (move.py resolves each name)")
    for n in ("judging", "notebooks", "plugin", "settings", "tables", "testing")
 },
 "L01-foundations": {
    "app/errors.py": A + "errors.py",
    "app/messages.py": A + "messages.py",
    "app/deferred.py": (A + "lazy.py", "names.md 48; removed in issue 30"),
 },
 "L02-geometry": many(S, A + "geometry/", "arrays", "encoding", "assignment", magnitude="stable_sums", nearest="nearest_neighbours")
   | {S + "kernels/__init__.py": A + "geometry/kernels/__init__.py"}
   | many(S + "kernels/", A + "geometry/kernels/", "assignment", "baskets", "groups", "pairing", "paths", "trees",
          compiled="compilation", eights="octree_bvh", nearest="gower", neighbours="knn_gower", others="knn_baskets"),
 "L03-tables": many(S, A + "tables/", "csv_text", "shift_jis", foreign_text="foreign_formats", lines="line_numbers", header_lines="header")
   | many(S, A + "tables/profile/", "identifiers", looks="model", looking="counts", headers="header_guess", spreadsheets="locale_formats"),
 "L04-competition-model": {
    S + "settings.py": (M + "settings.py", "one idea with model.py: merge in issue 30"),
    S + "rules.py": (M + "model.py", "needs edit E1 first (breaks the cycle of 20 modules)"),
    S + "timetable.py": M + "rounds.py",
 } | many(S, M, "parameters", "toml_text", "toml_values"),
 "L05-tracks-model": {
    S + "registry.py": A + "tracks/model.py",
    S + "drawn.py": (A + "tracks/model.py", "merge into model.py: Draw and Track name each other's types (cycle of 2); the class becomes Allocation in the renaming step"),
    S + "parts.py": A + "tracks/parts.py",
    S + "outcomes.py": A + "tracks/outcomes.py",
    S + "files.py": (A + "tracks/files.py", "split: what tables need to tables/files.py, column names to tracks/transactions/files.py"),
    S + "draws.py": (A + "tracks/generators.py", "its re-exports of seeds are resolved to tracks/seeds.py"),
    "app/seeds.py": A + "tracks/seeds.py",
 },
 "L06-linkage": {
    S + "permutation.py": A + "tracks/linkage/permutation.py",
    S + "link.py": A + "tracks/linkage/question.py",
    S + "rates.py": (A + "tracks/linkage/attack_rates.py", "split: Rate and what any track needs went to tracks/outcomes.py in L05"),
    S + "methods/merging.py": A + "tracks/linkage/merging.py",
 },
 "L07a-microdata": {
    T + "microdata/__init__.py": (A + "tracks/microdata/__init__.py", "split: columns_of, group_columns to columns.py (cycle with adapter.py)"),
    T + "microdata/steps.py": A + "tracks/microdata/adapter.py",
    S + "tables.py": (A + "tracks/microdata/tables.py", "split: what all tracks use to tables/checks.py (in L03)"),
    S + "release.py": (A + "tracks/microdata/release.py", "split: Memo, once, kept_of_few to tracks/memo.py (in L05)"),
    S + "distances.py": (A + "tracks/microdata/distances.py", "takes PreparedOriginal, so not geometry yet; SMALLEST to geometry/kernels/gower.py (in L02)"),
    S + "all_pairs.py": A + "tracks/microdata/pairwise_distances.py",
    S + "others.py": (A + "tracks/microdata/nearest_neighbours.py", "split: basket_others, _list_empty to tracks/transactions/nearest_neighbours.py"),
    S + "anonymity/__init__.py": ("", "delete: split between the two tracks' registry.py"),
    S + "anonymity/microdata.py": A + "tracks/microdata/anonymity.py",
    S + "utility/__init__.py": ("", "delete: split between the two tracks' registry.py"),
    S + "utility/microdata.py": (A + "tracks/microdata/utility.py", "split: correlations, _correlation to geometry/stable_sums.py (in L02; membership uses it)"),
    S + "methods/__init__.py": ("", "delete: split between the two tracks' registry.py"),
    S + "methods/microdata.py": (A + "tracks/microdata/methods.py", "split: what transactions and the advisor use to tracks/linkage/shuffling.py (in L06)"),
    S + "methods/permutations.py": (A + "tracks/microdata/permutations.py", "split: derangement to tracks/linkage/shuffling.py (in L06)"),
    S + "attackers/__init__.py": ("", "delete: split between the two tracks' registry.py; DENSE_LIMIT to tracks/linkage/parameters.py"),
    S + "attackers/linkage.py": (A + "tracks/microdata/attackers/quasi_identifiers.py", "split: own_row to tracks/linkage/attackers.py (in L06)"),
    S + "synthetic.py": A + "tracks/microdata/example.py",
    S + "column_roles.py": (A + "tracks/microdata/column_roles.py", "split: amounts to tables/profile/identifiers.py (in L03)"),
 } | many(S + "attackers/", A + "tracks/microdata/attackers/", "euclidean", "gower", "ranks", one_to_one="assignment"),
 "L07b-transactions": {
    T + "transactions/__init__.py": A + "tracks/transactions/__init__.py",
    T + "transactions/steps.py": A + "tracks/transactions/adapter.py",
    S + "transaction_tables.py": A + "tracks/transactions/tables.py",
    S + "transaction_release.py": A + "tracks/transactions/release.py",
    S + "baskets.py": A + "tracks/transactions/baskets.py",
    S + "spending.py": A + "tracks/transactions/spending.py",
    S + "data/__init__.py": (A + "tracks/transactions/example.py", "edit E7: files(__name__) -> files(__package__)"),
    S + "anonymity/transactions.py": A + "tracks/transactions/anonymity.py",
    S + "utility/transactions.py": A + "tracks/transactions/utility.py",
    S + "methods/transactions.py": A + "tracks/transactions/methods.py",
    S + "methods/clustering.py": A + "tracks/transactions/clustering.py",
    S + "methods/planning.py": A + "tracks/transactions/cluster_planning.py",
 } | many(S + "attackers/", A + "tracks/transactions/attackers/", "baskets", "records", basket_assignment="assignment", spend="spending"),
 "L07c-monthly": {T + "monthly/__init__.py": A + "tracks/monthly/__init__.py"}
   | many(T + "monthly/", A + "tracks/monthly/", "answer", "attackers", "example", "files", "knowledge", "measures", "methods", "original", "release",
          steps="adapter", cosines="goods_similarity"),
 "L07d-membership": {
    T + "membership/__init__.py": A + "tracks/membership/__init__.py",
    T + "membership/steps.py": (A + "tracks/membership/adapter.py", "split: Original to tables.py (cycle of 2 with answer.py)"),
 } | many(T + "membership/", A + "tracks/membership/", "answer", "attackers", "measures", "methods", "propensity", "questions", "roc", "rows", "schema",
          "settings", "tables", assignment="allocation", fitting="schema_inference", reference="reference_predictor", survey="example"),
 "L08-plugins": {
    S + "reading.py": A + "tracks/uploads.py",
    S + "misplaced.py": A + "tracks/swapped_files.py",
    S + "plugins.py": (A + "plugins.py", "split: Plugin and API to tracks/plugin.py, so that a plug-in's own module does not start the discovery of plug-ins"),
    T + "__init__.py": (A + "plugins.py", "merge: BUILT_IN, INSTALLED and TRACKS stand where they are discovered; not in tracks/__init__.py, which every module of a track imports"),
 },
 "L09-competition": {
    S + "counted.py": (A + "competition/scoring_versions.py", "gets attacker_counts, part_counts, settings_let_count from Rules (edit E1)"),
    S + "requires.py": A + "competition/requirements.py",
    S + "competition_file.py": A + "competition/parser.py",
    S + "templates.py": A + "competition/templates.py",
    S + "drafting.py": A + "competition/drafts.py",
    S + "toml_writing.py": (A + "competition/writer.py", "split: value_text, key_text, table_text to toml_text.py (in L04)"),
    S + "rules_text.py": A + "competition/rules_text.py",
 },
 "L10-excessive": {S + "excessive/__init__.py": A + "excessive/__init__.py"}
   | many(S + "excessive/", A + "excessive/", "advisor", "cycles", "evidence", "gaps", "paths", "question", "simulation", "wrong_secret",
          certified="certified_bounds", sparse="sparse_bounds", chances="fixed_point_odds", check="individual_distances", shortage="insufficient", trials="method_costs"),
 "L11-evaluation": many(S, A + "evaluation/", "evaluate", "ranking", "scales", "fingerprint", attacking="attacks", sampling="samples", fallen="reidentified")
,
 "L12-schemas": {"app/wire/__init__.py": (A + "schemas/__init__.py", "keeps its names: it is the public face of the API types"), "app/roles.py": A + "schemas/roles.py"}
   | many("app/wire/", A + "schemas/", "accounts", "advice", "attacks", "boards", "codes", "competitions", "health", "people", "problems", "rehearsals",
          "reports", "submissions", "verdicts", draws="allocations", form="fields", said="notices", rescores="rejudgings"),
 "L13-testing": many(S, A + "testing/", laws="parts", laws_of_draws="allocations", laws_of_tracks="tracks")
   | {"app/glossary.py": (A + "testing/words.py", "edit E5: reads the catalogues of packages only")},
 "L14-client": {"app/client/__init__.py": A + "client/__init__.py"} | many("app/client/", A + "client/", "organizers", "teams", "transport"),
 "L15-cli": {
    "app/cli/__main__.py": A + "cli/__main__.py",
    "app/cli/main.py": (A + "cli/main.py", "edit E6: the service's commands are added when app is importable"),
    "app/cli/local.py": (A + "cli/score.py", "split: a module for each command"),
    "app/cli/remote.py": (A + "cli/submissions.py", "split: competitions.py, targets.py"),
    "app/cli/sending.py": (A + "cli/submit.py", "split: guess.py"),
    "app/cli/playing.py": (A + "cli/anonymize.py", "split: attack.py"),
    "app/cli/attacking.py": (A + "cli/attacker_runs.py", "loads numbers, so apart from attack.py; merge in issue 30"),
    "app/cli/sampling.py": (A + "cli/sample_methods.py", "merge into anonymize.py in issue 30"),
 } | many("app/cli/", A + "cli/", "connection", "credentials", "login", "options", "organize", "terminal",
          advice="threshold_report", advising="threshold", boards="board", endings="exit_status", fetching="download", files="local_files",
          judging="disqualification", listing="output", packages="plugins", redrawing="draw", rehearsing="rehearsal", rescoring="rejudgings", unpacking="archives"),
 # ---------------------------------------------------------------- the service
 "A01-db": many("app/", "app/db/", "transaction", "logins")
   | {"app/db/might.py": ("app/db/privileges.py", "merge (names.md 2)"), "app/db/models/draws.py": "app/db/models/allocations.py"},
 "A02-storage-crypto": {"app/sealing.py": "app/crypto/sealing.py", "app/witnessing.py": "app/crypto/deadline_signing.py", "app/storage/waiting.py": "app/storage/staging.py"},
 "A03-processes": {
    "app/processes/sandbox/__init__.py": "workers/sandbox/__init__.py",
    "app/processes/child.py": "app/processes/sandboxed_child.py",
    "app/processes/inside.py": "app/processes/child_entry.py",
    "app/processes/folders.py": "app/processes/child_folders.py",
    "app/parser.py": ("workers/parser.py", "a program of a sandboxed child, above the services whose functions it calls: breaks the cycle of 13 modules"),
    "app/memory.py": "app/processes/memory.py",
    "app/local/__init__.py": ("", "delete: merged into app/processes/__init__.py"),
    "app/local/data_folder.py": "app/processes/data_folder.py",
    "app/local/doors.py": "app/processes/pg_hba.py",
    "app/local/embedded.py": "app/processes/embedded_servers.py",
    "app/local/processes.py": "app/processes/supervisor.py",
    "app/local/server.py": "app/processes/server_process.py",
    "app/local/tethered.py": ("app/processes/child_process.py", "is also started by its path (Makefile, itself): must import the standard library only"),
    "app/local/waiting.py": "app/processes/readiness.py",
 } | many("app/processes/sandbox/", "workers/sandbox/", "calls", "kernel", "landlock", "library_paths", "privileges", "scratch", "seccomp"),
 "A04-locale": {"app/language.py": ("app/locale/language.py", "edit E4: FOLDER; the reading of packages' catalogues went to anoncup/catalogues.py in L13")},
 "A05a-jobs": {
    "app/queue.py": "app/services/jobs/queue.py",
    "app/services/work/__init__.py": "app/services/jobs/__init__.py",
 } | many("app/services/work/", "app/services/jobs/", "fairness", "health", "leases", known_files="store_check", upkeep="requeue"),
 "A05b-accounts": {
    "app/services/people/__init__.py": "app/services/accounts/__init__.py",
    "app/services/people/teams.py": ("app/services/accounts/memberships.py", "the teams a person is in: contests needs it, and services/teams is above contests"),
    "app/names/__init__.py": "app/services/accounts/names/__init__.py",
 } | many("app/services/people/", "app/services/accounts/", "accounts", "audit", "passwords"),
 "A05c-contests": {
    "app/contest.py": "app/services/contests/contest.py",
    "app/services/contest/__init__.py": "app/services/contests/__init__.py",
    S + "disclosure.py": ("app/services/contests/disclosure.py", "only the service asks this; the library does not need it"),
    S + "__init__.py": ("", "delete: the package is empty now"),
    S + "notice.py": ("app/services/contests/reveal_schedule.py", "names.md 28; only the service asks this"),
 } | many("app/services/contest/", "app/services/contests/", "announcements", "clarifications", "competitions", "directory", "guess_terms", "phases",
          "revisions", "schedule", "visibility", due_moves="rehearsal_schedule", held="sealed_inputs", previews="dry_run", witnesses="observed_deadlines"),
 "A05d-teams-originals": {
    "app/services/membership/__init__.py": "app/services/teams/__init__.py",
    "app/services/data/__init__.py": "app/services/originals/__init__.py",
 } | many("app/services/membership/", "app/services/teams/", "invites", "members", "organizers")
   | many("app/services/data/", "app/services/originals/", "kit_words", "kits", "originals", "samples", "threshold_reports",
          draws="allocations", first_looks="original_import", truths="organizer_data"),
 "A05e-boards-attacks": many("app/services/boards/", "app/services/boards/", attack_history="attack_timeline", attacks_on="submission_attacks",
          comparable="version_filter", course="timeline_steps", history="board_timeline", happening="board_events", in_force="effective_evaluations",
          places="standing_forecast", trials="best_guesses")
   | many("app/services/attacks/", "app/services/attacks/", drawing="allocation", transitions="contest_lifecycle"),
 "A05f-organizing": {"app/services/desk/__init__.py": "app/services/organizing/__init__.py"}
   | many("app/services/desk/", "app/services/organizing/", "baselines", "dashboard", "exports", "load", "rehearsals",
          consequences="dry_run", moves="rehearsal_moves", rehearsal_course="rehearsal_progress", rescores="rejudgings", rulings="disqualification"),
 "A06-http": many("app/", "app/http/", "redis_client", "throttle", turns="redis_lock")
   | many("app/http/", "app/http/", bodies="multipart", confirming="step_up", dependencies="authentication", intake="uploads", live="progress_stream",
          shelf="disk_cache", unchanged="board_cache"),
 "A07-api": many("app/api/", "app/api/", draws="allocations", oversight="audit_and_health", rescores="rejudgings")
   | {"app/api/documentation/answers.py": "app/api/documentation/responses.py"},
 "A08-charts": {"app/charts/words.py": ("app/charts/text.py", ""), "app/charts/worded.py": ("app/charts/text.py", "merge (names.md 55)")}
   | many("app/charts/", "app/charts/", clock="time_axis", course="timeline", labels="label_placement", errors="threshold_errors"),
 "A09-web": many("app/web/organizer/", "app/web/organizer/", advice="threshold_report", changes="audit_entries", choosing="column_roles", naming="header_repair_form",
          repaired="header_repair", oversight="audit_and_health", rescores="rejudgings", rulings="disqualification", steps="setup_steps", whole_file="file_editor")
   | many("app/web/site/", "app/web/site/", course="timeline_chart", languages="language", letters="raster", packed_files="static_files")
   | many("app/web/team/", "app/web/team/", mistakes="upload_hints", on_board="board_position")
   | many("app/web/visitor/", "app/web/visitor/", kept="board_access", leading="leader_text", next_step="call_to_action", own_standing="your_rank"),
 "A10-cli": {
    "app/cli/operate.py": ("app/cli/service_options.py", "split: a module for each command; what is left are the options they share"),
    "app/cli/keeping.py": ("app/cli/keys.py", "split: backup, restore to app/cli/backup/"),
    "app/cli/demonstration.py": "app/cli/demo_contest.py",
    "app/cli/duel.py": "app/cli/demo_attacks.py",
    "app/cli/reaching.py": "app/cli/service_access.py",
    "app/cli/running.py": "app/cli/local_service.py",
    "app/serving.py": ("app/cli/web_server.py", "a program that loads app.main: above it"),
    "app/backup/__init__.py": "app/cli/backup/__init__.py",
 } | many("app/backup/", "app/cli/backup/", "archive", "keys", "rows", "service"),
 "A11-workers": many("workers/", "workers/", child="child_manager", crew="transition_pool", drawing="allocate", fitness="readiness", forms="job_schema", guesses="judge",
          leased="lease_runner", prepared="original_cache", rehearsals="rehearse", scoring="score", threshold_reports="advise", transitions="lifecycle", work="jobs"),
}

# What belongs together as one module afterwards, left to issue 30.
LATER = {
 "app/web/visitor/leader.py": "merge with leader_text.py in issue 30", "app/services/boards/course.py": "names.md 11: merge into board_timeline.py in issue 30",
 "app/http/unchanged.py": "architecture: services/boards/cache in issue 30 (now it imports http.compression and http.authentication)",
 "app/http/shelf.py": "part of services/boards/cache in issue 30", "app/db/snapshot.py": "part of services/boards/cache in issue 30",
 "app/web/visitor/kept.py": "part of services/boards/cache in issue 30",
 "app/services/attacks/transitions.py": "services/contests/lifecycle in issue 30 (now it imports submissions and attacks)",
 "app/web/organizer/naming.py": "merge with header_repair.py in issue 30",
 "workers/forked.py": "removed in issue 30", "workers/pool.py": "removed in issue 30", "app/cli/running.py": "module of serve in issue 30",
 "app/serving.py": "removed in issue 30 (uvicorn's own workers)", "app/services/contest/witnesses.py": "part of contests/reveal in issue 30",
}

# (step, old module, names, new module, reason). Names are top-level names of the old module, before any renaming.
R = "app.scoring."
AN = "anoncup."
SPLITS: list[tuple[str, str, str, str, str]] = [
 ("L06-linkage", R + "attackers", "DENSE_LIMIT _dense_limit", AN + "tracks.linkage.parameters", "attackers import the package that lists them (cycle by strings); made by registries.py"),
 ("L06-linkage", R + "methods", "_share _each _never _SHARES", AN + "tracks.linkage.parameters", "both tracks' lists use them; made by registries.py"),
 ("L02-geometry", R + "distances", "SMALLEST", AN + "geometry.kernels.gower", "membership needs nothing else of microdata's distances"),
 ("L02-geometry", R + "utility.microdata", "correlations _correlation", AN + "geometry.stable_sums", "two tracks use it"),
 ("L03-tables", R + "files", "MAX_ROWS MAX_CELL Remark missing_file too_large", AN + "tables.files", "reading of files is below competition and tracks; FileSpec names Rules"),
 ("L03-tables", R + "tables", "check_rows named_twice is_respelled respelled", AN + "tables.checks", "all four tracks use them"),
 ("L03-tables", R + "column_roles", "amounts", AN + "tables.profile.identifiers", "membership uses it; the rest is microdata's"),
 ("L04-competition-model", R + "toml_writing", "value_text key_text table_text", AN + MODEL + ".toml_text", "a track's fitting writes tables; the writer knows Track"),
 ("L05-tracks-model", R + "rates", "NORMAL_95 Rate rate_of_outcome wilson", AN + "tracks.outcomes", "the model of a track needs a Rate; the linkage question does not belong to all"),
 ("L05-tracks-model", R + "release", "Value Memo once kept_of_few", AN + "tracks.memo", "all tracks keep what they derive"),
 ("L05-tracks-model", R + "files", "CUSTOMER_COLUMNS TRANSACTION_COLUMNS CUSTOMER_LINES TRANSACTION_LINES MASTER", AN + "tracks.transactions.files", "a track's own"),
 ("L06-linkage", R + "methods.microdata", "equivalence_classes shuffled_within shuffler ordered_within", AN + "tracks.linkage.shuffling", "both linkage tracks and the advisor use them"),
 ("L06-linkage", R + "methods.permutations", "derangement", AN + "tracks.linkage.shuffling", "both linkage tracks and the advisor use it"),
 ("L06-linkage", R + "attackers.linkage", "own_row", AN + "tracks.linkage.attackers", "both linkage tracks list it (edit E2: a protocol instead of the two targets)"),
 ("L07a-microdata", R + "tracks.microdata", "columns_of group_columns", AN + "tracks.microdata.columns", "adapter imports the package that names it (cycle by strings)"),
 ("L07a-microdata", R + "others", "basket_others _list_empty", AN + "tracks.transactions.nearest_neighbours", "another track's"),
 ("L07d-membership", R + "tracks.membership.steps", "Original", AN + "tracks.membership.tables", "answer and steps import each other (types)"),
 ("L08-plugins", R + "plugins", "API Formulas Plugin", AN + "tracks.plugin", "a plug-in's module is imported while plug-ins are discovered: it must not import plugins.py"),
 ("L15-cli", "app.cli.local", "template", AN + "cli.template", "the module of a command has its name"),
 ("L15-cli", "app.cli.local", "CREDIT generate written", AN + "cli.generate", "the module of a command has its name"),
 ("L15-cli", "app.cli.local", "tc400", AN + "cli.tc400", "the module of a command has its name"),
 ("L15-cli", "app.cli.local", "scales", AN + "cli.scales", "the module of a command has its name"),
 ("L15-cli", "app.cli.local", "VIOLATIONS check checked_here checked_by_service slug_of", AN + "cli.check", "the module of a command has its name"),
 ("L15-cli", "app.cli.playing", "attack", AN + "cli.attack", "the module of a command has its name"),
 ("L15-cli", "app.cli.sending", "guess Asked GUESSED named_target folder_of_guesses identifiers handed_in sent", AN + "cli.guess", "the module of a command has its name"),
 ("L15-cli", "app.cli.remote", "competitions announcements", AN + "cli.competitions", "the module of a command has its name"),
 ("L15-cli", "app.cli.remote", "targets guesses", AN + "cli.targets", "the module of a command has its name"),
 ("A01-db", "app.services.work.leases", "clock", "app.db.now", "names.md 29; the function becomes now() in the renaming step"),
 ("L13-testing", "app.language", "ADDED compiled", AN + "catalogues", "packages' catalogues are read by the library's contract tests too"),
 ("A10-cli", "app.cli.operate", "demo play_demo", "app.cli.demo", "the module of a command has its name"),
 ("A10-cli", "app.cli.operate", "serve tell_steps", "app.cli.serve", "the module of a command has its name"),
 ("A10-cli", "app.cli.operate", "worker", "app.cli.worker", "the module of a command has its name"),
 ("A10-cli", "app.cli.operate", "scheduler", "app.cli.scheduler", "the module of a command has its name"),
 ("A10-cli", "app.cli.operate", "migrate", "app.cli.migrate", "the module of a command has its name"),
 ("A10-cli", "app.cli.operate", "admin create_user", "app.cli.admin", "the module of a command has its name"),
 ("A10-cli", "app.cli.operate", "keys create_keys", "app.cli.keys", "the module of a command has its name"),
 ("A10-cli", "app.cli.keeping", "backup restore", "app.cli.backup.command", "the module of a command has its name"),
 ("A10-cli", "app.cli.keeping", "Into Replace Archive Public PrivateDir key_places", "app.cli.service_options", "backup and keys share them"),
]

# The registries of microdata and transactions: four lists in four packages become one module in each track.
_M, _X = AN + "tracks.microdata.registry", AN + "tracks.transactions.registry"
for _module, _mine, _theirs in (
    ("utility", "UTILITIES _columns _target", "TRANSACTION_UTILITIES"),
    ("anonymity", "ANONYMITY", "CUSTOMER_ANONYMITY"),
    ("attackers", "_quasi _sensitive _column _give_up ATTACKERS", "TRANSACTION_ATTACKERS"),
    ("methods", "_columns _more_columns METHODS", "_master _clusters _fewer_clusters TRANSACTION_METHODS"),
):
    SPLITS.append(("L07a-microdata", R + _module, _mine, _M, "registry (made by registries.py, not by the splitter)"))
    SPLITS.append(("L07a-microdata", R + _module, _theirs, _X, "registry (made by registries.py, not by the splitter)"))

DATA: list[tuple[str, str, str, str]] = [
 ("L07a-microdata", T + "microdata/2015.toml", A + "tracks/microdata/2015.toml", "files(__name__) of the package: unchanged"),
 ("L07b-transactions", T + "transactions/2016.toml", A + "tracks/transactions/2016.toml", "files(__name__) of the package: unchanged"),
 ("L07b-transactions", S + "data/tc400.parquet", A + "tracks/transactions/tc400.parquet", "edit E7; .dockerignore, NOTICE and docs name the folder"),
 ("L07b-transactions", S + "data/README.md", A + "tracks/transactions/README.md", "NOTICE line 15"),
 ("L07c-monthly", T + "monthly/2017.toml", A + "tracks/monthly/2017.toml", "files(__name__) of the package: unchanged"),
 ("L07d-membership", T + "membership/membership.toml", A + "tracks/membership/membership.toml", "files(__name__) of the package: unchanged"),
 ("A05b-accounts", "app/names/confusables.tsv", "app/services/accounts/names/confusables.tsv", "files(__name__) of the package: unchanged; fold.js names the folder"),
 ("A05b-accounts", "app/names/README.md", "app/services/accounts/names/README.md", ""),
 ("A05b-accounts", "app/names/UNICODE-LICENSE.txt", "app/services/accounts/names/UNICODE-LICENSE.txt", "pyproject license-files, NOTICE, tests/test_papers.py (rglob below app)"),
 ("-", "anoncup/py.typed", "anoncup/py.typed", "stays"),
 ("-", "app/py.typed", "app/py.typed", "stays (mypy of the checkout); no longer in the wheel"),
 ("-", "app/locale/ja/LC_MESSAGES/anoncup.po", "app/locale/ja/LC_MESSAGES/anoncup.po", "stays; run `make words` after each L and A step: its #: lines name files. From L01 on tests/catalogues.py must extract from anoncup too (edit E8)"),
]

# Docstrings of packages and modules that are new.
NEW = {
 AN + "geometry": "Arrays, distances, nearest neighbours and assignment; the compiled loops are in ``kernels``.",
 AN + "tables": "Reading files of strangers: CSV, encodings, line numbers.",
 AN + "tables.files": "Limits of files, and remarks on files that are accepted.",
 AN + "tables.checks": "Checks of rows and cells that all tracks share.",
 AN + "tables.profile": "The data profile of a table: identifying columns, header, counts, spelling of numbers.",
 AN + "rules": "What a competition file says: the model, its values, parameters and rounds.",
 AN + "competition": "The competition file: model, parser, writer, parameters, rounds, templates.",
 AN + "tracks": "The tracks: kinds of contests, each a package; ``anoncup.plugins`` lists them.",
 AN + "tracks.plugin": "What an installed package brings: tracks, measures, attackers and methods.",
 AN + "tracks.memo": "Values that are derived once and kept.",
 AN + "tracks.linkage": "Shared by the tracks that ask which original row a released row comes from.",
 AN + "tracks.linkage.shuffling": "Random permutations: within groups, and without fixed points.",
 AN + "tracks.linkage.parameters": "Parameters and strengths that attackers and methods of the linkage tracks share.",
 AN + "tracks.linkage.attackers": "Attackers that any linkage track can list.",
 AN + "tracks.microdata.columns": "The roles of the columns of a microdata competition.",
 AN + "tracks.microdata.attackers": "Attackers on microdata.",
 AN + "tracks.microdata.registry": "The measures, attackers and methods of the microdata track by name.",
 AN + "tracks.transactions.attackers": "Attackers on transactions.",
 AN + "tracks.transactions.files": "Columns and first lines of the files of the transactions track.",
 AN + "tracks.transactions.nearest_neighbours": "The nearest other customers by their baskets, as lists.",
 AN + "tracks.transactions.registry": "The measures, attackers and methods of the transactions track by name.",
 AN + "evaluation": "Evaluation of a release: measures, attackers, scales, ranking, fingerprint.",
 AN + "testing": "Contract tests for tracks and their parts, for authors of plug-ins and for us.",
 AN + "catalogues": "Catalogues of texts that installed packages bring.",
 AN + "cli": "The command line: commands for teams and organizers.",
 AN + "cli.template": "``anoncup template``: a complete competition file to start from.",
 AN + "cli.generate": "``anoncup generate``: example data of a track.",
 AN + "cli.tc400": "``anoncup tc400``: the data of PWS Cup 2016.",
 AN + "cli.scales": "``anoncup scales``: the scales of utility scores, computed from an original.",
 AN + "cli.check": "``anoncup check``: whether a release is well-formed and within the rules.",
 AN + "cli.attack": "``anoncup attack``: the built-in attackers on a release.",
 AN + "cli.guess": "``anoncup guess``: guesses on targets.",
 AN + "cli.competitions": "``anoncup competitions`` and ``anoncup announcements``.",
 AN + "cli.targets": "``anoncup targets`` and ``anoncup guesses``.",
 "app.crypto": "Sealing of secrets and signing of observed deadlines.",
 "app.db.now": "The database's clock.",
 "app.locale": "The languages of the service and their gettext catalogues.",
 "app.cli.demo": "``anoncup demo``: a service with a contest that sample teams play.",
 "app.cli.serve": "``anoncup serve``: the whole service, or its web server.",
 "app.cli.worker": "``anoncup worker``: scores, guesses and reports.",
 "app.cli.scheduler": "``anoncup scheduler``: the clock.",
 "app.cli.migrate": "``anoncup migrate``: bring the database to the newest schema.",
 "app.cli.admin": "``anoncup admin``: accounts, from the machine that runs the service.",
 "app.cli.keys": "``anoncup keys``: the keys that seal secrets and sign deadlines.",
 "app.cli.backup.command": "``anoncup backup`` and ``anoncup restore``.",
}

def planned() -> dict[str, tuple[str, str, str]]:
    """old path -> (new path, step, note), for every module of app, anoncup and workers."""
    found: dict[str, tuple[str, str, str]] = {}
    for step, rows in MOVES.items():
        for old, new in rows.items():
            path, note = new if isinstance(new, tuple) else (new, "")
            assert old not in found, old
            found[old] = (path, step, note)
    return found

def main() -> None:
    files = subprocess.check_output(["git", "ls-files", "app/*.py", "anoncup/*.py", "workers/*.py"], cwd=REPO, text=True).split()
    plan = planned()
    unknown = sorted(set(plan) - set(files))
    split = {}
    for step, old, names, new, reason in SPLITS:
        split.setdefault(old, []).append(f"{names.replace(' ', ', ')} -> {new}")
    lines = ["old\tnew\tstep\tnote"]
    for old in files:
        new, step, note = plan.get(old, (old, "-", ""))
        module = old[:-3].removesuffix("/__init__").replace("/", ".")
        notes = [note, LATER.get(old, "")]
        if module in split and "registry (" not in "".join(split[module]):
            notes.append("split: " + "; ".join(split[module]))
        lines.append("\t".join((old, new or "(deleted)", step, " | ".join(n for n in notes if n))))
    (OUT / "moves.tsv").write_text("\n".join(lines) + "\n")
    (OUT / "splits.tsv").write_text("step\told_module\tnames\tnew_module\treason\n" + "".join("\t".join(one) + "\n" for one in SPLITS))
    (OUT / "data_moves.tsv").write_text("step\told\tnew\tnote\n" + "".join("\t".join(one) + "\n" for one in DATA))
    print(len(files), "modules;", sum(1 for f in files if plan.get(f, (f,))[0] != f), "move;", len(SPLITS), "splits")
    emptied = ("app/scoring/", "app/wire/", "app/client/", "app/local/", "app/backup/", "app/names/", "app/processes/sandbox/",
               *(f"app/services/{r}/" for r in ("contest", "data", "desk", "membership", "people", "work")))
    stay = {"app/__init__.py", "app/main.py", "app/config.py", "app/logs.py", "anoncup/__init__.py"}
    homeless = [f for f in files if f not in plan and f not in stay and (f.startswith(emptied) or f.count("/") == 1 and not f.startswith("workers/"))]
    if homeless: sys.exit("new modules that need a row in MOVES: " + " ".join(homeless))
    if unknown: sys.exit("not in the repository: " + " ".join(unknown))

if __name__ == "__main__":
    main()
