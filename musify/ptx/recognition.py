"""Telling PTX from host assembly, by its instructions.

PTX opcodes bear dotted types, state spaces or scopes that no host assembler knows. The few that stand bare count
only with the semicolon that PTX asks for.
"""

from __future__ import annotations

import re

_OPCODES = frozenset(
    """abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brx call clz
    clusterlaunchcontrol cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 fence fma fns
    getctarank griddepcontrol isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar
    min mma mov movmatrix mul mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux
    rem rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc
    suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 txq vabsdiff2 vabsdiff4 vadd2 vadd4 vavrg2 vavrg4
    vmax2 vmax4 vmin2 vmin4 vote vset2 vset4 vsub2 vsub4 wgmma wmma xor""".split()
)
# Arm's NEON has the same words with one or two types; PTX's video instructions name three.
_VIDEO = frozenset("vabsdiff vadd vmad vmax vmin vset vshl vshr vsub".split())
_TYPE = re.compile(r"(?:[busf](?:8|16|32|64|128)(?:x[24])?|bf16(?:x2)?|tf32|pred|e[45]m[23](?:x[24])?)\Z")
_MODIFIERS = frozenset(
    """sync async aligned global shared local const param gl cta sys gpu cluster acquire release relaxed volatile
    acq_rel sc weak mmio wide lo hi rn rz rm rp rni rzi rmi rpi rna ftz sat approx full cc uni arrive red warp proxy
    bulk commit_group wait_group wait_all inc dec launch_dependents wait to ballot all any popc mma_async fence alloc
    dealloc init inval test_wait try_wait expect_tx arrive_drop complete_tx cp commit ldmatrix tensor reduce tid ctaid
    L1 L2 shared::cta shared::cluster shiftamt""".split()
)
_SPECIAL = re.compile(
    r"%%?(?:laneid|lanemask_\w+|n?smid|n?warpid|gridid|clock(?:_hi|64)?|globaltimer\w*|(?:n?tid|n?ctaid|cluster_\w+)\.[xyz]|"
    r"dynamic_smem_size|total_smem_size|envreg\d+|pm\d+)\b"
)
_DIRECTIVE = re.compile(r"\.(?:reg|shared|local|global|const|param)\s+\.(?:align\b|\w+)")
_INSTRUCTION = re.compile(
    r"(?:^|[;{}\n:\x00])\s*(?:@!?\s*%*[\w$]+\s+)?([A-Za-z\x00][\w\x00]*)((?:\.[\w:\x00]+)+)(?=[\s;%{\[}\x00]|\Z)"
)
_BARE = re.compile(r"(?:^|[;{}\n:])\s*(?:@!?\s*%*[\w$]+\s+)?(trap|exit|brkpt)\s*;")
_COMMENT = re.compile(r"(?s)//[^\n]*|/\*.*?\*/")


def ptx_instructions(template: str) -> list[str]:
    """The PTX instructions in a template, each once; empty where the text is no PTX."""
    text = _COMMENT.sub(" ", template)
    found: list[str] = []
    for match in _INSTRUCTION.finditer(text):
        if _is_ptx(match.group(1), match.group(2)[1:].split(".")):
            found.append((match.group(1) + match.group(2)).replace("\x00", "?"))
    found += [match.group(1) for match in _BARE.finditer(text)]
    if not found:
        found += [match.group().replace("%%", "%") for match in _SPECIAL.finditer(text)]
        found += [match.group() for match in _DIRECTIVE.finditer(text)]
    return list(dict.fromkeys(found))


def _is_ptx(opcode: str, parts: list[str]) -> bool:
    types = [part for part in parts if _TYPE.match(part)]
    if "\x00" in opcode:
        return bool(types)
    if opcode in _OPCODES:
        return bool(types) or any(part in _MODIFIERS or "::" in part or "\x00" in part for part in parts)
    if opcode in _VIDEO:
        return len(types) >= 3
    # An instruction newer than the list: several parts, the last one a type; Arm's with types all begin with v.
    return len(parts) >= 2 and bool(_TYPE.match(parts[-1])) and not opcode.startswith("v") and "_" not in opcode
