"""Errors that come out of Beam, told in this program's words."""

import pytest

from pipeline.beam_errors import our_errors
from transforms.model.errors import GuardError, NotFoundError, StorageError

TRACE = """Traceback (most recent call last):
  File "write.py", line 38, in process
transforms.model.errors.StorageError: t/1 cannot be written: the disk is full.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
transforms.model.errors.StorageError: t/1 cannot be written: the disk is full. [while running 'WriteShard/Write']
"""


def found(error):
    return [(type(one), str(one)) for one in our_errors(error)]


def test_an_error_that_came_out_as_text_is_told_in_our_words():
    sentence = (StorageError, "t/1 cannot be written: the disk is full.")
    assert found(RuntimeError(TRACE)) == [sentence, sentence]


def test_an_error_that_came_out_as_itself_loses_what_beam_put_behind_it():
    error = GuardError(
        "Nothing was published:\n  all is gone [while running 'CheckPlans/Check-ptransform-7']"
    )
    assert found(error) == [(GuardError, "Nothing was published:\n  all is gone")]


def test_an_error_of_ours_is_not_taken_for_its_cause():
    error = GuardError("Refused.")
    error.__cause__ = NotFoundError("There is no x.")
    assert found(error) == [(GuardError, "Refused.")]


def test_an_error_of_ours_below_another_one_is_found():
    error = RuntimeError("the bundle failed")
    error.__cause__ = StorageError("The disk is full. [while running 'WriteShard/Write']")
    assert found(error) == [(StorageError, "The disk is full.")]


@pytest.mark.parametrize("text", ["KeyError: 'x'", "transforms.model.errors.NoSuchError: x", ""])
def test_what_is_none_of_ours_gives_nothing(text):
    assert found(RuntimeError(text)) == []
