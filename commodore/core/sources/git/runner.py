"""Run the `git` executable. All calls of this program go through here.

Every call has a clean environment, no hooks, no prompt and a time limit; failures are errors with a hint.
The user's own git configuration (`insteadOf`, credential helpers, proxies, `GIT_CONFIG_GLOBAL`) is honoured.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.base.context import Context, GitRights
from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.exhaustion import find_exhaustion, find_in_output
from commodore.base.programs import running
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.sources.git._bounded import Bounds, slow_settings
from commodore.core.sources.git._configured import LISTING, may_start_programs, refuse_programs
from commodore.core.sources.git._credentials import rights_of
from commodore.core.sources.git._redirects import NOT_FOLLOWED, TRACED, led_to, left_behind
from commodore.core.sources.git.urls import bare_url, redact_text

# Variables that would redirect git to another repository, index, history or diff program.
_NEVER_INHERITED = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DEFAULT_HASH",
        "GIT_DEFAULT_REF_FORMAT",
        "GIT_DIFF_OPTS",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_GLOB_PATHSPECS",
        "GIT_GRAFT_FILE",
        "GIT_ICASE_PATHSPECS",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_LITERAL_PATHSPECS",
        "GIT_NAMESPACE",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_TEMPLATE_DIR",
        "GIT_WORK_TREE",
        "LANGUAGE",
    }
)

# Settings that must not depend on the machine. Garbage collection must not outlive this process.
_FIXED_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "protocol.ext.allow=never",
    NOT_FOLLOWED,
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "log.showSignature=false",
    "color.ui=false",
    "advice.detachedHead=false",
)


DAMAGED = "CMD-GIT-021"
"""The code of the error for a repository that is damaged."""
MISSING = "CMD-GIT-001"
"""The code of the error for a git that is missing or cannot be started."""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_NO_ACCESS = _any_of(
    "authentication failed",
    "could not read (username|password)",
    "(permission|access) denied",
    "terminal prompts disabled",
    "returned error: 40[13]",
    "host key verification failed",
)
_NOT_REACHED = _any_of(
    "(could not|couldn't) (resolve|connect)",
    "connection (refused|reset|timed out|closed|was reset)",
    "(failed|unable) to (connect|access)",
    "repository .*(not found|does not exist)",
    "does not appear to be a git repository",
    "network is unreachable",
    "no route to host",
    "could not read from remote repository",
    "early EOF",
    "remote end hung up",
)
_NOT_WRITTEN = re.compile(
    r"^(error: (unable to (write|create|unlink)|cannot (create|stat))|warning: unable to unlink) ", re.MULTILINE
)
_REMOTE_ENDED = _any_of(
    "does not appear to be", "remote end hung up", "could not read from remote repository", "remote error:"
)
_DAMAGED_THERE = _any_of("remote error: .*not our ref", "pack has bad object", "inflate returned")
_DAMAGED = _any_of(
    "(?<!pack has )bad (object|ref|signature|config line|index file|tree object)",
    "invalid object",
    "does not point to a valid object",
    "(loose object|packfile|index file) .*(corrupt|truncated|cannot be|unavailable)",
    "index file (corrupt|smaller|.* is too small)",
    "far too short to be a packfile",
    "object file .* is empty",
    "inflate:",
    "broken (link|ref)",
    "missing (blob|tree|commit)",
    "unable to read (tree|sha1|[0-9a-f]{40})",
    "unable to resolve reference",
    "did not send all necessary objects",
    "not a git repository",
)


@dataclass(frozen=True, slots=True)
class GitResult:
    """Result of a git command. `stderr` is free of credentials and control characters."""

    stdout: bytes
    stderr: str
    returncode: int

    @property
    def text(self) -> str:
        """The output as text, without the last line feed; bytes that are not UTF-8 become surrogate escapes."""
        return self.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    @property
    def failed(self) -> bool:
        """Check if git failed. If the disk fails, `git checkout` prints the files that it could not write or remove,
        and exits with the status 0.
        """
        return self.returncode != 0 or _NOT_WRITTEN.search(self.stderr) is not None


@dataclass(frozen=True, slots=True)
class _Command:
    """One call of git: its words, standard input, variables, and inherited open files."""

    words: tuple[str, ...]
    input: bytes | None
    environment: Mapping[str, str]
    inherit: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Git:
    """The `git` executable in one folder, within the limits of a run.

    Attributes:
        folder: the working directory.
        context: its limits bound the time of each command; cancelling it ends commands.
        about: the repository (its URL without credentials) that errors name.
        given: variables on top of the clean environment, for all commands.
    """

    folder: Path
    context: Context
    about: str = ""
    given: Mapping[str, str] = field(default_factory=dict, repr=False)

    def run(
        self,
        arguments: Sequence[str],
        *,
        input: bytes | None = None,
        check: bool = True,
        environment: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        inherit: Sequence[int] = (),
    ) -> GitResult:
        """Run `git` with `arguments` and return the result. Redirects of servers are checked before they are followed:
        see `locate`.

        Args:
            input: bytes for its standard input; without it, standard input is empty.
            check: raise an error if git fails.
            environment: variables on top of the clean environment.
            settings: git settings (`key=value`) for this call alone.
            inherit: open files that the process inherits.

        Raises:
            EnvironmentFault: git is missing, takes too long, or (with `check`) fails.
            PolicyError: CMD-GIT-057, git would start a program that the repository's own configuration names.
        """
        if may_start_programs(self.folder, arguments):
            self._refuse_programs()
        words: list[str] = []
        for setting in (*_FIXED_SETTINGS, *settings):
            words += ["-c", setting]
        variables = {**self._environment(), **self.given, **(environment or {})}
        command = _Command((*words, *arguments), input, variables, inherit)
        result = self._run(command, arguments)
        left = left_behind(result.stderr, self._urls(command)) if result.failed else []
        if left and NOT_FOLLOWED not in settings:
            full = max(left, key=len)  # with the credentials
            if (target := self.locate(full, settings, command.environment)) != full:
                instead = [(f"url.{bare_url(target)}.insteadOf", url) for url in left]
                led = self._allowed(command.environment, target, instead)
                result = self._run(replace(command, environment=led), arguments)
        if check and result.failed:
            raise self.fault(arguments, result)
        return result

    def _refuse_programs(self) -> None:
        result = self._run(_Command(LISTING, None, self._environment()), LISTING)
        if result.failed:
            raise self.fault(LISTING, result)
        refuse_programs(self.folder, result.text)

    def locate(self, url: str, settings: Sequence[str] = (), given: Mapping[str, str] | None = None) -> str:
        """Return the URL of a repository after all redirects. A server may redirect to its own host, and to other hosts
        unless `Context.check_host` refuses them, which is called before they are contacted. Without it, redirects to
        this machine and its link are refused.

        Args:
            given: the variables of git, by default those of each command.

        Returns:
            The URL itself if its server does not redirect, or the target is not a repository.

        Raises:
            PolicyError: CMD-CONF-011 or CMD-CONF-012, the target of a redirect is not allowed.
        """
        words = [word for setting in (*_FIXED_SETTINGS, *settings) for word in ("-c", setting)]
        for _ in range(self.context.limits.redirects):
            environment = self._environment() if given is None else given
            asked = self._replaced(url, environment)
            if not asked.startswith(("http://", "https://")):
                break
            asking = self._allowed({**environment, **TRACED}, url, [("remote.commodore.url", url)])
            arguments = ("ls-remote", "commodore", "HEAD")
            result = self._run(_Command((*words, *arguments), None, asking), arguments)
            if not result.failed or not left_behind(result.stderr, [(url, asked)]):
                break
            target = led_to(asked, result.stderr, self.context.check_host)
            if not target:
                break
            url = target
        return url

    def authenticated(self, url: str) -> Git:
        """Return a copy that authenticates with the credentials of a URL when it is given as `bare_url` returns it."""
        if rights_of(url) is None:
            return self
        led = _leading(url, self._replaced(url, self._environment()))
        return replace(self, given={**_after_inherited(led.settings), **led.environment})

    def variables(self, url: str) -> dict[str, str]:
        """Return variables for the git of another program, so that it accesses a URL's repository only at the target of
        `locate`, with the credentials of the URL. The program may be given the URL as `bare_url` returns it.

        Raises:
            PolicyError: see `locate`.
        """
        key, _, value = NOT_FOLLOWED.partition("=")
        target = self.locate(url)
        if target == url and rights_of(url) is not None:
            target = self._replaced(url, self._environment())
        led = _leading(url, target)
        settings = [(key, value), *led.settings, *slow_settings(self.context.limits)]
        return {**_after_inherited(settings), **led.environment}

    def _environment(self) -> Mapping[str, str]:
        given = self.context.access
        return clean_environment() if given is None else given.variables()

    def _allowed(self, environment: Mapping[str, str], url: str, settings: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Return variables with settings, and with the credentials for a URL."""
        given = self.context.access
        rights = (given.rights(url) if given is not None else None) or rights_of(url)
        if rights is None:
            return with_settings(environment, settings)
        return with_settings({**environment, **rights.environment}, [*settings, *rights.settings])

    def _urls(self, command: _Command) -> Iterator[tuple[str, str]]:
        """Yield the URLs that a command may have requested, each with its URL after the user's replacements."""
        listing = _Command(("config", "--get-regexp", r"^remote\..*\.(push)?url$"), None, command.environment)
        listed = [line.partition(" ")[2] for line in self._run(listing, listing.words).text.splitlines()]
        for word in dict.fromkeys((*command.words, *listed)):
            if ":" in word and not word.startswith("-"):
                yield word, self._replaced(word, command.environment)

    def _replaced(self, url: str, environment: Mapping[str, str]) -> str:
        """Return the URL that git requests after the user's replacements (`insteadOf`)."""
        asking = with_settings(environment, [("remote.commodore-asks.url", url)])
        command = _Command(("ls-remote", "--get-url", "commodore-asks"), None, asking)
        return self._run(command, command.words).text or url

    def _run(self, command: _Command, arguments: Sequence[str]) -> GitResult:
        bounds = Bounds.of(arguments, _subject(arguments, self.about), self.context.limits)
        environment = with_settings(command.environment, bounds.settings())
        words = bounds.command(command.words, environment.get("PATH"))
        # Git may prompt its user on the terminal, so it shares the session.
        called = running.Command(words, environment, self.folder, command.input or b"", command.inherit, is_alone=False)
        ended = self._ended(called, bounds)
        result = GitResult(ended.output, clean_text(ended.said.decode("utf-8", "replace")), ended.code)
        if result.failed:
            bounds.check(result.returncode, result.stderr)
        return result

    def _ended(self, command: running.Command, bounds: Bounds) -> running.Ended:
        try:
            return running.run(command, bounds.of_process(), self.context.cancellation, bounds.progress_check())
        except running.OutOfBounds as hit:
            raise bounds.hit(hit.bound) from None
        except FileNotFoundError as error:
            if not self.folder.is_dir():
                raise EnvironmentFault(
                    "CMD-GIT-002", f"the folder {self.folder} disappeared while git was to work in it", hint="run again"
                ) from error
            raise EnvironmentFault(
                MISSING, "the program git was not found", hint="install git 2.31 or newer and put it on PATH"
            ) from error
        except OSError as error:
            raise find_exhaustion(error, "git cannot be started") or EnvironmentFault(
                MISSING, f"git cannot be started: {error.strerror}", hint="check the git on PATH"
            ) from error

    def ask(self, *arguments: str) -> str:
        """Return git's output, without the last line feed; an empty string if it fails."""
        return self.run(arguments, check=False).text

    def fault(self, arguments: Sequence[str], result: GitResult) -> CommodoreError:
        """Return the error for a git command that failed here."""
        return fault(arguments, result, self.folder, self.about)


