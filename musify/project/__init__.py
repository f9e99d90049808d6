"""The run as a whole: which files, the names they get, what they say of each other, where results go."""
