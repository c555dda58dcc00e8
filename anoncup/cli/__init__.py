"""The command line: commands for teams and organizers.

Every command imports all of these modules. Functions therefore import numeric packages, and the client of the
API, only when they need them.
"""
