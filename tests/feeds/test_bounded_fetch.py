"""A fetch ends in time and in size, and tells in words why it brought nothing."""

import asyncio
import gzip
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest

from agent_core.net import FetchFailedError, SafeHttp
from tests.feeds.loopback_server import LoopbackServer, page, redirect, serving, zipped


@pytest.fixture
async def site() -> AsyncIterator[LoopbackServer]:
    async with serving() as server:
        yield server


@pytest.fixture
async def http(site: LoopbackServer) -> AsyncIterator[SafeHttp]:
    client = SafeHttp(allow={("127.0.0.1", site.port)})
    yield client
    await client.aclose()


def at(site: LoopbackServer, path: str) -> str:
    return f"http://127.0.0.1:{site.port}{path}"


async def test_a_page_comes_with_status_headers_and_body(site: LoopbackServer, http: SafeHttp) -> None:
    site.pages["/feed"] = page(b"<rss/>", ETag='"1"')
    got = await http.get(at(site, "/feed"), headers={"If-None-Match": '"0"'})
    assert (got.url, got.status, got.body, got.headers["etag"]) == (at(site, "/feed"), 200, b"<rss/>", '"1"')
    assert 'if-none-match: "0"' in site.heads[0]
    assert "rss" not in repr(got)


async def test_a_compressed_page_is_unpacked(site: LoopbackServer, http: SafeHttp) -> None:
    site.pages["/feed"] = zipped(b"x" * 100_000)
    assert (await http.get(at(site, "/feed"))).body == b"x" * 100_000


async def test_redirects_are_followed_to_the_end(site: LoopbackServer, http: SafeHttp) -> None:
    site.pages["/a"] = redirect("/b", "301 Moved Permanently")
    site.pages["/b"] = redirect("c?d", "308 Permanent Redirect")
    site.pages["/c?d"] = page(b"here")
    got = await http.get(at(site, "/a"))
    assert (got.url, got.body) == (at(site, "/c?d"), b"here")


async def test_a_circle_of_redirects_ends(site: LoopbackServer, http: SafeHttp) -> None:
    site.pages["/a"] = redirect("/a")
    with pytest.raises(FetchFailedError, match="more than 5 times"):
        await http.get(at(site, "/a"))
    assert len(site.heads) == 6


async def test_credentials_do_not_follow_a_redirect_to_another_host(site: LoopbackServer) -> None:
    async with serving() as other:
        client = SafeHttp(allow={("127.0.0.1", site.port), ("127.0.0.1", other.port)})
        site.pages["/a"] = redirect(at(other, "/b"))
        await client.get(at(site, "/a"), headers={"Authorization": "Bearer abc", "Accept": "text/xml"})
        await client.aclose()
        assert "Bearer abc" in site.heads[0]
        assert "Bearer" not in other.heads[0]
        assert "text/xml" in other.heads[0]


async def test_cookies_are_not_kept(site: LoopbackServer, http: SafeHttp) -> None:
    site.pages["/a"] = page(b"", Set_Cookie="id=1")
    await http.get(at(site, "/a"))
    await http.get(at(site, "/a"))
    assert "cookie" not in site.heads[1].lower()


async def test_a_page_over_the_limit_is_refused_whether_it_says_so_or_not(
    site: LoopbackServer, http: SafeHttp
) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    site.pages["/said"] = page(b"x" * 1001)
    site.pages["/fits"] = page(b"x" * 1000)
    site.pages["/unsaid"] = endless
    assert len((await http.get(at(site, "/fits"), max_bytes=1000)).body) == 1000
    for path in ("/said", "/unsaid"):
        with pytest.raises(FetchFailedError, match=r"larger than the limit of 0\.001 MB"):
            await http.get(at(site, path), max_bytes=1000)


async def test_a_bomb_is_stopped_at_the_limit_without_being_unpacked(
    site: LoopbackServer, http: SafeHttp
) -> None:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    bomb = b"".join(squeezer.compress(bytes(1_000_000)) for _ in range(300)) + squeezer.flush()
    site.pages["/bomb"] = page(bomb, Content_Encoding="gzip")
    tracemalloc.start()
    try:
        with pytest.raises(FetchFailedError, match="larger than"):
            await http.get(at(site, "/bomb"), max_bytes=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "deflate", "zstd", "gzip,identity", "x"])
async def test_an_encoding_that_was_not_asked_for_is_refused(
    site: LoopbackServer, http: SafeHttp, encoding: str
) -> None:
    site.pages["/a"] = page(gzip.compress(gzip.compress(b"x")), Content_Encoding=encoding)
    with pytest.raises(FetchFailedError, match="encoding"):
        await http.get(at(site, "/a"))


@pytest.mark.parametrize(
    "body",
    [b"plain text", gzip.compress(b"x" * 1000)[:-12], b"\x1f\x8b"],
    ids=["plain", "cut short", "only begun"],
)
async def test_a_broken_compression_fails_in_words(site: LoopbackServer, http: SafeHttp, body: bytes) -> None:
    site.pages["/a"] = page(body, Content_Encoding="gzip")
    with pytest.raises(FetchFailedError, match=r"unpacked|complete"):
        await http.get(at(site, "/a"))


async def test_a_server_that_drips_is_left_when_the_time_is_up(site: LoopbackServer, http: SafeHttp) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    site.pages["/a"] = drip
    begun = time.monotonic()
    with pytest.raises(FetchFailedError, match="in time"):
        await http.get(at(site, "/a"), timeout=0.3)
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n",
    ],
)
async def test_nonsense_from_the_server_fails_in_words(
    site: LoopbackServer, http: SafeHttp, answer: bytes
) -> None:
    site.pages["/a"] = answer
    with pytest.raises(FetchFailedError, match="broke off or the answer made no sense"):
        await http.get(at(site, "/a"))


async def test_a_closed_port_fails_in_words() -> None:
    async with serving() as gone:
        port = gone.port
    client = SafeHttp(allow={("127.0.0.1", port)})
    with pytest.raises(FetchFailedError, match="no connection could be made"):
        await client.get(f"http://127.0.0.1:{port}/")
    await client.aclose()


async def test_a_cancelled_fetch_frees_its_place(site: LoopbackServer, http: SafeHttp) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    site.pages["/slow"] = silent
    site.pages["/a"] = page(b"ok")
    waiting = [asyncio.create_task(http.get(at(site, "/slow"))) for _ in range(25)]
    await asyncio.sleep(0.2)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (await http.get(at(site, "/a"), timeout=5)).body == b"ok"
