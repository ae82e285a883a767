"""Letting people in over HTTP, for the ``hart pairing`` commands."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from bot.clock import new_id
from bot.config.channels import Role
from bot.pairing import OPERATOR, Pairing, Person


class PersonSummary(BaseModel):
    """Somebody who waits, or was let in: then with their role, and who let them in."""

    channel: str
    account: str
    id: str
    name: str
    since: str
    role: str | None
    by: str


class PairingOverview(BaseModel):
    """Who waits, and who was let in."""

    waiting: list[PersonSummary]
    let_in: list[PersonSummary]


class Approval(BaseModel):
    """A code to approve."""

    code: str = Field(max_length=100)
    role: Role = Role.MEMBER


class Named(BaseModel):
    """Somebody to turn away or to shut out, by the platform's id of them."""

    user_id: str = Field(min_length=1, max_length=200)


class Answer(BaseModel):
    """How it went."""

    done: bool
    words: str


def pairing_routes(pairing: Pairing) -> APIRouter:
    """Routes to see who waits, let them in or not, and shut people out."""
    router = APIRouter(prefix="/api/pairing")

    @router.get("")
    async def overview() -> PairingOverview:
        found = await pairing.overview(OPERATOR)
        return PairingOverview(
            waiting=[_summary(person) for person in found.waiting],
            let_in=[_summary(person) for person in found.let_in],
        )

    @router.post("/approve")
    async def approve(approval: Approval) -> Answer:
        outcome = await pairing.approve(OPERATOR, approval.code, approval.role, f"cli:{new_id()}")
        return Answer(done=outcome.done, words=outcome.words)

    @router.post("/reject")
    async def reject(named: Named) -> Answer:
        outcome = await pairing.reject(OPERATOR, named.user_id)
        return Answer(done=outcome.done, words=outcome.words)

    @router.post("/revoke")
    async def revoke(named: Named) -> Answer:
        outcome = await pairing.revoke(OPERATOR, named.user_id)
        return Answer(done=outcome.done, words=outcome.words)

    return router


def _summary(person: Person) -> PersonSummary:
    channel, account = person.account
    return PersonSummary(
        channel=channel,
        account=account,
        id=person.id,
        name=person.name,
        since=person.since.isoformat(),
        role=person.role,
        by=person.by,
    )
