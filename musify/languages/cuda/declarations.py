"""Names of the API that the project declares itself: where, and in which scope each declaration holds.

Tokens tell where a declaration is possible; only then is the file parsed and the question settled by syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from musify.languages.cuda.declarators import EnumBodies, may_declare
from musify.languages.cuda.references import Scope, qualifier_of, scope_of
from musify.languages.cuda.unit import Unit
from musify.model import Span
from musify.rules.book import RuleBook
from musify.source import syntax
from musify.source.outline import Directive

if TYPE_CHECKING:
    from tree_sitter import Node

_DECLARATORS = frozenset(
    [
        "pointer_declarator",
        "reference_declarator",
        "array_declarator",
        "parenthesized_declarator",
        "function_declarator",
        "init_declarator",
        "attributed_declarator",
        "structured_binding_declarator",
    ]
)
_DECLARATIONS = {
    "declaration": "variable",
    "field_declaration": "member",
    "parameter_declaration": "parameter",
    "optional_parameter_declaration": "parameter",
    "function_definition": "function",
    "type_definition": "type",
    "for_range_loop": "variable",
    "condition_declaration": "variable",
}
_NAMED = {
    "enumerator": "enumerator",
    "alias_declaration": "type",
    "struct_specifier": "type",
    "class_specifier": "type",
    "union_specifier": "type",
    "enum_specifier": "type",
    "namespace_definition": "namespace",
    "type_parameter_declaration": "template parameter",
    "optional_type_parameter_declaration": "template parameter",
}
# The kind of `using ::name;`, with which a namespace hands the API's on.
EXPORTED_AGAIN = "exported again"
# Stands for a class without a name in the path of what it declares.
UNNAMED = b"(unnamed)"
_SCOPES = frozenset(
    [
        "compound_statement",
        "field_declaration_list",
        "declaration_list",
        "for_statement",
        "for_range_loop",
        "if_statement",
        "while_statement",
        "template_declaration",
        "function_definition",
        "lambda_expression",
        "translation_unit",
    ]
)


@dataclass(frozen=True)
class Declaration:
    """A declaration of a listed name: where it stands, where it holds, and whether other files see it.

    `mirrors_api`: it declares the API's own entity once more (a prototype, a forward declaration), or gives a macro
    where the API has none. `rests_on`: the API's types in it that show this, if any.
    """

    name: bytes
    place: Span
    kind: str
    scope: Span
    exported: bool
    path: tuple[bytes, ...]
    conditional: bool
    mirrors_api: bool = False
    rests_on: frozenset[bytes] = frozenset()


def unlisted_declarations(unit: Unit) -> set[bytes]:
    """CUDA-looking names on no list that the file declares, told from tokens alone.

    A wrong guess here only silences a warning, so no tree is built.
    """
    declared: set[bytes] = set()
    enums = EnumBodies(unit.outline)
    lookalikes = {name for name in unit.names if unit.book.name(name) is None and unit.book.looks_like_cuda(name)}
    for word in unit.words if lookalikes else ():
        name = unit.text(word)
        if name not in lookalikes or name in declared:
            continue
        around = unit.neighbours(word)
        directive = unit.outline.directive_at(word.start)
        if (
            directive is not None and (directive.name_start == word.start or _is_parameter(directive.parameters, name))
        ) or (
            scope_of(unit.outline, around) in (Scope.PLAIN, Scope.QUALIFIED)
            and may_declare(unit.outline, around, enums, word)
        ):
            declared.add(name)
    for directive in unit.outline.directives:
        if directive.keyword == b"define" and unit.book.looks_like_cuda(directive.name):
            declared.add(directive.name)
    return declared


def _is_parameter(parameters: tuple[bytes, ...] | None, name: bytes) -> bool:
    return parameters is not None and name in parameters


def listed_declarations(unit: Unit) -> list[Declaration]:
    """Every place where the file declares a listed name itself."""
    found = list(_macro_declarations(unit))
    enums = EnumBodies(unit.outline)
    tracked = {name for name in unit.names if is_tracked(unit.book, name)}
    for word in unit.words:
        name = unit.text(word)
        if name not in tracked:
            continue
        directive = unit.outline.directive_at(word.start)
        if directive is not None:
            if directive.name_start != word.start and _is_parameter(directive.parameters, name):
                span = Span(directive.start, directive.end)
                found.append(Declaration(name, word, "macro parameter", span, False, (), False))
            continue
        around = unit.neighbours(word)
        scope = scope_of(unit.outline, around)
        if scope is Scope.QUALIFIED:
            rule = unit.book.name(name)
            of_api = rule is not None and qualifier_of(unit.outline, around) in rule.library.owners
            found += _using_declaration(unit, name, word, EXPORTED_AGAIN if of_api else "using")
        elif scope is Scope.GLOBAL and unit.text(unit.outline.before(around.before.start)) == b"using":
            found += _using_declaration(unit, name, word, EXPORTED_AGAIN)
        elif scope is Scope.PLAIN and may_declare(unit.outline, around, enums, word):
            declaration = _by_syntax(unit, name, word)
            if declaration is not None:
                found.append(declaration)
    return _with_own_types(found)


def _with_own_types(found: list[Declaration]) -> list[Declaration]:
    """Declarations whose type is the file's own, though the API has one of that name, repeat nothing of the API's."""
    own = {
        item.name
        for item in found
        if item.kind == "type" and item.exported and not (item.path or item.conditional or item.mirrors_api)
    }
    return [replace(item, mirrors_api=False) if item.rests_on and item.rests_on <= own else item for item in found]


def is_tracked(book: RuleBook, name: bytes) -> bool:
    """Whether it matters who declares `name`: a rule changes it or has something to say."""
    rule = book.name(name)
    return rule is not None and rule.matters


def _macro_declarations(unit: Unit) -> Iterator[Declaration]:
    """Macros; one that only some configurations see holds in its own branch of the #if."""
    definitions: dict[bytes, list[Directive]] = {}
    for directive in unit.outline.directives:
        if directive.keyword == b"define" and is_tracked(unit.book, directive.name):
            definitions.setdefault(directive.name, []).append(directive)
    for name, places in definitions.items():
        always = unit.conditionals.always_one(item.start for item in places)
        fills_gap = not always and any(_fills_gap(unit, item) for item in places)
        for item in places:
            place = Span(item.name_start, item.name_start + len(name))
            end = len(unit.data) if always else unit.conditionals.branches_around(item.start)[0].span.end
            scope = Span(0 if always else place.start, end)
            yield Declaration(name, place, "macro", scope, True, (), not always, fills_gap)


