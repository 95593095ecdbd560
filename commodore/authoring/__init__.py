"""Components and packages as their authors see them."""

from commodore.authoring.component import ComponentCompile, ComponentSource, compile_component
from commodore.authoring.made_up import Facts
from commodore.authoring.package import PackageCompile, PackageSource, compile_package
from commodore.stages.compiling import CompileOptions

__all__ = [
    "CompileOptions",
    "ComponentCompile",
    "ComponentSource",
    "Facts",
    "PackageCompile",
    "PackageSource",
    "compile_component",
    "compile_package",
]
