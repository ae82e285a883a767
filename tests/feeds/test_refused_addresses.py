"""Nothing but the public internet can be reached, however an address is spelled."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from agent_core.net import FetchError, FetchFailedError, FetchRefusedError, SafeHttp
from agent_core.net.addresses import is_public
from agent_core.net.guard import PublicNetworkBackend, check_url
from tests.feeds.loopback_server import page, redirect, serving

NAMES = {
    "inward.example.org": ["10.0.0.7"],
    "loop.example.org": ["127.0.0.1"],
    "loop6.example.org": ["::1"],
    "mixed.example.org": ["93.184.216.34", "192.168.1.1"],
    "mixed6.example.org": ["2606:2800:220:1::1", "fd00::1"],
    "mapped.example.org": ["::ffff:127.0.0.1"],
    "nat64.example.org": ["64:ff9b::7f00:1"],
    "sixtofour.example.org": ["2002:7f00:1::1"],
    "scoped.example.org": ["fe80::1%2"],
    "metadata.example.org": ["169.254.169.254"],
    "odd.example.org": ["not an address"],
    "localhost": ["127.0.0.1", "::1"],
    "localhost.": ["127.0.0.1"],
    "metadata": ["169.254.169.254"],
}


async def fixed_names(host: str, port: int) -> Sequence[str]:
    if host not in NAMES:
        raise OSError("no such name")
    return NAMES[host]


# Judged without any look-up, so these tests reach no network even if the judgement were wrong.
REFUSED_BY_LOOKS = [
    # IPv4, plainly and in the spellings that systems read as IPv4
    "http://127.0.0.1/",
    "http://127.8.8.8/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://127.0.0.01/",
    "http://00000127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.0x1/",
    "http://256.256.256.256/",
    "http://4294967296/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://203.0.113.9/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    # IPv6
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25lo]/",
    "http://[fe80::1%lo]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[::1/",
    # digits and dots that are not ASCII
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://١٢٧.٠.٠.١/",
    "http://loⅽalhost/",
    "http://%31%32%37.0.0.1/",
    "http://127%2e0%2e0%2e1/",
    # who one claims to be, and what hides the host
    "http://user@93.184.216.34/?key=secret",
    "http://user:secret@93.184.216.34/",
    "http://@93.184.216.34/",
    "http://93.184.216.34:80@127.0.0.1/",
    "http://93.184.216.34\\@127.0.0.1/",
    "http://93.184.216.34#@127.0.0.1/ x",
    "http://93.184.216.34/\r\nHost: 127.0.0.1",
    "http://93.184.216.34\t/",
    "http://93.184.216.34\u200b/",
    "http:///etc/passwd",
    "http://",
    "http:127.0.0.1",
    "//93.184.216.34/",
    "93.184.216.34",
    "",
    # ports
    "http://93.184.216.34:22/",
    "http://93.184.216.34:6379/",
    "http://93.184.216.34:8080/",
    "http://93.184.216.34:0/",
    "http://93.184.216.34:65616/",
    "http://93.184.216.34:-80/",
    "http://93.184.216.34:８０8/",
    # schemes
    "file:///etc/passwd",
    "ftp://93.184.216.34/",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/stat",
    "data:text/xml,<rss/>",
    "javascript:alert(1)",
    "feed://93.184.216.34/",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "jar:http://93.184.216.34/!/",
    "http://" + "a" * 3000 + ".example.org/",
]


@pytest.mark.parametrize("url", REFUSED_BY_LOOKS)
def test_an_address_that_is_not_public_is_refused_by_its_looks(url: str) -> None:
    with pytest.raises(FetchRefusedError) as caught:
        check_url(url)
    said = str(caught.value)
    assert said
    assert len(said) < 300
    assert "secret" not in said
    assert said.isprintable()


@pytest.mark.parametrize("host", sorted(NAMES))
async def test_a_name_that_leads_inward_is_refused(host: str) -> None:
    with pytest.raises(FetchRefusedError) as caught:
        await PublicNetworkBackend(fixed_names).judge(host, 443)
    assert not any(address in str(caught.value) for address in NAMES[host])


@pytest.mark.parametrize(
    "url", ["http://loop.example.org/", "https://LOOP.example.org/", "http://localhost./"]
)
async def test_a_fetch_from_a_name_that_leads_inward_is_refused(url: str) -> None:
    http = SafeHttp(fixed_names)
    with pytest.raises(FetchRefusedError, match="not on the public internet"):
        await http.get(url)
    await http.aclose()


async def test_a_public_name_leads_to_all_its_addresses() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8", "8.8.8.8", "2606:4700::1111"]

    assert await PublicNetworkBackend(resolve).judge("example.org", 80) == ["8.8.8.8", "2606:4700::1111"]
    with pytest.raises(FetchRefusedError, match="Port 25"):
        await PublicNetworkBackend(resolve).judge("example.org", 25)


@pytest.mark.parametrize(
    "url",
    [
        "http://93.184.216.34/",
        "https://example.org",
        "HTTP://Example.ORG:80/feed?x=1#part",
        "https://[2606:2800:220:1::1]/",
        "https://例え.example.org/フィード",
        "https://1.2.3.4.example.org/",
        "http://[64:ff9b::808:808]/",
    ],
)
def test_a_public_address_is_let_through(url: str) -> None:
    assert check_url(url).host


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8"]
)
def test_ordinary_unicast_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:{port}/secret",
        "//127.0.0.1:{port}/secret",
        "http://localhost:{port}/secret",
        "http://[::1]/",
        "https://loop.example.org/",
        "https://loop6.example.org/",
        "file:///etc/passwd",
        "http://user@feeds.example.org:{port}/secret",
        "http://\x01/",
        "http://2130706433:{port}/secret",
    ],
)
async def test_a_redirect_inward_is_refused(target: str) -> None:
    async with serving() as site:

        async def resolve(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1"] if host == "feeds.example.org" else await fixed_names(host, port)

        site.pages["/feed"] = redirect(target.format(port=site.port))
        site.pages["/secret"] = page(b"secret")
        http = SafeHttp(resolve, allow={("feeds.example.org", site.port)})
        with pytest.raises(FetchRefusedError):
            await http.get(f"http://feeds.example.org:{site.port}/feed")
        await http.aclose()
        assert site.paths == ["/feed"]


async def test_what_is_opened_is_one_host_with_one_port_and_nothing_else_on_loopback() -> None:
    async with serving() as site, serving() as other:
        http = SafeHttp(allow={("127.0.0.1", site.port)})
        assert (await http.get(f"http://127.0.0.1:{site.port}/")).status == 404
        for url in (
            f"http://127.0.0.1:{other.port}/",
            f"http://localhost:{site.port}/",
            f"http://127.0.0.2:{site.port}/",
            f"http://127.1:{site.port}/",
            f"http://[::1]:{site.port}/",
            f"http://[::ffff:127.0.0.1]:{site.port}/",
            "http://127.0.0.1/",
        ):
            with pytest.raises(FetchRefusedError):
                await http.get(url)
        await http.aclose()
        assert len(site.heads) == 1
        assert other.heads == []


async def test_a_name_that_is_rebound_between_two_calls_is_refused_at_the_second() -> None:
    answers = [["127.0.0.1"], ["127.0.0.1"], ["::1"]]

    async with serving() as site:

        async def resolve(host: str, port: int) -> Sequence[str]:
            return answers.pop(0)

        http = SafeHttp(resolve, allow={("feeds.example.org", site.port)})
        await http.get(f"http://feeds.example.org:{site.port}/")
        # The same name on an ordinary port is not opened: each look-up is judged anew.
        for _ in answers[:]:
            with pytest.raises(FetchRefusedError):
                await http.get("http://feeds.example.org/")
        await http.aclose()
        assert answers == []
        assert len(site.heads) == 1


async def test_the_connection_goes_to_the_address_that_was_judged_and_the_name_stays_in_the_request() -> None:
    looked_up: list[tuple[str, int]] = []

    async with serving() as site:

        async def resolve(host: str, port: int) -> Sequence[str]:
            looked_up.append((host, port))
            return ["127.0.0.1"]

        http = SafeHttp(resolve, allow={("feeds.example.org", site.port)})
        await http.get(f"http://feeds.example.org:{site.port}/a?b=c#d")
        await http.aclose()
        assert looked_up == [("feeds.example.org", site.port)]
        assert f"host: feeds.example.org:{site.port}" in site.heads[0].lower()
        assert site.paths == ["/a?b=c"]


async def test_a_secure_connection_asks_for_the_name_not_the_address() -> None:
    hello = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.extend(await reader.read(4096))
        writer.close()

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        http = SafeHttp(resolve, allow={("feeds.example.org", port)})
        with pytest.raises(FetchFailedError):
            await http.get(f"https://feeds.example.org:{port}/")
        await http.aclose()
    assert b"feeds.example.org" in hello


@pytest.mark.parametrize("host", ["unknown.example.org", "a" * 64 + ".example.org"])
async def test_an_unknown_name_fails_in_words(host: str) -> None:
    http = SafeHttp(fixed_names)
    with pytest.raises(FetchError):
        await http.get(f"http://{host}/")
    await http.aclose()
