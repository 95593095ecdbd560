"""`python -m commodore`: the same program as the `commodore` command."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # Python puts the current folder first where modules are looked for: what lies there would be run as a part of us.
    if not sys.flags.safe_path:
        del sys.path[0]

    from commodore.cli.main import main

    main()
