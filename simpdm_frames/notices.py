"""What a call has to say about columns: once per kind, at the user's line."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Sequence

from simpdm_frames.codecs import Choices, Role, TableCodec
from simpdm_frames.column import Column
from simpdm_frames.errors import (
    ExtraColumnsWarning,
    NarrowColumnsWarning,
    Place,
    UnfilledColumnsError,
    UnfilledColumnsWarning,
    UnseenLabelsError,
    UnseenLabelsWarning,
    describe,
)

__all__ = ["Notices"]

_MOST_NAMED = 5


class Notices:
    """Remembers what one call has said, because a query is filled in many batches on several threads."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._said: set[tuple[str, Hashable]] = set()
        self._lock = threading.Lock()

    def of_extra_columns(self, codec: TableCodec, columns: Sequence[Column]) -> None:
        """Name the columns that were not there at the fit."""
        extra = [column for column in columns if column.name not in codec.plan]
        extra = [column for column in extra if self._is_news("extra", column.name)]
        if extra:
            what = describe([(column.name, column.dtype) for column in extra])
            self._place.warn(
                f"columns that were not there when the model was fit are passed through: {what}",
                ExtraColumnsWarning,
            )

    def of_narrow_columns(self, codec: TableCodec, columns: Sequence[Column]) -> None:
        """Name the columns whose dtype rules out some of the fills that the model would choose from."""
        dtypes = {column.name: column.dtype for column in columns}
        news = {name: lost for name, lost in codec.narrow(columns).items() if self._is_news("narrow", name)}
        if news:
            texts = [f"{describe([(name, dtypes[name])])} cannot hold {lost}" for name, lost in news.items()]
            self._place.warn(
                f"fills are among the values that the dtype can hold:{_lines(texts)}", NarrowColumnsWarning
            )

    def of_strange_labels(self, codec: TableCodec, columns: Sequence[Column], choices: Choices) -> None:
        """Name the labels that were not there at the fit, or refuse them."""
        if choices.unseen == "ignore":
            return
        dtypes = {column.name: column.dtype for column in columns}
        found = codec.strangers(columns)
        if choices.unseen == "warn":
            found = {name: labels for name, labels in found.items() if self._is_news("strange", name)}
        if not found:
            return
        what = _lines(
            [f"{describe([(name, dtypes[name])])}: {_some(labels)}" for name, labels in found.items()]
        )
        if choices.unseen == "raise":
            raise UnseenLabelsError(f"fit again with labels that were not there at the fit, such as{what}")
        self._place.warn(
            f"labels that were not there at the fit stay and count as unknown, such as{what}",
            UnseenLabelsWarning,
        )

    def of_holes(self, codec: TableCodec, columns: Sequence[Column], choices: Choices) -> None:
        """Name the columns that keep holes, and why."""
        kept = [
            text
            for name, text, option in _left_with_holes(codec, columns)
            if getattr(choices, option) == "warn" and self._is_news("holes", name)
        ]
        if kept:
            self._place.warn(f"holes are left in{_lines(kept)}", UnfilledColumnsWarning)

    def refuse_holes(self, codec: TableCodec, columns: Sequence[Column], choices: Choices) -> None:
        """Refuse columns that would keep holes, where the caller asked for it."""
        for option in ("on_empty", "on_unsupported"):
            texts = [text for _, text, kind in _left_with_holes(codec, columns) if kind == option]
            if texts and getattr(choices, option) == "raise":
                raise UnfilledColumnsError(f"{option}='raise', and holes would be left in{_lines(texts)}")

    def _is_news(self, kind: str, name: Hashable) -> bool:
        with self._lock:
            news = (kind, name) not in self._said
            self._said.add((kind, name))
        return news


def _left_with_holes(codec: TableCodec, columns: Sequence[Column]) -> Iterator[tuple[Hashable, str, str]]:
    """Give each column that keeps holes against the caller's wish, why, and the option that is about it."""
    for column in columns:
        why = codec.why_left(column)
        if not why or not column.missing.any() or codec.by_choice(column.name):
            continue
        treatment = codec.plan.get(column.name)
        empty = treatment is not None and treatment.role is Role.EMPTY
        text = f"{describe([(column.name, column.dtype)])}: {why}"
        yield column.name, text, "on_empty" if empty else "on_unsupported"


def _lines(texts: Sequence[str]) -> str:
    """Put one thing on the same line, several on lines of their own."""
    return f" {texts[0]}" if len(texts) == 1 else "".join(f"\n  {text}" for text in texts)


def _some(labels: Sequence[Hashable]) -> str:
    shown = ", ".join(map(repr, labels[:_MOST_NAMED]))
    more = len(labels) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
