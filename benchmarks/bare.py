"""Score releases without a service, as the baseline for the ratios of the service benchmarks."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from anoncup.competition.parser import parse_competition
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import parse_secret
from anoncup.tracks.microdata.columns import require_columns
from anoncup.tracks.microdata.release import MicrodataOriginal
from benchmarks.peers.tables import prepare_upload, score_all

Release = Mapping[str, bytes]


class BareScorer:
    """Parses and scores releases in this process, in one thread. The original is prepared only once."""

    def __init__(self, competition_file: str, original: pd.DataFrame) -> None:
        rows = len(original)
        files = {"anonymized": write_csv(original)}
        rules = parse_competition(competition_file)
        self.prepared_upload = prepare_upload(
            rules, MicrodataOriginal(original, require_columns(rules)), files, np.arange(rows)
        )

    def score(self, release: Release) -> None:
        """Parse a release and its secret, and compute all measures and attackers of the competition."""
        files = {name: content for name, content in release.items() if name != "secret"}
        rows = self.prepared_upload.original.rows
        source = parse_secret(release["secret"], original_count=rows, anonymized_count=rows)
        score_all(replace(self.prepared_upload, files=files, source=source))

    def measure_median_seconds(
        self, releases: Iterable[Release], clock: Callable[[], float] = time.process_time
    ) -> float:
        """Return the median seconds of one evaluation, by the given clock."""
        times = []
        for release in releases:
            start = clock()
            self.score(release)
            times.append(clock() - start)
        return statistics.median(times)
