"""Contests, accounts, servers, clients and reference tables that several tests use."""
