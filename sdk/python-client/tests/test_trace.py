"""Programs that use OpenTelemetry find their rewards in their own traces."""

from __future__ import annotations

import asyncio
import json
import urllib.request

from conftest import Server
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span

import assay

tracer = TracerProvider().get_tracer("trainer")


def traces(server: Server, batch: str) -> set[str | None]:
    """The traces that the results of a batch are in."""
    headers = {"authorization": f"Bearer {server.key}", "prefer": "wait=30"}
    request = urllib.request.Request(f"{server.url}/v1/batches/{batch}/results", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return {item.get("trace_id") for item in json.load(answer)["items"]}


def hex_of(span: Span) -> str:
    return f"{span.get_span_context().trace_id:032x}"


def test_a_batch_is_in_the_trace_of_the_code_that_opened_it(
    client: assay.Client, server: Server, run: str
) -> None:
    with tracer.start_as_current_span("step") as span:
        with client.batch("math@prod", run=run) as batch:
            batch.submit(key="a", response="A: 42", label="42")
        assert batch.results(timeout=60).rewards() == [1.0]
    assert traces(server, batch.id) == {hex_of(span)}


def test_an_async_batch_too(server: Server, run: str) -> None:
    async def step() -> str:
        async with assay.AsyncClient(server.url, server.key) as client:
            async with client.batch("math@prod", run=run) as batch:
                await batch.submit(key="a", response="A: 42", label="42")
            assert (await batch.results(timeout=60)).rewards() == [1.0]
        return batch.id

    with tracer.start_as_current_span("step") as span:
        batch = asyncio.run(step())
    assert traces(server, batch) == {hex_of(span)}


def test_without_a_span_nothing_is_traced(client: assay.Client, server: Server, run: str) -> None:
    with client.batch("math@prod", run=run) as batch:
        batch.submit(key="a", response="A: 42", label="42")
    batch.results(timeout=60)
    assert traces(server, batch.id) == {None}
