"""Scoring without a service: what the ratios of the service's benchmarks divide by."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from anoncup.competition.parser import parse_competition
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import source_from_secret
from benchmarks.peers.tables import score_all, uploaded

Release = Mapping[str, bytes]


class BareScoring:
    """Reads and evaluates releases in this process, in one thread, with the original prepared once."""

    def __init__(self, file: str, original: pd.DataFrame) -> None:
        rows = len(original)
        files = {"anonymized": table_csv(original)}
        self.first = uploaded(parse_competition(file), original, files, np.arange(rows))

    def score(self, release: Release) -> None:
        """Read a release and its secret, and compute every number of the competition."""
        files = {name: content for name, content in release.items() if name != "secret"}
        rows = len(self.first.tables)
        source = source_from_secret(release["secret"], originals=rows, anonymized=rows)
        score_all(replace(self.first, files=files, source=source))

    def median_seconds(
        self, releases: Iterable[Release], clock: Callable[[], float] = time.process_time
    ) -> float:
        """Return the median seconds of one evaluation, by the given clock."""
        times = []
        for release in releases:
            began = clock()
            self.score(release)
            times.append(clock() - began)
        return statistics.median(times)
