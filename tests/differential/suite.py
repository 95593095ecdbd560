"""All cases that both tools are run on, as data: files, a command line, and what is compared.

They follow the features of the command line, of class files and of components one by one. `scripts/differential` runs
them where the published tool is at hand; `test_cases.py` holds that they are well formed.
"""

from __future__ import annotations

import itertools

from tests.differential.authors import authors
from tests.differential.case import Case
from tests.differential.cases import first_cases
from tests.differential.command_lines import command_line
from tests.differential.folders import folders
from tests.differential.hierarchies import hierarchies
from tests.differential.lookups import lookups
from tests.differential.merging import merging
from tests.differential.more_worlds import more_worlds
from tests.differential.renderings import renderings
from tests.differential.worlds import worlds

CASES: tuple[Case, ...] = tuple(
    itertools.chain(
        first_cases(),
        command_line(),
        worlds(),
        hierarchies(),
        authors(),
        renderings(),
        merging(),
        folders(),
        lookups(),
        more_worlds(),
    )
)
