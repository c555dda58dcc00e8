"""The model of a competition file, its values, parameters and timetable."""
