"""The emulator is as strict as the servers it stands for."""

from typing import Any

import httpx
import pytest

from tests.emulators.openai import OpenAIEmulator

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "r"}


async def post(emulator: OpenAIEmulator, body: dict[str, Any], key: str | None = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {key or emulator.api_key}"}
    async with httpx.AsyncClient(base_url=emulator.base_url, headers=headers, trust_env=False) as client:
        return await client.post("/chat/completions", json=body)


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "non-empty array"),
        ([{"role": "robot", "content": "x"}], "Invalid value: 'robot'"),
        ([USER, {"role": "system", "content": "x"}], "must be at the beginning"),
        ([USER, CALLS], "did not have response messages: c1"),
        ([USER, CALLS, USER], "did not have response messages: c1"),
        ([USER, RESULT], "must be a response to a preceding message"),
        ([USER, CALLS, RESULT, RESULT], "must be a response to a preceding message"),
        ([{"role": "user", "content": None}], "expected a string"),
        ([{"role": "system", "content": [{"type": "text", "text": "x"}]}], "expected a string"),
        ([USER, {**CALLS, "tool_calls": []}], "content"),
    ],
)
async def test_what_real_servers_refuse_is_refused(messages: list[Any], said: str) -> None:
    async with OpenAIEmulator() as emulator:
        response = await post(emulator, {"model": "test-model", "messages": messages})
    assert response.status_code == 400
    assert said in response.json()["error"]["message"]


async def test_keys_models_and_tools_are_checked() -> None:
    good = {"model": "test-model", "messages": [USER]}
    async with OpenAIEmulator() as emulator:
        assert (await post(emulator, good)).status_code == 200
        assert (await post(emulator, good, key="wrong")).status_code == 401
        assert (await post(emulator, {**good, "model": "other"})).status_code == 404
        assert (await post(emulator, {**good, "tools": [{"type": "function"}]})).status_code == 400
        bad_name = {"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}}
        assert (await post(emulator, {**good, "tools": [bad_name]})).status_code == 400


async def test_cached_tokens_come_from_what_was_really_sent_before() -> None:
    async with OpenAIEmulator() as emulator:
        long = {"role": "user", "content": "x" * 4000}
        first = (await post(emulator, {"model": "test-model", "messages": [long]})).json()["usage"]
        same = (await post(emulator, {"model": "test-model", "messages": [long, CALLS, RESULT]})).json()[
            "usage"
        ]
        other = {"role": "user", "content": "y" * 4000}
        fresh = (await post(emulator, {"model": "test-model", "messages": [other]})).json()["usage"]
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    assert same["prompt_tokens_details"]["cached_tokens"] >= 1000
    assert fresh["prompt_tokens_details"]["cached_tokens"] < 20
