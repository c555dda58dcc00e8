"""Orders within groups are exact, although sums of groups and fractions are rounded."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anoncup.tracks.linkage import shuffling


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1e-300, 0.25, 0.5, 1 - 2**-53])), max_size=12)
)
def test_order_within_groups_is_exact_despite_rounding(rows: list[tuple[int, float]]) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    shares = np.array([share for _, share in rows])
    expected = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert shuffling._order_within_groups(groups, shares).tolist() == expected
