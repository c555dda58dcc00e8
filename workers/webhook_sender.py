"""Send requests to URLs that teams have chosen: to public addresses only, without redirects or proxies."""

import asyncio
import socket
import ssl
from collections.abc import Iterable
from typing import Any

import anyio
import httpcore2

from app.services.notifications.addresses import is_allowed
from app.services.notifications.deliveries import DELIVERED, GONE
from app.services.notifications.payloads import WebhookRequest

TIMEOUT_S = 10.0
"""Time limit of a request, from the name look-up to the status of the response."""


class RefusedAddress(Exception):
    """The host has no address that the service may connect to."""


class PublicNetwork(httpcore2.AnyIOBackend):
    """Resolves a host once and connects to one of these addresses, so that no later answer of DNS counts."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            entries = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as problem:
            raise httpcore2.ConnectError(problem) from problem
        addresses = dict.fromkeys(str(entry[4][0]) for entry in entries)
        allowed = [address for address in addresses if is_allowed(address)]
        if not allowed:
            raise RefusedAddress
        for address in allowed[:-1]:
            try:
                return await super().connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError:
                continue
        return await super().connect_tcp(allowed[-1], port, timeout, local_address, socket_options)


async def send(request: WebhookRequest) -> str:
    """Send a request and return its outcome. Only the status of the response is read."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return _judge(await _post(request))
    except TimeoutError:
        return "timeout"
    except RefusedAddress:
        return "address"
    except (httpcore2.ConnectError, ssl.SSLError) as problem:
        return "certificate" if _is_tls_failure(problem) else "connection"
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError):
        return "connection"


async def _post(request: WebhookRequest) -> int:
    network = PublicNetwork()
    headers = list(request.headers.items())
    async with (
        httpcore2.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(), network_backend=network
        ) as pool,
        pool.stream("POST", request.url, headers=headers, content=request.body) as response,
    ):
        return response.status


def _judge(status: int) -> str:
    if 200 <= status < 300:
        return DELIVERED
    if status == 410:
        return GONE
    return "redirect" if 300 <= status < 400 else "answer"


def _is_tls_failure(problem: BaseException | None) -> bool:
    while problem is not None:
        if isinstance(problem, ssl.SSLError):
            return True
        problem = problem.__cause__ or problem.__context__
    return False
