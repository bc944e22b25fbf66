"""What is read out of zip and gzip files, and where reading stops."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping

import pytest

from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

Zipped = Callable[[Mapping[str, str | bytes]], bytes]


def read(data: bytes, name: str = "a.zip", **settings: object) -> list[Document]:
    return extract(data, name, ExtractSettings.model_validate(settings))


def test_members_are_documents_named_by_their_records(zipped: Zipped) -> None:
    data = zipped({"b.md": "# B", "sub/a.txt": "A", "__MACOSX/._b.md": "junk", ".DS_Store": "junk"})
    assert [(document.record, document.text) for document in read(data)] == [
        ("b.md", "# B"),
        ("sub/a.txt", "A"),
    ]


def test_names_that_climb_out_are_labels_and_nothing_is_written(zipped: Zipped) -> None:
    assert [document.record for document in read(zipped({"../../etc/a.txt": "A", "/b.txt": "B"}))] == [
        "../../etc/a.txt",
        "/b.txt",
    ]


def test_a_member_that_cannot_be_read_is_a_warning_beside_its_neighbours(zipped: Zipped) -> None:
    [document] = read(zipped({"a.txt": "A", "b.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old"}))
    assert document.warnings == (
        "member_rejected:unsupported_type: b.doc: It is a Word file of the old format; save it as .docx.",
    )


def test_an_archive_without_a_readable_member_is_rejected_for_the_first_ones_reason(zipped: Zipped) -> None:
    with pytest.raises(RejectedError, match=r"unsupported_type: a\.exe: .*\(2 members, none readable\)"):
        read(zipped({"a.exe": "MZ", "b.exe": "MZ"}))


def test_an_archive_without_members_is_empty(zipped: Zipped) -> None:
    with pytest.raises(RejectedError, match="empty"):
        read(zipped({}))


def test_an_archive_in_an_archive_is_read_with_a_path_for_a_record(zipped: Zipped) -> None:
    data = zipped({"in.zip": zipped({"a.txt": "A"}), "b.txt.gz": gzip.compress(b"B")})
    assert [(d.record, d.text) for d in read(data)] == [("in.zip/a.txt", "A"), ("b.txt.gz", "B")]


def test_nesting_stops_at_the_limit(zipped: Zipped) -> None:
    data = zipped({"a.txt": "A"})
    for _ in range(3):
        data = zipped({"in.zip": data})
    assert [document.record for document in read(data, max_nesting=4)] == ["in.zip/in.zip/in.zip/a.txt"]
    with pytest.raises(RejectedError, match="too_deep"):
        read(data, max_nesting=3)


def test_a_gzip_file_is_the_one_document_inside() -> None:
    [document] = read(gzip.compress(b"# A") + gzip.compress(b" and B\n") + b"\0\0", "a.md.gz")
    assert (document.record, document.text, document.media_type) == (None, "# A and B\n", "text/markdown")


@pytest.mark.parametrize("cut", [5, 15, -3])
def test_a_gzip_file_that_is_cut_off_is_corrupt(cut: int) -> None:
    with pytest.raises(RejectedError, match="corrupt"):
        read(gzip.compress(b"some text that is long enough")[:cut], "a.txt.gz")


def test_a_gzip_bomb_stops_at_the_ratio() -> None:
    with pytest.raises(RejectedError, match="decompression_bomb"):
        read(gzip.compress(bytes(20 << 20)), "a.txt.gz")


def test_a_bomb_anywhere_rejects_the_whole(zipped: Zipped) -> None:
    data = zipped({"a.txt": "A", "in.zip": zipped({"b.txt": bytes(20 << 20)})})
    with pytest.raises(RejectedError, match="decompression_bomb"):
        read(data)


def test_all_members_share_one_budget(zipped: Zipped) -> None:
    data = zipped({f"{n}.txt": "x" * 400 for n in range(3)})
    assert len(read(data, max_expanded_bytes=1200)) == 3
    with pytest.raises(RejectedError, match="decompression_bomb"):
        read(data, max_expanded_bytes=1199)


def test_an_archive_with_more_members_than_the_limit_is_a_bomb(zipped: Zipped) -> None:
    with pytest.raises(RejectedError, match=r"decompression_bomb: .*3 members; the limit is 2"):
        read(zipped({f"{n}.txt": "x" for n in range(3)}), max_members=2)


def test_sizes_that_a_file_states_are_not_believed(zipped: Zipped) -> None:
    data = zipped({"a.txt": "x" * 5000})
    size = (5000).to_bytes(4, "little")
    assert data.count(size) == 2
    with pytest.raises(RejectedError, match="corrupt"):
        read(data.replace(size, (10).to_bytes(4, "little")))


def test_methods_that_inflate_without_bounds_are_not_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.txt", "A")
    with pytest.raises(RejectedError, match="unsupported_type"):
        read(buffer.getvalue())


def test_a_damaged_member_leaves_the_others(zipped: Zipped) -> None:
    packed = zlib.compress(b"first text, first text", 6)[2:-4]
    data = bytearray(zipped({"a.txt": "first text, first text", "b.txt": "second"}))
    at = data.find(packed)
    data[at + 2] ^= 0xFF
    [document] = read(bytes(data))
    assert document.record == "b.txt"
    assert document.warnings[0].startswith("member_rejected:corrupt: a.txt: ")


def test_utf_8_names_without_the_flag_are_read_as_what_they_are(zipped: Zipped) -> None:
    data = zipped({"xx.txt": "A"}).replace(b"xx.txt", "\u00e9.txt".encode())
    assert [document.record for document in read(data)] == ["\u00e9.txt"]


def test_a_zip_file_of_many_unreadable_members_has_few_warnings(zipped: Callable[..., bytes]) -> None:
    members = {"a.txt": "words"} | {f"{number}.exe": "x" for number in range(50)}
    [document] = extract(zipped(members), "a.zip", ExtractSettings())
    assert len(document.warnings) == 21
    assert document.warnings[-1] == "members_rejected:30 more"
