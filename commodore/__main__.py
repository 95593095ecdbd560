"""`python -m commodore`: the same program as the `commodore` command."""

from __future__ import annotations

from commodore.cli.main import main

if __name__ == "__main__":
    main()
