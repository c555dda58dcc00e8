"""One program for everything that reads untrusted bytes or runs the code of packages (Linux only).

``python -m anoncup.runner`` is the *template*: it has an empty environment and no secret, imports the
library, and forks a child for each job. A child limits itself, enters the sandbox, and only then imports
packages and reads the job. A ``Runner`` starts a template, sends it jobs and checks their results. Jobs and
results are pydantic models, written as JSON to files in memory, of which the template sees descriptors only.
"""
