#!/bin/sh
# usage: run_steps.sh REPO STEP…   (A,B = both in one go) carries out the steps one after the other, each in a commit of its own; stops at the first fault.
set -eu
here=$(dirname "$(readlink -f "$0")"); repo=$1; shift
for step in "$@"; do
  PYTHONDONTWRITEBYTECODE=1 "$here/venv/bin/python" "$here/move.py" "$repo" $(echo "$step" | tr , " ")
  git -C "$repo" add -A
  git -C "$repo" commit -q --no-verify -m "Move $step"
done
