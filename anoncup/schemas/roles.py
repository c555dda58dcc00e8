"""Roles of users."""

from enum import StrEnum


class Role(StrEnum):
    ADMINISTRATOR = "administrator"
    ORGANIZER = "organizer"
    PARTICIPANT = "participant"
