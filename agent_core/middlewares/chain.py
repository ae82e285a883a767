"""The middlewares of the agents, in their one order."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel

from agent_core.middlewares.call_limit import CallLimitMiddleware
from agent_core.middlewares.clarification import ClarificationMiddleware
from agent_core.middlewares.context_overflow import ContextOverflowMiddleware
from agent_core.middlewares.dangling_tool_calls import DanglingToolCallMiddleware
from agent_core.middlewares.dynamic_context import DynamicContextMiddleware, MemoryReader
from agent_core.middlewares.fence_check import FenceMiddleware
from agent_core.middlewares.guardrail import GuardrailMiddleware, GuardrailProvider, ToolListGuardrail
from agent_core.middlewares.input_sanitization import InputSanitizationMiddleware
from agent_core.middlewares.length_finish_reason import LengthFinishReasonMiddleware
from agent_core.middlewares.llm_error_handling import (
    Fallbacks,
    LLMErrorHandlingMiddleware,
    ModelHealth,
    RetryPolicy,
)
from agent_core.middlewares.loop_detection import LoopDetectionMiddleware, LoopLimits
from agent_core.middlewares.mode import ModeMiddleware, ThinkingMiddleware
from agent_core.middlewares.order import check_order
from agent_core.middlewares.read_before_write import ReadBeforeWriteMiddleware
from agent_core.middlewares.reminders import ReminderMiddleware
from agent_core.middlewares.safety_finish_reason import SafetyFinishReasonMiddleware
from agent_core.middlewares.sandbox import SandboxMiddleware
from agent_core.middlewares.sandbox_audit import SandboxAuditMiddleware
from agent_core.middlewares.skill import SkillMiddleware
from agent_core.middlewares.subagent_limit import SubagentLimitMiddleware
from agent_core.middlewares.summarization import BeforeSummary, SummarizationMiddleware
from agent_core.middlewares.system_message_coalescing import SystemMessageCoalescingMiddleware
from agent_core.middlewares.terminal_response import TerminalResponseMiddleware
from agent_core.middlewares.thread_data import ThreadDataMiddleware
from agent_core.middlewares.title import TitleMiddleware
from agent_core.middlewares.todo import TodoMiddleware, write_todos
from agent_core.middlewares.token_budget import Spending, TokenBudgetMiddleware, TokenLimits
from agent_core.middlewares.token_usage import TokenUsageMiddleware
from agent_core.middlewares.tool_error_handling import DEFAULT_SECONDS, ToolErrorHandlingMiddleware
from agent_core.middlewares.tool_output_budget import OutputBudget, ToolOutputBudgetMiddleware
from agent_core.middlewares.uploads import UploadsMiddleware
from agent_core.middlewares.view_image import ViewImageMiddleware, view_image
from agent_core.models.catalog import ModelCatalog
from agent_core.sandbox.sandbox import SandboxProvider
from agent_core.skills.skill import Skill
from agent_core.summary import SummaryLimits

Chain = list[AgentMiddleware[Any, Any, Any]]


# A subagent has no person before it, no uploads, no title, and no subagents.
_LEAD_ONLY = (
    UploadsMiddleware,
    SkillMiddleware,
    ModeMiddleware,
    TitleMiddleware,
    SubagentLimitMiddleware,
    ClarificationMiddleware,
)


LAYER_TOOLS = (write_todos.name, view_image.name)
"""Tools that layers bring and that subagents may use; the second where the model can see."""


def _may_use(tool: str, tools: Sequence[str] | None) -> bool:
    return tools is None or tool in tools


def _system_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """What is configured about the layers.

    Args:
        max_model_calls: Per run; one more is made to wrap up.
        retry: How failed model calls are tried again.
        fallback_models: Names of the models asked when the chosen one fails for good, in order.
        loops: When a run counts as going in circles.
        tokens: Budgets.
        outputs: How much of a tool's result the model sees.
        tool_seconds: How long a tool call may take.
        tool_seconds_by_tool: The same for single tools.
        denied_tools: Tools that may not be called.
        summary: When a conversation is summed up.
        summary_model: Name of the model that sums up; None for the one that answers.
        title_model: Name of the model that gives titles; None takes a thread's first words.
        zone: Whose date the model is told.
        subagents_at_once: How many subagents may be begun in one response of the model.
        subagents_per_run: How many in one run.
    """

    max_model_calls: int = 100
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    fallback_models: tuple[str, ...] = ()
    loops: LoopLimits = field(default_factory=LoopLimits)
    tokens: TokenLimits = field(default_factory=TokenLimits)
    outputs: OutputBudget = field(default_factory=OutputBudget)
    tool_seconds: float = DEFAULT_SECONDS
    tool_seconds_by_tool: Mapping[str, float] = field(default_factory=dict)
    denied_tools: tuple[str, ...] = ()
    summary: SummaryLimits = field(default_factory=SummaryLimits)
    summary_model: str | None = None
    title_model: str | None = None
    zone: tzinfo = UTC
    subagents_at_once: int = 3
    subagents_per_run: int = 6


@dataclass(frozen=True, slots=True)
class ChainParts:
    """What the layers ask others for.

    Args:
        memory: Gives what is remembered of a person.
        spending: Knows what a person has used today.
        guardrail: Decides about tool calls, besides the list of denied tools.
        sandboxes: Where commands run, if they can.
        before_summary: Called in order before a part of a conversation is summed up.
        now: The clock.
        sleep: Waits some seconds between tries.
    """

    memory: MemoryReader | None = None
    spending: Spending | None = None
    guardrail: GuardrailProvider | None = None
    sandboxes: SandboxProvider | None = None
    before_summary: tuple[BeforeSummary, ...] = ()
    now: Callable[[], datetime] = _system_clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class ChainBuilder:
    """Builds the chains of all agents of a process.

    Args:
        models: The configured models.
        settings: What is configured.
        parts: What the layers ask others for.
        skills: Those that people may ask for by name.
    """

    def __init__(
        self,
        models: ModelCatalog,
        settings: ChainSettings,
        parts: ChainParts,
        skills: Sequence[Skill] = (),
    ) -> None:
        self._models = models
        self._settings = settings
        self._parts = parts
        self._skills = skills
        self._health = ModelHealth(parts.now)

    def build(self, model: str) -> Chain:
        """Give the chain for a model; the first is the outermost.

        Args:
            model: Name of the model.

        Raises:
            ChainOrderError: The list below is in a wrong order.
            ModelConfigError: There is no such model.
        """
        summarization = self._summarization(model, self._parts.before_summary)
        chain = self._layers(model, self._settings.max_model_calls, summarization, None)
        check_order(chain)
        return chain

    def build_for_subagent(self, model: str, max_model_calls: int, tools: Sequence[str] | None) -> Chain:
        """Give the chain of a subagent: the same layers but those that are about the conversation.

        Args:
            model: Name of the model.
            max_model_calls: Per task; one more is made to wrap up.
            tools: Names of the tools it may use; None for all. Those that layers bring count too.

        Raises:
            ChainOrderError, ModelConfigError: See :meth:`build`.
        """
        layers = self._layers(model, max_model_calls, self._summarization(model), tools)
        chain = [layer for layer in layers if not isinstance(layer, _LEAD_ONLY)]
        check_order(chain)
        return chain

    def _layers(
        self,
        model: str,
        max_model_calls: int,
        summarization: SummarizationMiddleware,
        tools: Sequence[str] | None,
    ) -> Chain:
        settings, parts = self._settings, self._parts
        sees = self._models.spec(model).supports_vision and _may_use(view_image.name, tools)
        return [
            InputSanitizationMiddleware(),
            ThreadDataMiddleware(),
            *([SandboxMiddleware(parts.sandboxes)] if parts.sandboxes else []),
            UploadsMiddleware(),
            DanglingToolCallMiddleware(),
            summarization,
            DynamicContextMiddleware(parts.now, settings.zone, parts.memory),
            SkillMiddleware(self._skills),
            ModeMiddleware(),
            TitleMiddleware(self._getter(settings.title_model)),
            TokenBudgetMiddleware(settings.tokens, parts.spending),
            TokenUsageMiddleware(),
            CallLimitMiddleware(max_model_calls),
            *([TodoMiddleware()] if _may_use(write_todos.name, tools) else []),
            LoopDetectionMiddleware(settings.loops),
            TerminalResponseMiddleware(),
            LengthFinishReasonMiddleware(),
            SafetyFinishReasonMiddleware(),
            ContextOverflowMiddleware(),
            ReminderMiddleware(),
            self._llm_errors(model),
            ThinkingMiddleware(self._models.thinking_arguments),
            ViewImageMiddleware(self._models.can_see, offer_tool=sees),
            SystemMessageCoalescingMiddleware(),
            ToolOutputBudgetMiddleware(settings.outputs),
            GuardrailMiddleware(ToolListGuardrail(settings.denied_tools), parts.guardrail),
            SandboxAuditMiddleware(),
            ReadBeforeWriteMiddleware(),
            SubagentLimitMiddleware(settings.subagents_at_once, settings.subagents_per_run),
            ToolErrorHandlingMiddleware(settings.tool_seconds, settings.tool_seconds_by_tool),
            FenceMiddleware(),
            ClarificationMiddleware(),
        ]

    def _llm_errors(self, model: str) -> LLMErrorHandlingMiddleware:
        names = [name for name in self._settings.fallback_models if name != model]
        fallbacks = None
        if names:
            specs = tuple(self._models.spec(name) for name in names)
            fallbacks = Fallbacks(specs, self._get, self._health)
        spec = self._models.spec(model)
        return LLMErrorHandlingMiddleware(spec, self._settings.retry, fallbacks, self._parts.sleep)

    def _summarization(self, model: str, before: tuple[BeforeSummary, ...] = ()) -> SummarizationMiddleware:
        limits = self._settings.summary.within(self._models.spec(model).context_window)
        by = self._getter(self._settings.summary_model)
        return SummarizationMiddleware(limits, by, before, self._models.prices)

    def _getter(self, name: str | None) -> Callable[[], Awaitable[BaseChatModel]] | None:
        return None if name is None else lambda: self._get(name)

    async def _get(self, name: str) -> BaseChatModel:
        # The first use of a model may import for seconds.
        return await asyncio.to_thread(self._models.get, name)
