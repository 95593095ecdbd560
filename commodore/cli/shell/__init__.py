"""The parts of the command line that every command uses: console, options, help, completion, interruption."""
