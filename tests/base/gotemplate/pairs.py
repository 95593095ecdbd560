# ruff: noqa: E501 - tables are read by their columns
"""Random templates with random values, from a seed: mostly such that run, some that fail."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

TEXTS = ["", "a", "text", "Hello World", "a-b_c.d", "FooBar", "HTTPServer2x", "x,y,z", "  sp ", "é\u00fc\u4e2d", "1", "08", "1.5", "1.0", "true",
         "0x1f", "a\nb\n", "<&'\">", "v1.2.3", "1.2.3-rc.1", "a/b/c.yaml", "../x//y/", "http://u@h:80/p/q?x=y#f", "aGVsbG8=", "MFRGG===",
         "{\"a\":[1,2.5,\"x\",null]}", "[1,\"b\"]", "{", "UPPER_case", "tab\there", "3h2m", "-7", "1e3"]  # fmt: skip
KEYS = ["a", "b", "name", "items", "n", "s", "flag", "nested", "null", "missing"]
NUMBERS: list[Any] = [
    0,
    1,
    2,
    3,
    -1,
    -2,
    7,
    10,
    100,
    255,
    65,
    1.5,
    -2.5,
    0.1,
    1e6,
    1234567,
    12345678.9,
    1e20,
    1e21,
    1e-7,
    0.00001,
    1048576,
]
PATTERNS = [
    "a",
    "[a-z]+",
    "(\\\\w)(\\\\d*)",
    "^a",
    "b$",
    "x*",
    "[^,]+",
    "(a|b)c?",
    "\\\\d{1,2}",
    ".",
    "(?i)hello",
    "z{2}",
    "[",
    "(",
    "a.c|o",
    "\\\\s+",
    "[[:alpha:]]",
]
RANGES = [
    "^1.2",
    "~1.2.3",
    ">=1.0.0",
    "1.x",
    "*",
    ">1 <3",
    "1.2 - 2.0",
    "!=1.2.3",
    "^0.1 || >2",
    ">=1.2.3-0",
    "bad range",
    "=1.2.3",
    "~>1",
    "1.2.x",
]
VERSIONS = [
    "1.2.3",
    "v1.2.3",
    "1.2",
    "2.0.0-rc.1",
    "1.2.3-alpha+b",
    "0.1.5",
    "0.0.3",
    "1",
    "banana",
    "1.10.0",
    "1.2.03",
]
FORMATS = ["%v", "%d", "%s", "%q", "%5d", "%-5s|", "%05d", "%+d", "%x", "%X", "%t", "%T", "%.2f", "%8.3f|", "%e", "%g", "%c", "%U", "%b", "%o", "%%",
           "%#v", "%+v", "%6v|", "%-6v|", "%06.2f", "% d", "%#x", "%.3s", "%[1]v", "%*d", "%z", "%!", "%.1e", "%G", "%O", "%#q", "%+q", "%#U", "% x", "%.0f", "%-08d|", "%.3d"]  # fmt: skip
LAYOUTS = [
    "2006-01-02",
    "Jan 2 2006 15:04:05 MST",
    "02/01/06 03:04PM",
    "Monday, January _2",
    "2006-01-02T15:04:05Z07:00",
    "15h",
]

# kind: t text, i integer (a literal or an int), a any, l list, m map, b boolean, n number of any type, m map, M one
# that may change, p pattern, v version,
# r range, k key, f format, "*": more of the last, ":" result
FUNCTIONS = """
trim t:t|upper t:t|lower t:t|title t:t|untitle t:t|nospace t:t|initials t:t|swapcase t:t|snakecase t:t|camelcase t:t|kebabcase t:t
trimAll tt:t|trimSuffix tt:t|trimPrefix tt:t|abbrev it:t|abbrevboth iit:t|trunc it:t|substr iit:t|repeat St:t|replace ttt:t|plural tti:t
indent St:t|nindent St:t|wrap it:t|wrapWith itt:t|contains tt:b|hasPrefix tt:b|hasSuffix tt:b|quote a*:t|squote a*:t|cat a*:t|toString a:t
split tt:x|splitn tSt:x|splitList tt:l|join tl:t|toStrings l:l|sortAlpha l:l|sha1sum t:t|sha256sum t:t|adler32sum t:t|join ta:t
int a:i|int64 a:n|float64 a:n|atoi t:i|toDecimal a:n|until S:l|untilStep SSS:l|seq S*:t|add1 a:n|add a*:n|sub nn:n|mul nn*:n|div nn:n|mod nn:n
add1f n:n|addf n*:n|subf nn*:n|mulf nn*:n|divf nn:n|max nn*:n|min nn*:n|maxf nn*:n|minf nn*:n|floor n:n|ceil n:n|round ni:n|biggest nn:n
default aa:a|empty a:b|coalesce a*:a|all a*:b|any a*:b|compact l:l|ternary aab:a
list a*:l|tuple a*:l|dict ka:m|dict kaka:m|get mk:a|set Mkt:m|unset Mk:m|hasKey mk:b|pluck kmm:l|pick mk*:m|omit mk*:m
merge MM:m|mergeOverwrite MM:m|merge MMM:m|mustMerge MM:m|append la:l|push la:l|prepend la:l|first l:a|last l:a|rest l:l|initial l:l|reverse l:l|uniq l:l
without la*:l|has al:b|slice lQ:l|slice lQQ:l|concat ll:l|dig kam:a|dig kkam:a|chunk Pl:l|deepCopy a:a|mustFirst l:a|mustHas al:b|mustUniq l:l
toJson a:t|toRawJson a:t|toPrettyJson a:t|fromJson t:a|mustFromJson t:a|mustToJson a:t|b64enc t:t|b64dec t:t|b32enc t:t|b32dec t:t
typeOf a:t|kindOf a:t|kindIs ta:b|typeIs ta:b|typeIsLike ta:b|deepEqual aa:b|base t:t|dir t:t|clean t:t|ext t:t|isAbs t:b|osBase t:t|osDir t:t
regexMatch pt:b|regexFind pt:t|regexFindAll pti:l|regexReplaceAll ptt:t|regexReplaceAllLiteral ptt:t|regexSplit pti:l|regexQuoteMeta t:t|mustRegexFind pt:t
semverCompare rv:b|semver v:a|urlParse t:m|urlJoin m:t|duration n:t|durationRound t:t|dateInZone dnz:t|date di:t|htmlDate i:t
eq aa:b|eq aaa:b|ne aa:b|lt nn:b|le nn:b|gt nn:b|ge nn:b|eq tt:b|lt tt:b|eq nn:b|not a:b|and aa:a|or aa:a|len a:i|index lS:a|index mk:a|index mkk:a
print a*:t|println a*:t|printf fa*:t|printf fa:t|html a:t|js a:t|urlquery a:t|printf fn:t|printf ft:t
"""  # fmt: skip


@dataclass
class Generator:
    """Makes pairs from a source of randomness."""

    random: random.Random
    variables: list[str] = field(default_factory=list)
    defined: list[str] = field(default_factory=list)
    prefix: str = "t"
    loops: int = 0

    def __post_init__(self) -> None:
        entries = [entry.strip().split(" ") for line in FUNCTIONS.strip().splitlines() for entry in line.split("|")]
        self.functions = [(name, *signature.split(":")) for name, signature in entries]
        self.by_result: dict[str, list[tuple[str, str]]] = {}
        for name, params, result in self.functions:
            self.by_result.setdefault(result, []).append((name, params))

    def pair(self) -> tuple[str, dict[str, Any]]:
        """A template and its values."""
        self.variables, self.defined, self.loops = [], [], 0
        head = ""
        if self.random.random() < 0.1:
            name = f"{self.prefix}-d"
            head = f'{{{{define "{name}"}}}}{self.body(1)}{{{{end}}}}'
            self.variables = []
            self.defined.append(name)
        return head + self.body(self.random.choice([1, 1, 2, 3])), self.values()

    def values(self) -> dict[str, Any]:
        """Values under the usual keys; some keys are missing."""
        values = {
            "a": self.value(2),
            "b": self.value(1),
            "name": self.random.choice(TEXTS),
            "items": [self.value(1) for _ in range(self.random.randrange(4))],
            "n": self.random.choice(NUMBERS),
            "s": self.random.choice(TEXTS),
            "flag": self.random.random() < 0.5,
            "nested": {key: self.value(1) for key in self.random.sample(KEYS[:8], 3)},
            "null": None,
        }
        for key in self.random.sample(sorted(values), self.random.choice([0, 0, 1])):
            del values[key]
        return values

    def value(self, depth: int) -> Any:
        """Any value."""
        choice = self.random.random()
        if choice < 0.35 or depth == 0:
            return self.random.choice(TEXTS)
        if choice < 0.6:
            return self.random.choice(NUMBERS)
        if choice < 0.7:
            return self.random.random() < 0.5
        if choice < 0.76:
            return None
        if choice < 0.88:
            return [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        return {key: self.value(depth - 1) for key in self.random.sample(KEYS[:9], self.random.randrange(4))}

    # templates

    def body(self, depth: int) -> str:
        """Text and actions."""
        parts = []
        scope = len(self.variables)
        for _ in range(self.random.choice([1, 1, 2, 3])):
            parts.append(self.random.choice(["", " ", "x", "\n", " text ", "-", "\n  "]))
            parts.append(self.action(depth))
        del self.variables[scope:]
        return "".join(parts) + self.random.choice(["", "\n", " end"])

    def open(self) -> str:
        """An opening delimiter."""
        return self.random.choice(["{{", "{{ ", "{{", "{{- "])

    def close(self) -> str:
        """A closing one."""
        return self.random.choice(["}}", " }}", "}}", " -}}"])

    def action(self, depth: int) -> str:
        """One action with all that belongs to it."""
        o, c, choice = self.open(), self.close(), self.random.random()
        if depth > 0 and choice < 0.12:
            text = f"{o}if {self.pipe(2)}{c}{self.body(depth - 1)}"
            if self.random.random() < 0.3:
                text += f"{self.open()}else if {self.pipe(1)}{self.close()}{self.body(depth - 1)}"
            return text + self.otherwise(depth) + "{{end}}"
        if depth > 0 and choice < 0.2:
            bind = self.bind()
            return f"{o}with {bind}{self.pipe(2)}{c}{self.body(depth - 1)}{self.otherwise(depth)}{{{{end}}}}"
        if depth > 0 and choice < 0.32:
            return self.range(depth)
        if choice < 0.4:
            name = f"${self.random.choice('xyz')}"
            text = f"{o}{name} := {self.pipe(2)}{c}"
            self.variables.append(name)
            return text
        if choice < 0.44 and self.variables:
            return f"{o}{self.random.choice(self.variables)} = {self.pipe(1)}{c}"
        if choice < 0.5 and self.defined:
            return f'{o}template "{self.random.choice(self.defined)}" {self.operand(1, "a")}{c}'
        if choice < 0.51:
            return "{{/* comment */}}"
        if choice < 0.53 and self.loops:
            return f"{o}{self.random.choice(['break', 'continue'])}{c}"
        return f"{o}{self.pipe(3)}{c}"

    def bind(self) -> str:
        """A variable for a with, sometimes."""
        if self.random.random() < 0.7:
            return ""
        self.variables.append("$w")
        return "$w := "

    def otherwise(self, depth: int) -> str:
        """An else, sometimes."""
        return f"{self.open()}else{self.close()}{self.body(depth - 1)}" if self.random.random() < 0.4 else ""

    def range(self, depth: int) -> str:
        """A range, mostly over something that has items."""
        names = self.random.choice(["", "", "$v", "$k, $v"])
        source = self.random.choice(
            [
                ".items",
                ".nested",
                ".items",
                self.pipe(2, "l"),
                self.pipe(1, "m"),
                self.pipe(1),
                self.random.choice(["3", ".n"]),
            ]
        )
        text = f"{self.open()}range {names + ' := ' if names else ''}{source}{self.close()}"
        scope = len(self.variables)
        self.variables += names.replace(" ", "").split(",") if names else []
        self.loops += 1
        text += self.body(depth - 1)
        self.loops -= 1
        del self.variables[scope:]
        return text + self.otherwise(depth) + "{{end}}"

    # pipelines

    def pipe(self, depth: int, kind: str = "") -> str:
        """A pipeline, of a kind if one is asked for."""
        if self.random.random() < 0.3 and depth > 0:
            candidates = [(name, params) for name, params in self.by_result.get(kind or "t", []) if "*" not in params]
            if candidates:
                name, params = self.random.choice(candidates)
                rest = "".join(" " + self.operand(depth - 1, param) for param in params[:-1])
                return f"{self.pipe(depth - 1, params[-1])} | {name}{rest}"
        return self.command(depth, kind)

    def command(self, depth: int, kind: str) -> str:
        """A function with arguments, or an operand."""
        if depth <= 0 or self.random.random() < 0.25:
            return self.simple(kind or "a")
        kinds = [kind] if kind in self.by_result and self.random.random() < 0.95 else list(self.by_result)
        name, params = self.random.choice(self.by_result[self.random.choice(kinds)])
        if params.endswith("*"):
            params = params[:-1] + params[-2] * self.random.randrange(3)
        return name + "".join(" " + self.operand(depth - 1, param) for param in params)

    def operand(self, depth: int, kind: str) -> str:
        """An argument."""
        if self.random.random() < 0.03:
            kind = self.random.choice("tialmbn")
        if kind == "k":
            return f'"{self.random.choice(KEYS)}"'
        if depth > 0 and kind not in "pvrfSPQdziM" and self.random.random() < 0.5:
            return f"({self.pipe(depth - 1, kind)})"
        if depth > 0 and kind == "i" and self.random.random() < 0.3:
            return f"({self.pipe(depth - 1, kind)})"
        return self.simple(kind)

    def simple(self, kind: str) -> str:
        """A literal, a field or a variable."""
        pick = self.random.choice
        match kind:
            case "t":
                return pick([quoted(pick(TEXTS)), quoted(pick(TEXTS)), ".name", ".s", "$.name", *self.variables[:1]])
            case "i":
                return pick(["0", "1", "2", "3", "5", "-1", "7", "10", "0x10", "1_0", "'a'", *self.variables[:1]])
            case "S":
                return pick(["0", "1", "2", "3", "4", "-1"])
            case "Q":  # a longer list may have room for more items, which Go then makes up
                return pick(["0", "1", "2", "3", "-1"])
            case "P":
                return pick(["1", "2", "3"])
            case "n":
                return pick(
                    ["1", "2", "0", "3.7", "-1.5", "1e3", ".n", "$.n", '"12"', "10", "2.5", *self.variables[:1]]
                )
            case "b":
                return pick(["true", "false", ".flag"])
            case "l":
                return pick(
                    [
                        ".items",
                        "$.items",
                        "(list 1 2 3)",
                        '(list "b" "a")',
                        "(list)",
                        '(splitList "," "x,y,z")',
                        "(until 3)",
                    ]
                )
            case "m" | "x":
                return pick([".nested", "$.nested", '(dict "a" 1 "b" "x")', "(dict)", "."])
            case "M":
                return pick(
                    [
                        ".nested",
                        '(dict "a" 1 "b" "x")',
                        '(dict "b" (dict "c" 1))',
                        "(dict)",
                        '(dict "a" "" "nested" (dict "name" 2))',
                    ]
                )
            case "p":
                return f'"{pick(PATTERNS)}"'
            case "v":
                return f'"{pick(VERSIONS)}"'
            case "r":
                return f'"{pick(RANGES)}"'
            case "f":
                return f'"{"".join(pick(FORMATS) for _ in range(pick([1, 1, 2])))}"'
            case "d":
                return f'"{pick(LAYOUTS)}"'
            case "z":
                return pick(['"UTC"', '"Europe/Zurich"', '"America/New_York"', '"Nowhere"'])
            case "k":
                return f'"{pick(KEYS)}"'
        field = "".join("." + pick(KEYS) for _ in range(pick([1, 1, 1, 2])))
        return pick(
            [
                field,
                field,
                "." if self.random.random() < 0.3 else field,
                "$" + field,
                *self.variables,
                quoted(pick(TEXTS)),
                "1",
                "true",
                "2.5",
                "(list 1 nil)",
            ]
        )


def quoted(text: str) -> str:
    """A text as a literal."""
    if "`" not in text and "\n" in text:
        return f"`{text}`"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def make(seed: int, index: int) -> tuple[str, dict[str, Any]]:
    """The pair of a number."""
    return Generator(random.Random(f"{seed}-{index}"), prefix=f"t{index}").pair()
