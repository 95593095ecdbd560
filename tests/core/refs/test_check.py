"""Secret references as class files have them."""

from __future__ import annotations

from commodore.core.refs import check_text


def test_each_wrong_reference_with_its_beginning() -> None:
    errors = check_text("?{vaultkv:a/b} ?{gpg:${x}/y} ?{vaultkv:z ?{vaultkv:${q}", "parameters.x")
    assert [(start, error.code) for start, error in errors] == [
        ("?{gpg:", "CMD-REF-002"),
        ("?{vaultkv:", "CMD-REF-016"),
    ]
    assert "parameters.x" in errors[0][1].message
    assert "${…}" in errors[0][1].message


def test_nothing_is_wrong() -> None:
    assert check_text("plain ?{vaultkv:${a:${b}}} ${c}", "x") == []