def _fills_gap(unit: Unit, definition: Directive) -> bool:
    """Whether `#ifndef NAME`, or a longer form of it, stands around it: the macro is given where missing."""
    branch = unit.conditionals.branches_around(definition.start)[0].directive
    text = unit.data[branch.start : branch.end].split(b"//")[0].split(b"/*")[0]
    form = rb"#\s*(?:ifndef\s+NAME|if\s*!\s*defined\s*(?:NAME|\(\s*NAME\s*\)))\s*"
    return re.fullmatch(form.replace(b"NAME", re.escape(definition.name)), text) is not None


def _using_declaration(unit: Unit, name: bytes, word: Span, kind: str) -> Iterator[Declaration]:
    leaf = syntax_leaf(unit, word) if unit.text(unit.outline.after(word.end)) == b";" else None
    node = leaf
    while node is not None and node.type != "using_declaration":
        if node.type in _SCOPES:
            return
        node = node.parent
    if node is not None:
        yield replace(_declared(unit, name, word, kind, node), mirrors_api=kind == EXPORTED_AGAIN)


def _by_syntax(unit: Unit, name: bytes, word: Span) -> Declaration | None:
    leaf = syntax_leaf(unit, word)
    if leaf is None:
        return None
    node: Node = leaf
    parent = node.parent
    if parent is not None and parent.type in _NAMED and parent.child_by_field_name("name") == node:
        if parent.type.endswith("_specifier") and parent.child_by_field_name("body") is None:
            return None
        return _declared(unit, name, word, _NAMED[parent.type], parent)
    if parent is not None and parent.type in (
        "type_parameter_declaration",
        "optional_type_parameter_declaration",
    ):
        return _declared(unit, name, word, "template parameter", parent)
    is_function = is_pointer = False
    while parent is not None and parent.type in _DECLARATORS and _is_declarator(parent, node):
        is_pointer = is_pointer or parent.type == "pointer_declarator"
        is_function = is_function or (parent.type == "function_declarator" and not is_pointer)
        node, parent = parent, parent.parent
    if parent is None or parent.type not in _DECLARATIONS or node not in parent.children_by_field_name("declarator"):
        return None
    kind = _DECLARATIONS[parent.type]
    if is_function and kind in ("variable", "member"):
        kind = "function"
    is_called = unit.neighbours(word).after_text == b"("
    if is_called and kind in ("function", "variable") and _is_macro_call(unit, parent, word):
        return None
    return _declared(unit, name, word, kind, parent)


def _is_declarator(parent: Node, node: Node) -> bool:
    named = parent.child_by_field_name("declarator")
    if named is not None:
        return named == node
    return bool(parent.named_children) and parent.named_children[0] == node


def _is_macro_call(unit: Unit, declaration: Node, word: Span) -> bool:
    """`CHECK` on one line and the call on the next parse as a local declaration; such a one nobody writes."""
    scope = declaration.parent
    while scope is not None and scope.type not in _SCOPES:
        scope = scope.parent
    if declaration.type != "declaration" or scope is None or scope.type != "compound_statement":
        return False
    kind = declaration.child_by_field_name("type")
    if kind is None:
        return True
    text = unit.data[kind.start_byte : kind.end_byte]
    return text.isupper() or b"\n" in unit.data[kind.end_byte : word.start]


