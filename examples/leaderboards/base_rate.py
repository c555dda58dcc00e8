"""The share of right answers rewards guesses that need no release. A corrected score does not.

Attackers guess the disease of each member of a health survey. Only the last two of them look at the release.
"""

import io

import numpy as np
import pandas as pd

import anoncup
from anoncup.tracks.model import ReleaseContext

QUESTION = '[questions.attribute]\nhidden = "disease"\n'
track = anoncup.TRACKS["membership"]
rules = anoncup.parse_competition(anoncup.template("membership") + QUESTION)

# The organizers: publish the candidates without diseases. Every other one is a member of the table.
survey = pd.read_csv(io.BytesIO(track.examples.make_data(rules, 1000, 1)["candidates"]))
hidden = survey[["disease"]].to_csv(index=False).encode()
candidates = survey.drop(columns="disease").to_csv(index=False).encode()
original, _ = track.parse_original({"candidates": candidates}, rules)
sizes = {"originals": 1000, "rows": 500}
context = ReleaseContext(rules, sizes, lambda: original, organizer_files={"hidden": hidden})
members = survey.iloc[::2].assign(candidate=range(1, 1001, 2))
members = members[["candidate", *survey]].to_csv(index=False).encode()
answer = track.answer_spec.read(members, context)


def look_up(strength):
    """Return for each candidate the disease in the closest row of a release with this much noise."""
    method, rng = track.methods["noise"], np.random.default_rng(1)
    release, _ = track.anonymize(method, original, rules, rng, {"strength": strength}, answer=answer)
    released = pd.read_csv(io.BytesIO(track.files_of(release)["released"]))
    deviations = survey.select_dtypes("number").std()
    people, rows = ((table[deviations.index] / deviations).to_numpy() for table in (survey, released))
    return released["disease"].to_numpy()[((people[:, None] - rows) ** 2).sum(axis=2).argmin(axis=1)]


guesses = {
    "one of five, at random": np.random.default_rng(1).choice(survey["disease"].unique(), 1000),
    "none, for everybody": np.full(1000, "none"),
    "hypertension above 135 mmHg": np.where(survey["systolic"] > 135, "hypertension", "none"),
    "closest row, much noise": look_up(1.0),
    "closest row, little noise": look_up(0.1),
}
question = track.questions["attribute"]
print(f"{'guess':<27}  share right  corrected score")
for name, diseases in guesses.items():
    guess = question.read(pd.Series(diseases, name="disease").to_csv(index=False).encode(), context)
    outcome = question.judge(guess, answer, context, hidden="disease")
    print(f"{name:<27}  {outcome.details['members']:11.3f}  {outcome.value:15.3f}")
