"""What a user may do beyond taking part."""

from enum import StrEnum


class Role(StrEnum):
    ADMINISTRATOR = "administrator"
    ORGANIZER = "organizer"
    PARTICIPANT = "participant"
