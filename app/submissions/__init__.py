"""Uploads of releases: attempts, quota, evaluations, finals."""
