# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Whether all that is public has a docstring and a type: documented.py PACKAGE"""

import ast
import inspect
import pathlib
import sys
import typing

import ptxsim

folder = pathlib.Path(sys.argv[1])
assert (folder / "py.typed").exists()
assert ptxsim.__doc__ and ptxsim.__all__ == sorted(ptxsim.__all__, key=str.lower), ptxsim.__all__
for name in ptxsim.__all__:
    thing = getattr(ptxsim, name)
    assert inspect.getdoc(thing), f"{name} has no docstring"
for name in ("run", "parameters", "check", "kernels"):
    member = inspect.getattr_static(ptxsim.Module, name)
    function = member.fget if isinstance(member, property) else member
    assert function.__doc__, f"Module.{name} has no docstring"
    assert "return" in typing.get_type_hints(function), f"Module.{name} has no return type"
run = inspect.signature(ptxsim.Module.run)
for name, parameter in run.parameters.items():
    assert name == "self" or parameter.annotation is not inspect.Parameter.empty, f"run's '{name}' has no type"
    assert name in ("self", "descriptor") or name in ptxsim.Module.run.__doc__, f"run does not say what '{name}' is"

# The stub of the compiled part names what the package takes from it.
stub = ast.parse((folder / "_native.pyi").read_text())
defined = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
for name in ("Diagnostic", "FaultRecord", "ParameterInfo", "Module", "Memory", "Launch", "parse", "bind", "run"):
    assert name in defined, f"the stub has no '{name}'"
fields = {node.name for node in defined["FaultRecord"].body if isinstance(node, ast.FunctionDef)}
assert {"kind", "line", "text", "message", "cta", "warp"} <= fields, fields
