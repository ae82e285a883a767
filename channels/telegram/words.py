"""What a message without text or file says, in words. Pure."""

from channels.telegram.updates import Message

_MOST_OPTIONS = 20
"""Answers of a poll that are told; the Bot API allows twelve."""


def in_words(message: Message) -> str:
    """Stickers, places, contacts, polls and dice as a line in brackets; empty if there is none of them."""
    told: list[str] = []
    if message.sticker is not None:
        told.append(f"Sticker {message.sticker.emoji}" if message.sticker.emoji else "Sticker")
    if message.venue is not None:
        told.append(f"Venue: {_listed(message.venue.title, message.venue.address)}")
    if message.location is not None:
        place = message.location
        told.append(f"Location: latitude {place.latitude}, longitude {place.longitude}")
    if message.contact is not None:
        card = message.contact
        name = f"{card.first_name} {card.last_name or ''}".strip()
        told.append(f"Contact: {_listed(name, card.phone_number)}")
    if message.poll is not None:
        options = " / ".join(option.text for option in message.poll.options[:_MOST_OPTIONS])
        told.append(f"Poll: {message.poll.question} ({options})")
    if message.dice is not None:
        told.append(f"Dice {message.dice.emoji}: {message.dice.value}")
    return f"[{'; '.join(told)}]" if told else ""


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
