"""One file a command; imported when the command runs, so that ``--help`` stays quick."""
