"""One exact score that depends on the secret solves 36 pairs of rows; with four decimals it does not.

The rows of a release come in pairs: everybody sees that two rows of the release belong to two rows of the
original, and only the team knows which belongs to which. The board shows the information loss of the release.
"""

import numpy as np

import anoncup

PAIRS, HALF = 36, 18
SUM_ERROR = 1e-15  # rounding error of a sum of 36 losses


def measure(crossed):
    """Return the information loss if the two rows of each crossed pair are exchanged."""
    source = np.arange(2 * PAIRS).reshape(PAIRS, 2)
    source[crossed] = source[crossed, ::-1]
    release = anoncup.build_release(original, released, source.ravel())
    return anoncup.UTILITIES["information_loss"].compute(release)


def list_sums(steps):
    """Return all patterns of crossed pairs, and what each adds to the loss, in ascending order."""
    patterns = (np.arange(1 << len(steps))[:, None] >> np.arange(len(steps)) & 1).astype(bool)
    sums = patterns @ steps
    order = np.argsort(sums)
    return patterns[order], sums[order]


# The team: each row of a pair gets cells of both rows. The secret is which pairs are crossed.
rng = np.random.default_rng(1)
columns = anoncup.get_household_columns()
original = anoncup.MicrodataOriginal(anoncup.generate_households(2 * PAIRS), columns)
cells = original.table[list(columns.sensitive)]
mixed = rng.permuted(cells.to_numpy().reshape(PAIRS, 2, -1), axis=1).reshape(cells.shape)
released = original.table.assign(**dict(zip(cells, mixed.T, strict=True)))
secret = rng.random(PAIRS) < 0.5
board = measure(secret)

# The attacker: measure what each pair adds, list the sums of each half, and look for two that make the score.
straight = measure(np.zeros(PAIRS, bool))
steps = np.array([measure(np.arange(PAIRS) == pair) - straight for pair in range(PAIRS)])
(patterns, sums), (other_patterns, other_sums) = list_sums(steps[:HALF]), list_sums(steps[HALF:])
print("decimals  secrets that fit  bits known  pairs right")
for digits in (None, 12, 10, 8, 6, 4):
    score, width = (board, SUM_ERROR) if digits is None else (round(board, digits), 0.5 * 10.0**-digits)
    first, last = (np.searchsorted(other_sums, score - straight - sums + side) for side in (-width, width))
    changes = np.bincount(first, minlength=len(sums) + 1) - np.bincount(last, minlength=len(sums) + 1)
    counts, other_counts = last - first, np.cumsum(changes)[:-1]
    fitting = int(counts.sum())
    shares = np.concatenate([counts @ patterns, other_counts @ other_patterns]) / fitting
    right = int(((shares > 0.5) == secret).sum())
    print(f"{digits or 'all':>8}  {fitting:16,}  {PAIRS - np.log2(fitting):10.1f}  {right:>2} of {PAIRS}")
