"""Components and packages as their authors see them."""

from commodore.authoring.component import ComponentCompile, ComponentSource, compile_component
from commodore.stages.compiling import CompileOptions

__all__ = ["CompileOptions", "ComponentCompile", "ComponentSource", "compile_component"]
