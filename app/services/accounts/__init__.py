"""Accounts of people, the teams they belong to, and the audit log."""
