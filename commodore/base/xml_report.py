"""XML documents of reports, well-formed whatever the texts in them are."""

from __future__ import annotations

from xml.etree import ElementTree

from commodore.base.printable import printable, printable_lines


def as_xml(root: ElementTree.Element) -> str:
    """A tree as an indented document with a declaration and a last newline.

    Texts and attributes are printable, so they have no code points that XML 1.0 has no form for.
    """
    for element in root.iter():
        element.text = printable_lines(element.text or "") or None
        element.attrib = {name: printable(value) for name, value in element.attrib.items()}
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
