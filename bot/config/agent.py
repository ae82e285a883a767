"""The ``agent:`` section: how the agent behaves and what bounds it."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from agent_core.modes import Mode
from bot.config.models import ClassPath
from bot.config.modes import ModeName
from bot.config.section import Expected, Name, PositiveInt, PositiveSeconds, Section, Text
from bot.config.tasks import Zone

Tokens = Annotated[int, Field(ge=1, le=10**12, strict=True), Expected("a whole number of tokens, 1 or more")]


class LoopConfig(Section):
    """When a run counts as going in circles.

    Args:
        warn: Equal tool calls after which the model is told.
        stop: Equal tool calls at which the run is ended.
        window: How many of the model's latest messages are looked at.
        tool_warn: Calls of one tool in a run after which the model is told.
        tool_stop: Calls of one tool in a run after which it is ended.
    """

    warn: PositiveInt = 3
    stop: PositiveInt = 5
    window: PositiveInt = 20
    tool_warn: PositiveInt = 30
    tool_stop: PositiveInt = 50

    @model_validator(mode="after")
    def _warn_first(self) -> Self:
        if self.warn >= self.stop or self.tool_warn >= self.tool_stop:
            raise ValueError("a warning must come before the end: warn < stop and tool_warn < tool_stop")
        if self.stop > self.window:
            raise ValueError("stop cannot be above window, or it is never reached")
        return self


class TokenBudgetConfig(Section):
    """Tokens, of prompts and answers together; none for no limit.

    Args:
        run: In one run.
        thread: In one conversation.
        user_day: In all runs of one person on one day of the agent's zone.
    """

    run: Tokens | None = None
    thread: Tokens | None = None
    user_day: Tokens | None = None


class ToolOutputConfig(Section):
    """How much of a tool's result the model sees.

    Args:
        characters: Longer results are put into a file.
        head: Characters kept from the beginning.
        tail: Characters kept from the end.
    """

    characters: PositiveInt = 12_000
    head: PositiveInt = 2_000
    tail: PositiveInt = 1_000

    @model_validator(mode="after")
    def _shorter(self) -> Self:
        if self.head + self.tail > self.characters:
            raise ValueError("head and tail together cannot be above characters")
        return self


class SummarizationConfig(Section):
    """When a long conversation is summed up.

    Args:
        model: Name of the model that sums up; None for the one that answers.
        messages: More than so many, sent to the model, are too many.
        tokens: The same for tokens, estimated; never more than 70 % of the model's context window.
        keep_messages: The newest ones that stay as they are, at most.
        keep_tokens: The same for tokens.
    """

    model: Name | None = None
    messages: PositiveInt = 150
    tokens: PositiveInt = 100_000
    keep_messages: PositiveInt = 40
    keep_tokens: PositiveInt = 25_000

    @model_validator(mode="after")
    def _keeps_less(self) -> Self:
        if self.keep_messages * 2 > self.messages or self.keep_tokens * 2 > self.tokens:
            raise ValueError(
                "at most half of what is allowed can stay as it is; lower keep_*, or raise the limits"
            )
        return self


class AgentConfig(Section):
    """How the agent behaves.

    Args:
        default_model: Name of the model to use where none is asked for; None for the first one.
        fallback_models: Names of the models asked, in order, when the one in use fails.
        title_model: Name of the model that names conversations; None takes their first words.
        instructions: Added to the system prompt, for all threads alike.
        zone: IANA time zone of the date the model is told, and of a person's day.
        max_model_calls: Model calls in one run before it is ended.
        mode: How much it may spend where a conversation or task says nothing else.
        tool_timeout_seconds: Longest wait for one tool call, for tools that do not say otherwise.
        denied_tools: Names of tools that may not be called.
        guardrail: A class that decides about each tool call, as ``package.module:Class``.
        loop, token_budget, tool_output, summarization: See their classes.
    """

    default_model: Name | None = None
    fallback_models: tuple[Name, ...] = ()
    title_model: Name | None = None
    instructions: str = ""
    zone: Zone = "UTC"
    max_model_calls: PositiveInt = 100
    mode: ModeName = Mode.ULTRA
    tool_timeout_seconds: PositiveSeconds = 300
    denied_tools: tuple[Text, ...] = ()
    guardrail: ClassPath | None = None
    loop: LoopConfig = LoopConfig()
    token_budget: TokenBudgetConfig = TokenBudgetConfig()
    tool_output: ToolOutputConfig = ToolOutputConfig()
    summarization: SummarizationConfig = SummarizationConfig()
