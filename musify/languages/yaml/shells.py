"""Which scalars of a file are commands of a POSIX shell."""

from __future__ import annotations

from musify.languages.yaml.structure import Content, Scalar

# Keys whose values are commands: of GitHub, GitLab, Azure, Travis, AppVeyor, CircleCI, Buildkite, compose, conda.
_SCRIPTS = frozenset(
    b"run script before_script after_script before_install install before_deploy command commands cmd cmds bash "
    b"build_script test_script before_build before_test inlineScript entrypoint setup teardown".split()
)
_SHELLS = frozenset((b"bash", b"sh", b"zsh", b"dash"))


def is_script(content: Content, data: bytes, scalar: Scalar) -> bool:
    """Whether a scalar is a script that a POSIX shell runs."""
    if not scalar.path or scalar.path[-1] not in _SCRIPTS:
        return False
    return _shell_of(content, data, scalar) in _SHELLS


def _shell_of(content: Content, data: bytes, scalar: Scalar) -> bytes:
    """The shell that is named beside a script, or for its job, or for the file; on Windows it is another one."""
    named = scalar.siblings.get(b"shell", b"")
    on_windows = False
    for other in content.hints:
        if other.path[-3:] == (b"defaults", b"run", b"shell") and other.path[:-3] == scalar.path[: len(other.path) - 3]:
            named = named or data[slice(*other.span)]
        elif other.path[-1:] == (b"runs-on",) and other.path[:-1] == scalar.path[: len(other.path) - 1]:
            on_windows = on_windows or b"windows" in data[slice(*other.span)]
    return (named or (b"powershell" if on_windows else b"bash")).split()[0].rpartition(b"/")[2]