def _declared(unit: Unit, name: bytes, word: Span, kind: str, node: Node) -> Declaration:
    scope, path = _scope(unit, node, kind)
    exported = scope.type in ("translation_unit", "declaration_list", "field_declaration_list")
    start = scope.start_byte if exported or kind in ("parameter", "template parameter") else word.start
    mirrored = _mirrored(unit, name, kind, node) if _may_mirror(node, exported and not path) else frozenset[bytes]()
    return Declaration(
        name,
        word,
        kind,
        Span(start, scope.end_byte),
        exported,
        path,
        unit.conditionals.is_conditional(word.start),
        bool(mirrored),
        mirrored,
    )


def _may_mirror(node: Node, at_file_scope: bool) -> bool:
    """The API's own can be declared once more at file scope, as a friend, or extern in a block."""
    if at_file_scope:
        return True
    is_friend = node.parent is not None and node.parent.type == "friend_declaration"
    return is_friend or any(
        child.type == "storage_class_specifier" and child.text == b"extern" for child in node.children
    )


def _mirrored(unit: Unit, name: bytes, kind: str, node: Node) -> frozenset[bytes]:
    """The names of the API in the type of a declaration, which show that it repeats the API's."""
    declared_type = node.child_by_field_name("type")
    if kind not in ("function", "type") or node.child_by_field_name("body") is not None or declared_type is None:
        return frozenset()
    text = unit.data[declared_type.start_byte : declared_type.end_byte]
    words = re.findall(rb"[A-Za-z_]\w*", text) if b"{" not in text else ()
    return frozenset(word for word in words if unit.book.name(word) is not None and word != name)


def _scope(unit: Unit, node: Node, kind: str) -> tuple[Node, tuple[bytes, ...]]:
    start: Node | None = node.parent
    if kind == "enumerator":
        while start is not None and start.type != "enum_specifier":
            start = start.parent
        scoped = start is not None and any(child.type in ("class", "struct") for child in start.children)
        if start is not None and scoped:
            return start, ()
        start = start.parent if start is not None else None
    elif kind == "parameter":
        return _parameter_scope(unit, node)
    elif kind == "template parameter" or node.type in ("for_range_loop", "condition_declaration"):
        start = node
    while start is not None:
        if start.type in _SCOPES and not _is_transparent(start, kind):
            return start, _path(unit, start)
        if start.parent is None:
            break
        start = start.parent
    root = unit.tree
    return root, ()


def _parameter_scope(unit: Unit, node: Node) -> tuple[Node, tuple[bytes, ...]]:
    """The function whose parameter it is; the parameter list alone where there is no body."""
    listed = node.parent or node
    function: Node | None = listed
    while function is not None and function.type not in ("function_definition", "lambda_expression"):
        if function.type in ("declaration", "field_declaration", "type_definition", "translation_unit"):
            return listed, ()
        function = function.parent
    return function or listed, ()


def _is_transparent(scope: Node, kind: str) -> bool:
    if scope.type == "declaration_list":
        return scope.parent is not None and (
            scope.parent.type == "linkage_specification" or _lets_names_out(scope.parent)
        )
    if scope.type == "template_declaration":
        return kind != "template parameter"
    return scope.type == "function_definition" and kind not in ("parameter",)


def _lets_names_out(node: Node) -> bool:
    """Whether names declared in a namespace are visible around it: it is unnamed, or inline."""
    if node.type != "namespace_definition":
        return False
    return node.child_by_field_name("name") is None or any(child.type == "inline" for child in node.children)


def _path(unit: Unit, scope: Node) -> tuple[bytes, ...]:
    parts: list[bytes] = []
    node: Node | None = scope
    while node is not None:
        if node.type in ("namespace_definition", "class_specifier", "struct_specifier", "union_specifier"):
            name = node.child_by_field_name("name")
            if name is None and node.type != "namespace_definition":
                parts[:0] = [UNNAMED]
            elif name is not None and not _lets_names_out(node):
                parts[:0] = re.findall(rb"[A-Za-z_]\w*", unit.data[name.start_byte : name.end_byte])[:4]
        node = node.parent
    return tuple(parts)


def syntax_leaf(unit: Unit, word: Span) -> Node | None:
    """The leaf of the syntax tree at `word`; None where the structure around it is an ERROR."""
    leaf = syntax.leaf_at(unit.tree, word.start, word.end)
    if leaf is None or (leaf.start_byte, leaf.end_byte) != (word.start, word.end) or syntax.inside_error(leaf):
        return None
    return leaf
