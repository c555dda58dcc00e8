"""Submissions: receive uploads, enforce quotas, accept, evaluate, and mark finals."""
