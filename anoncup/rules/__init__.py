"""The rules of a competition: the data model of its file, parameters and timetable."""
