"""A bound says how many customers a false claim may leave in place and still be rejected.

A team may hand in the original data and claim that customers made each other's purchases. No total changes,
and attackers find only the customers left in place.
"""

import numpy as np

import anoncup

rules = anoncup.parse_competition(anoncup.template(2016))
tables = anoncup.load_tc400()
original = anoncup.TransactionOriginal(tables)
distance = anoncup.TRACKS["transactions"].distances[rules.excessive.distance]
matrix, nearest = distance.matrix(original), distance.nearest_other(original)
customers, threshold = len(matrix), rules.excessive.threshold


def claim(permutation):
    """Score the original data with a permutation as the secret."""
    files = {"customers": tables.customers, "transactions": tables.transactions}
    return anoncup.score(files, files, permutation, competition=rules)


groups = tables.customers.groupby(["sex", "country"], sort=False).ngroup().to_numpy()
random = np.random.default_rng(1).permutation(customers)
within_groups = np.empty(customers, dtype=np.int64)
within_groups[np.argsort(groups, kind="stable")] = random[np.argsort(groups[random], kind="stable")]
claims = {"cheapest": anoncup.find_cheapest_derangement(matrix), "random": random, "in groups": within_groups}

print(f"Claims about {customers} customers; threshold {threshold}")
print("claim      in place  at least  mean distance        U       E")
for name, permutation in claims.items():
    in_place = int((permutation == np.arange(customers)).sum())
    bound, score = anoncup.s_lower(nearest, in_place) / customers, claim(permutation)
    result = f"{score.verdict.excessive.mean:.4f} {score.verdict.verdict}"
    print(f"{name:<9}  {in_place:8}  {bound:8.4f}  {result}  {score.utility:.4f}  {score.security:.4f}")
rejected = max(r for r in range(customers) if anoncup.s_lower(nearest, r) / customers > threshold)
print(f"Every claim that leaves up to {rejected} customers in place is rejected.")