def clean_environment() -> dict[str, str]:
    """Return the environment of git: variables of the caller that it needs, no redirections, English, no prompts."""
    kept = {name: value for name, value in child_environment(Child.GIT).items() if name not in _NEVER_INHERITED}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}


def _leading(url: str, target: str) -> GitRights:
    """Return settings with which git requests another URL instead, without credentials in its arguments."""
    rights = rights_of(target) or GitRights()
    words = dict.fromkeys((url, bare_url(url))) if target != url or rights.settings else ()
    instead = tuple((f"url.{bare_url(target)}.insteadOf", word) for word in words)
    return GitRights((*instead, *rights.settings), rights.environment)


def _after_inherited(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return settings as variables, appended to those of the caller."""
    return with_settings({"GIT_CONFIG_COUNT": os.environ.get("GIT_CONFIG_COUNT", "")}, settings)


def with_settings(environment: Mapping[str, str], settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return variables with settings of git (key and value), numbered after existing ones. On a command line, other
    users of the machine would see them.
    """
    given = environment.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdecimal() else 0
    variables = {**environment, "GIT_CONFIG_COUNT": str(count + len(settings))}
    for number, (key, value) in enumerate(settings, count):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def clean_text(text: str) -> str:
    """Return external text that is safe for a terminal: without credentials and control characters but line feeds."""
    text = text.replace("\r", "\n")
    return redact_text("".join(letter for letter in text if letter == "\n" or letter.isprintable()))


def fault(arguments: Sequence[str], result: GitResult, place: Path, about: str = "") -> CommodoreError:
    """Return the error for a failed git command, in git's own words, with a matching hint."""
    ended = f"killed by signal {-result.returncode}" if result.returncode < 0 else f"exit status {result.returncode}"
    words = last_words(result.stderr) or ended
    subject = _subject(arguments, about)
    # A server's message about its own repository does not concern this one.
    here = "\n".join(line for line in result.stderr.splitlines() if not line.startswith("remote:"))
    if (scarce := find_in_output(here, f"{subject} failed")) is not None:
        return scarce.about(at=[str(place)])
    if _NO_ACCESS.search(result.stderr):
        return EnvironmentFault(
            "CMD-GIT-004",
            f"{subject} was refused access: {words}",
            hint="check your credentials: an SSH key the server knows, or a git credential helper; "
            "COMMODORE_HELPER_VARIABLES lists variables that a helper needs",
            locations=[str(place)],
        )
    if _DAMAGED.search(here) and not _REMOTE_ENDED.search(here):
        return EnvironmentFault(
            DAMAGED,
            f"the git repository {place} is damaged: {words}",
            hint="check it with 'git fsck'; once nothing in it is missed, remove it and run again",
            locations=[str(place)],
        )
    if _NOT_REACHED.search(result.stderr):
        return EnvironmentFault(
            "CMD-GIT-005",
            f"{subject} did not reach the repository: {words}",
            hint="check the URL, the network, and that the repository exists and you may read it",
            locations=[str(place)],
        )
    hint = "run again" if result.returncode < 0 else ""
    if _DAMAGED_THERE.search(here):
        hint = "the server does not send what it offers: ask its owners to check the repository with 'git fsck'"
    return EnvironmentFault("CMD-GIT-002", f"{subject} failed: {words}", hint=hint, locations=[str(place)])


def reports_damage(result: GitResult) -> bool:
    """Check if git reported damage of its own repository, though it continued."""
    return any(line.startswith("error:") and _DAMAGED.search(line) for line in result.stderr.splitlines())


def last_words(stderr: str) -> str:
    """Return the most specific line of git's messages: the last `fatal:`, else the last `error:`, else the last."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not line.startswith("hint:")]
    for prefix in ("fatal:", "error:", "remote:"):
        chosen = [line for line in lines if line.startswith(prefix) and line != "remote:"]
        # A hang-up of the other side is a consequence, not the cause.
        chosen = [line for line in chosen if "the remote end hung up" not in line] or chosen
        if prefix == "fatal:" and chosen and "Could not read from remote repository" in chosen[-1]:
            # ssh and the server print the cause before it
            before = lines[: lines.index(chosen[-1])]
            chosen = before[-1:] or chosen
        if chosen:
            return chosen[-1].removeprefix(prefix).strip()
    return lines[-1] if lines else ""


def _subject(arguments: Sequence[str], about: str) -> str:
    verb = next((argument for argument in arguments if not argument.startswith("-")), "")
    return f"git {verb} of {about}" if about else f"git {verb}"
