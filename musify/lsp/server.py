"""The server itself: texts as they change, analyses in a thread of their own, what is outdated dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from musify import __version__
from musify.lsp import answers
from musify.lsp.analysis import Analysis, analyse
from musify.lsp.positions import Positions
from musify.lsp.project import Buffer, Choices, Project
from musify.model import MusifyError

# How long a person must have stopped typing before a text is looked at.
_PAUSE_SECONDS = 0.2
# Files of texts that have no file yet, by the language that the editor calls them.
_UNSAVED = {
    "cuda": "untitled.cu", "cuda-cpp": "untitled.cu", "cpp": "untitled.cpp", "c": "untitled.c",
    "cmake": "CMakeLists.txt", "python": "untitled.py", "makefile": "Makefile", "shellscript": "untitled.sh",
}  # fmt: skip
# A change of one of these, or of a rule file, may change what is found anywhere.
_CONFIGURATION = ("musify.toml", "pyproject.toml")

_WATCHED = "**/{*.cu,*.cuh,*.h,*.hh,*.hpp,*.hxx,*.inl,*.c,*.cc,*.cpp,*.cxx,*.toml,*.cmake,CMakeLists.txt,Makefile,*.mk}"

Choose = Callable[[Path], Choices]


class _Known(NamedTuple):
    version: int
    analysis: Analysis


class MusifyServer(LanguageServer):
    """A language server for the texts of one editor. `choose` gives the choices of the project at a folder."""

    def __init__(self, choose: Choose, *, hints: bool = True) -> None:
        # Whole texts: what counts as a line, pygls and the protocol do not agree on everywhere.
        super().__init__("musify", __version__, types.TextDocumentSyncKind.Full)
        self._choose = choose
        self.hints = hints
        self._projects: dict[Path, Project] = {}
        self._failed: set[Path] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._known: dict[str, _Known] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._texts: dict[str, Buffer] = {}
        self._thread = ThreadPoolExecutor(1, "musify")

    def changed(self, uri: str, pause: float = _PAUSE_SECONDS) -> None:
        """Look at a text once nothing has changed for a while."""
        document = self.workspace.get_text_document(uri)
        path = self._path(uri)
        if path is not None:
            data = document.source.encode("utf-8", "surrogatepass")
            self._texts[str(path)] = Buffer(document.version or 0, data)
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._later(uri, pause))

    def closed(self, uri: str) -> None:
        """Forget a text, and take its diagnostics away."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._known.pop(uri, None)
        self._texts.pop(str(self._path(uri)), None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def files_changed(self, paths: list[str]) -> None:
        """Files were made, changed or removed: look at them, and at every open text, again."""
        rules = {file.name for project in self._projects.values() for file in project.choices.rule_files}
        if self._failed or any(path.rpartition("/")[2] in rules.union(_CONFIGURATION) for path in paths):
            self._projects.clear()
            self._failed.clear()
        for project in self._projects.values():
            self._thread.submit(project.refresh)
        self._known.clear()
        for uri in list(self.workspace.text_documents):
            self.changed(uri)

    def stop(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _later(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        version = self.workspace.get_text_document(uri).version
        analysis = await self.analysis(uri)
        if uri not in self.workspace.text_documents or self.workspace.get_text_document(uri).version != version:
            return  # another look is on its way
        found = answers.diagnostics(analysis, self.language(uri), hints=self.hints)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version=version))

    async def analysis(self, uri: str) -> Analysis:
        """What is found in the text as it is now."""
        document = self.workspace.get_text_document(uri)
        version = document.version or 0
        known = self._known.get(uri)
        if known is not None and known.version == version:
            return known.analysis
        self._loop = asyncio.get_running_loop()
        analysis = await self._loop.run_in_executor(
            self._thread, self._analyse, uri, document.source, dict(self._texts)
        )
        if uri in self.workspace.text_documents:
            self._known[uri] = _Known(version, analysis)
        return analysis

    def _analyse(self, uri: str, text: str, buffers: dict[str, Buffer]) -> Analysis:
        path = self._path(uri)
        encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        if path is None:
            return Analysis(Positions(text, encoding))
        try:
            return analyse(self._project(path), path, text, encoding, buffers)
        except MusifyError as error:
            self._complain(path, str(error))
        except Exception as error:  # a fault of ours in one text must not end the server
            self._complain(path, f"{path}: internal error: {type(error).__name__}: {error}")
        return Analysis(Positions(text, encoding))

    def _complain(self, path: Path, message: str) -> None:
        """Say what is wrong with a project, once until something of it changes."""
        place = self._root(path) or path
        if place not in self._failed and self._loop is not None:
            self._failed.add(place)
            said = types.ShowMessageParams(types.MessageType.Error, f"musify: {message}")
            self._loop.call_soon_threadsafe(self.window_show_message, said)

    def language(self, uri: str) -> str:
        """The language of messages about a text."""
        project = self.project(uri)
        return "en" if project is None else project.choices.language

    def project(self, uri: str) -> Project | None:
        """The project of a text that was looked at; None where its settings could not be read."""
        path = self._path(uri)
        return None if path is None else self._projects.get(self._root(path) or path)

    def _project(self, path: Path) -> Project:
        root = self._root(path)
        if (root or path) not in self._projects:
            self._projects[root or path] = Project(root, self._choose(root or path.parent))
        return self._projects[root or path]

    def _root(self, path: Path) -> Path | None:
        """The innermost folder of the workspace that holds a file."""
        folders = [uris.to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        found = [Path(folder) for folder in (*folders, self.workspace.root_path) if folder]
        holding = [folder for folder in found if folder == path.parent or folder in path.parents]
        return max(holding, key=lambda folder: len(folder.parts), default=None)

    def _path(self, uri: str) -> Path | None:
        if uri.startswith("file:"):
            found = uris.to_fs_path(uri)
            return Path(found) if found else None
        document = self.workspace.text_documents.get(uri)
        name = _UNSAVED.get(document.language_id or "") if document is not None else None
        return Path(name) if name is not None else None


def make_server(choose: Choose, *, hints: bool = True) -> MusifyServer:
    """A server with what it answers."""
    server = MusifyServer(choose, hints=hints)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(parameters: types.DidOpenTextDocumentParams) -> None:
        server.changed(parameters.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(parameters: types.DidChangeTextDocumentParams) -> None:
        server.changed(parameters.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(parameters: types.DidCloseTextDocumentParams) -> None:
        server.closed(parameters.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(parameters: types.DidSaveTextDocumentParams) -> None:
        server.files_changed([parameters.text_document.uri])

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(parameters: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed([change.uri for change in parameters.changes])

    @server.feature(types.INITIALIZED)
    async def ready(_: types.InitializedParams) -> None:
        await _watch(server)

    _answer(server)
    return server


async def _watch(server: MusifyServer) -> None:
    """Ask the editor to tell of files that change without it, where it can."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_WATCHED)])
    asked = types.Registration("musify-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await server.client_register_capability_async(types.RegistrationParams([asked]))


def _answer(server: MusifyServer) -> None:
    """Register what the editor asks for."""
    kinds = [types.CodeActionKind.QuickFix, answers.FIX_ALL, answers.CONVERT]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds))
    async def actions(parameters: types.CodeActionParams) -> list[types.CodeAction]:
        uri = parameters.text_document.uri
        analysis = await server.analysis(uri)
        version = server.workspace.get_text_document(uri).version if _takes_versions(server) else None
        return answers.actions(analysis, uri, version, parameters, server.language(uri))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(parameters: types.HoverParams) -> types.Hover | None:
        uri = parameters.text_document.uri
        analysis = await server.analysis(uri)
        project = server.project(uri)
        if analysis.language is None or project is None:
            return None
        return answers.hover(analysis, parameters.position, project.choices.book, project.choices.language)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.stop()


def _takes_versions(server: MusifyServer) -> bool:
    """Whether the editor takes edits of a version of a text."""
    workspace = server.client_capabilities.workspace
    return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)
