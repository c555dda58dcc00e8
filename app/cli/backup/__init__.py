"""Copies of a whole service, and of its keys, that another machine can be brought up from."""
