"""What is read out of zip and gzip files, and where reading stops."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping

import pytest

from transforms.extractors.extraction import Extraction, RefusedPart
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

Zipped = Callable[[Mapping[str, str | bytes]], bytes]


def found(data: bytes, name: str = "a.zip", **settings: object) -> Extraction:
    return extract(data, name, ExtractSettings.model_validate(settings))


def read(data: bytes, name: str = "a.zip", **settings: object) -> list[Document]:
    return list(found(data, name, **settings).documents)


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


def test_a_member_that_cannot_be_read_is_refused_beside_its_neighbours(zipped: Zipped) -> None:
    zip_file = found(zipped({"a.txt": "A", "b.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old"}))
    assert [document.text for document in zip_file.documents] == ["A"]
    assert zip_file.refused == (
        RefusedPart("b.doc", "unsupported_type", "It is a Word file of the old format; save it as .docx."),
    )


def test_a_member_of_a_member_is_refused_by_its_whole_path(zipped: Zipped) -> None:
    inner = zipped({"a.txt": "A", "b.exe": "MZ", "empty.txt": ""})
    zip_file = found(zipped({"in.zip": inner, "lines.jsonl": '{"a": 1}\n{"a"\n'}))
    assert [document.record for document in zip_file.documents] == ["in.zip#a.txt", "lines.jsonl#1"]
    assert [(part.record, part.reason) for part in zip_file.refused] == [
        ("in.zip#b.exe", "unsupported_type"),
        ("in.zip#empty.txt", "empty"),
        ("lines.jsonl#2", "corrupt"),
    ]


def test_an_archive_without_a_readable_member_is_rejected_for_the_first_ones_reason(zipped: Zipped) -> None:
    with pytest.raises(RejectedError, match=r"unsupported_type: a\.exe: .*\(2 parts, none readable\)"):
        read(zipped({"a.exe": "MZ", "b.exe": "MZ"}))


def test_an_archive_without_members_is_empty(zipped: Zipped) -> None:
    with pytest.raises(RejectedError, match="empty"):
        read(zipped({}))


def test_an_archive_in_an_archive_is_read_with_a_path_for_a_record(zipped: Zipped) -> None:
    data = zipped({"in.zip": zipped({"a.txt": "A"}), "b.txt.gz": gzip.compress(b"B")})
    assert [(d.record, d.text) for d in read(data)] == [("in.zip#a.txt", "A"), ("b.txt.gz", "B")]


def test_nesting_stops_at_the_limit(zipped: Zipped) -> None:
    data = zipped({"a.txt": "A"})
    for _ in range(3):
        data = zipped({"in.zip": data})
    assert [document.record for document in read(data, max_nesting=4)] == ["in.zip#in.zip#in.zip#a.txt"]
    with pytest.raises(RejectedError, match="too_deep"):
        read(data, max_nesting=3)


def test_a_gzip_file_is_the_one_document_inside() -> None:
    [document] = read(gzip.compress(b"# A") + gzip.compress(b" and B\n") + b"\0\0", "a.md.gz")
    assert (document.record, document.text, document.media_type) == (None, "# A and B\n", "text/markdown")


def test_a_gzip_file_of_many_members_is_read_in_one_go() -> None:
    [document] = read(gzip.compress(b"line of text\n") * 5_000, "a.txt.gz")
    assert document.text == "line of text\n" * 5_000


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
    zip_file = found(bytes(data))
    assert [document.record for document in zip_file.documents] == ["b.txt"]
    assert [(part.record, part.reason) for part in zip_file.refused] == [("a.txt", "corrupt")]


def test_utf_8_names_without_the_flag_are_read_as_what_they_are(zipped: Zipped) -> None:
    data = zipped({"xx.txt": "A"}).replace(b"xx.txt", "\u00e9.txt".encode())
    assert [document.record for document in read(data)] == ["\u00e9.txt"]


def test_of_a_thousand_refused_members_and_more_the_last_row_names_the_rest(zipped: Zipped) -> None:
    members: dict[str, str | bytes] = {f"{number}.exe": "x" for number in range(1002)}
    zip_file = found(zipped({**members, "a.txt": "words"}))
    assert len(zip_file.refused) == 1001
    assert zip_file.refused[999].record == "999.exe"
    assert zip_file.refused[1000].record == "(more)"
    assert zip_file.refused[1000].detail.startswith("2 more parts cannot be read; the first is 1000.exe: ")


def test_members_whose_names_differ_in_what_nobody_sees_are_two_documents() -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name in ("a.txt", "\ufeffa.txt", "b\r.txt", "b\n.txt"):
            archive.writestr(name, f"text of {name!r}")
    documents = extract(sink.getvalue(), "a.zip", ExtractSettings()).documents
    assert sorted(document.record or "" for document in documents) == [
        "a.txt",
        "b\n.txt",
        "b\r.txt",
        "\ufeffa.txt",
    ]
