"""The queues of workers."""

QUEUE_BY_KIND = {"scores": "celery", "guesses": "guesses", "reports": "reports"}
"""Celery queue of each kind of job. Separate queues keep one kind from delaying another."""
