"""An editor's side of the protocol: pygls's client, speaking to `musify lsp` over its pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.commands import ROOT

WAIT = 30


class Editor:
    """One editor with a workspace. Positions are 0-based, as in the protocol."""

    def __init__(self, client: LanguageClient, root: Path | None) -> None:
        self.client = client
        self.root = root
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.watched: list[str] = []
        self._more = asyncio.Event()
        self._versions: dict[str, int] = {}
        self._cancelled: list[object] = []

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def published(parameters: types.PublishDiagnosticsParams) -> None:
            self.published.append(parameters)
            self._more.set()

        @client.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def shown(parameters: types.ShowMessageParams) -> None:
            self.messages.append(parameters.message)
            self._more.set()

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def registered(parameters: types.RegistrationParams) -> None:
            self.watched += [item.method for item in parameters.registrations]
            self._more.set()

    def changed_outside(self, name: str) -> None:
        event = types.FileEvent(self.uri(name), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri() if self.root is not None else name

    def open(self, name: str, text: str, language: str = "cuda-cpp") -> str:
        uri = self.uri(name)
        self._versions[uri] = 1
        document = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return uri

    def type(self, name: str, text: str) -> None:
        uri = self.uri(name)
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def save(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def diagnostics(self, name: str, version: int | None = None) -> list[types.Diagnostic]:
        """The diagnostics of the text's version as it is now (or of `version`), once they are there."""
        uri = self.uri(name)
        wanted = version or self._versions[uri]

        async def wait() -> list[types.Diagnostic]:
            while True:
                for item in reversed(self.published):
                    if item.uri == uri and item.version == wanted:
                        return list(item.diagnostics)
                self._more.clear()
                await self._more.wait()

        return await asyncio.wait_for(wait(), WAIT)

    async def something(self) -> None:
        """Wait for the next message or diagnostics."""
        self._more.clear()
        await asyncio.wait_for(self._more.wait(), WAIT)

    async def actions(
        self, name: str, line: int = 0, character: int = 0, only: list[str] | None = None
    ) -> dict[str, types.CodeAction]:
        place = types.Position(line, character)
        context = types.CodeActionContext([], list(only) if only else None)
        asked = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), types.Range(place, place), context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(asked), WAIT)
        return {item.title: item for item in found or () if isinstance(item, types.CodeAction)}

    def cancelled_hover(self, name: str, line: int, character: int) -> None:
        """Ask, and take it back before there is an answer."""
        asked = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, character))
        number = f"cancelled {len(self._cancelled)}"
        self._cancelled.append(self.client.protocol.send_request(types.TEXT_DOCUMENT_HOVER, asked, msg_id=number))
        self.client.cancel_request(types.CancelParams(number))

    async def hover(self, name: str, line: int, character: int) -> str:
        asked = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, character))
        found = await asyncio.wait_for(self.client.text_document_hover_async(asked), WAIT)
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value


def changes_of(action: types.CodeAction) -> list[types.TextEdit]:
    """The edits of an action, in either form."""
    assert action.edit is not None
    if action.edit.changes is not None:
        return [edit for edits in action.edit.changes.values() for edit in edits]
    documents = action.edit.document_changes or ()
    return [edit for item in documents if isinstance(item, types.TextDocumentEdit) for edit in item.edits if isinstance(edit, types.TextEdit)]  # fmt: skip


def applied(text: str, action: types.CodeAction) -> str:
    """The text after an action, its edits put in as an editor does it, in units of UTF-16."""
    lines = text.splitlines(keepends=True) if "\f" not in text else text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode("utf-16-le")))
    units = text.encode("utf-16-le")
    for edit in sorted(
        changes_of(action), key=lambda item: (item.range.start.line, item.range.start.character), reverse=True
    ):
        start, end = (starts[place.line] + 2 * place.character for place in (edit.range.start, edit.range.end))
        units = units[:start] + edit.new_text.encode("utf-16-le") + units[end:]
    return units.decode("utf-16-le")


@asynccontextmanager
async def editor(
    root: Path | None, *options: str, versions: bool = True, encodings: list[str] | None = None
) -> AsyncIterator[Editor]:
    """A running server with an editor before it. `versions`: the editor takes edits of a version of a text."""
    client = LanguageClient("tests", "1")
    found = Editor(client, root)
    await client.start_io(sys.executable, "-m", "musify", "lsp", *options, env={**_environment()})
    edits = types.WorkspaceEditClientCapabilities(document_changes=versions)
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    general = types.GeneralClientCapabilities(position_encodings=list(encodings) if encodings else None)
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(workspace_edit=edits, did_change_watched_files=watching),
        general=general,
    )
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)] if root is not None else None
    asked = types.InitializeParams(capabilities=capabilities, workspace_folders=folders)
    await asyncio.wait_for(client.initialize_async(asked), WAIT)
    client.initialized(types.InitializedParams())
    try:
        yield found
        await asyncio.wait_for(client.shutdown_async(None), WAIT)
        client.exit(None)
    except BaseException:
        _kill(client)
        raise
    finally:
        await client.stop()  # type: ignore[no-untyped-call]


def _kill(client: LanguageClient) -> None:
    """End the server of a test that failed: the client would wait for it."""
    process = client._server
    if process is not None and process.returncode is None:
        process.kill()


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}
