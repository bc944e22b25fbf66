"""What is read out of mails."""

import base64
from email.message import EmailMessage

import pytest

from transforms.extractors import registry
from transforms.extractors.eml import extract_eml
from transforms.extractors.extraction import Extraction, RefusedPart
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import BlockKind, Document
from transforms.model.errors import RejectedError


def found(data: bytes, **settings: object) -> Extraction:
    return extract_eml(data, "a.eml", ExtractSettings.model_validate(settings))


def read(data: bytes, **settings: object) -> list[Document]:
    return list(found(data, **settings).documents)


def mail(subject: str = "Pump", body: str | None = "It leaks.\n") -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = "Ada <ada@club.example>"
    message["To"] = "workshop@club.example"
    message["Date"] = "Wed, 19 Jun 2024 20:02:44 +0200"
    if body is not None:
        message.set_content(body)
    return message


def test_the_subject_is_the_title_and_heading_and_the_headers_are_metadata() -> None:
    [document] = read(mail().as_bytes())
    assert document.text == "# Pump\n\nIt leaks.\n"
    assert document.title == "Pump"
    assert [(block.kind, block.start, block.end) for block in document.blocks] == [
        (BlockKind.HEADING, 0, 6),
        (BlockKind.PARAGRAPH, 8, 17),
    ]
    assert document.metadata == {
        "from": "Ada <ada@club.example>",
        "to": "workshop@club.example",
        "date": "2024-06-19T20:02:44+02:00",
    }


def test_a_plain_body_is_kept_as_it_is_and_never_read_as_markdown() -> None:
    [document] = read(mail(body="# not a heading\n\n    kept  apart\n").as_bytes())
    assert document.text == "# Pump\n\n# not a heading\n\n    kept  apart\n"
    assert [block.kind for block in document.blocks] == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.PARAGRAPH,
    ]


def test_of_two_wordings_the_plain_one_is_taken() -> None:
    message = mail(body="Plain wording.")
    message.add_alternative("<p>Rich wording.</p>", subtype="html")
    [document] = read(message.as_bytes())
    assert document.text == "# Pump\n\nPlain wording.\n"


def test_html_is_taken_where_the_plain_wording_says_next_to_nothing() -> None:
    message = mail(body="See HTML.")
    message.add_alternative("<h2>Report</h2><p>All that is worth saying, at length.</p>", subtype="html")
    [document] = read(message.as_bytes())
    assert document.text == "# Pump\n\n## Report\n\nAll that is worth saying, at length.\n"
    assert document.blocks[1].title == "Report"


def test_attachments_are_documents_of_their_own() -> None:
    message = mail()
    message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="t\u00e4ble.csv")
    message.add_attachment("Seen.", filename="note.txt")
    message.add_attachment("Seen again.", filename="note.txt")
    documents = read(message.as_bytes())
    assert [(document.record, document.text) for document in documents] == [
        (None, "# Pump\n\nIt leaks.\n\nAttachments: t\u00e4ble.csv, note.txt, note.txt\n"),
        ("t\u00e4ble.csv", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
        ("note.txt", "Seen.\n"),
        ("note (2).txt", "Seen again.\n"),
    ]


def test_an_attachment_that_cannot_be_read_is_refused_and_the_mail_stays() -> None:
    message = mail()
    message.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="seal.png")
    mailed = found(message.as_bytes())
    assert [document.title for document in mailed.documents] == ["Pump"]
    [part] = mailed.refused
    assert (part.record, part.reason) == ("seal.png", "unsupported_type")


def test_a_mail_in_a_mail_is_read_with_its_attachments() -> None:
    inner = mail("Inner", "Inside.\n")
    inner.add_attachment("Deep.", filename="deep.txt")
    outer = mail("Outer", "Outside.\n")
    outer.add_attachment(inner)
    documents = read(outer.as_bytes())
    assert [(document.record, document.title) for document in documents] == [
        (None, "Outer"),
        ("Inner.eml", "Inner"),
        ("Inner.eml#deep.txt", None),
    ]


def test_mails_in_mails_end_at_the_limit() -> None:
    message = mail("0", "Level 0.\n")
    for level in range(1, 5):
        outer = mail(str(level), f"Level {level}.\n")
        outer.add_attachment(message)
        message = outer
    mailed = found(message.as_bytes(), max_nesting=2)
    assert [document.title for document in mailed.documents] == ["4", "3", "2"]
    assert mailed.refused == (
        RefusedPart(
            "3.eml#2.eml#1.eml",
            "too_deep",
            "The mail's attachments lies in too many others; the limit is max_nesting.",
        ),
    )


def test_pictures_shown_in_the_text_are_no_attachments() -> None:
    message = mail(body=None)
    message.set_content("<p>Look:</p><img src='cid:x'>", subtype="html")
    message.add_related(b"\x89PNG", maintype="image", subtype="png", cid="<x>", filename="x.png")
    [document] = read(message.as_bytes())
    assert (document.text, document.warnings) == ("# Pump\n\nLook:\n", ())


def test_flowed_lines_are_joined() -> None:
    data = b"Subject: S\nContent-Type: text/plain; format=flowed\n\nOne \nsentence.\n> quoted \n> twice\n-- \nAda\n"
    [document] = read(data)
    assert document.text == "# S\n\nOne sentence.\n> quoted twice\n-- \nAda\n"


@pytest.mark.parametrize("charset", ["windows-1252", "no-such-charset", "ascii"])
def test_a_charset_that_is_wrong_or_unknown_does_not_lose_the_body(charset: str) -> None:
    head = f"Subject: S\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    text = "Die T\u00fcr an der R\u00fcckseite der Pumpe l\u00e4sst sich nicht mehr schlie\u00dfen."
    [document] = read(head.encode() + text.encode("cp1252"))
    assert document.text == f"# S\n\n{text}\n"


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("Content-Type: text/plain; charset=unknown-8bit\n", "koi8_r"),
        ("Content-Type: text/html; charset=unknown-8bit\n", "koi8_r"),
        ("", "koi8_r"),
        ("Content-Type: text/plain; charset=us-ascii\n", "cp1252"),
    ],
)
def test_a_charset_that_is_guessed_is_a_warning(header: str, encoding: str) -> None:
    text = {
        "koi8_r": "Съешь же ещё этих мягких булок да выпей чаю.",
        "cp1252": "Die Tür lässt sich schließen.",
    }
    head = f"Subject: S\n{header}Content-Transfer-Encoding: 8bit\n\n"
    [document] = read(head.encode() + text[encoding].encode(encoding))
    assert document.text == f"# S\n\n{text[encoding]}\n"
    assert document.warnings == (f"charset_guessed:{encoding}",)


def test_encoded_headers_are_decoded() -> None:
    [document] = read(b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n =?utf-8?q?_aus_K=C3=B6ln?=\n\nText.\n")
    assert document.title == "Gr\u00fc\u00dfe aus K\u00f6ln"


def test_headers_that_break_the_rules_do_not_stop_the_mail() -> None:
    [document] = read(b"Subject: S\nFrom: <>>@@[\nDate: yesterday\nTo: \xff\xfe\n\nText.\n")
    assert document.text == "# S\n\nText.\n"
    assert document.metadata["date"] == "yesterday"


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"Subject: Pump" + b" =?utf-8?q?a?=" * 100_000, id="encoded words"),
        pytest.param(
            b"Subject: Pump\nContent-Type: text/plain; " + b";".join(b"a*%d=x" % n for n in range(20_000)),
            id="parameters",
        ),
        pytest.param(b"Subject: Pump\nTo: " + b"(" * 100_000, id="comments"),
    ],
)
def test_headers_without_an_end_are_read_up_to_a_length(header: bytes) -> None:
    [document] = read(header + b"\n\nIt leaks.\n")
    assert document.title is not None
    assert document.title.startswith("Pump")
    assert len(document.title) <= 16_384
    assert document.text.endswith("It leaks.\n")


def test_an_encrypted_mail_says_so() -> None:
    data = (
        b"Subject: S\nContent-Type: multipart/encrypted; boundary=b\n\n--b\nContent-Type: application/pgp-encrypted\n\n"
        b"Version: 1\n--b\nContent-Type: application/octet-stream\n\nxxxx\n--b--\n"
    )
    with pytest.raises(RejectedError, match="encrypted"):
        read(data)


def test_what_has_no_header_of_a_mail_is_corrupt() -> None:
    with pytest.raises(RejectedError, match="corrupt"):
        read(b"\x00\x01\x02 something else entirely")


def test_a_mail_without_text_says_so() -> None:
    with pytest.raises(RejectedError, match="no_text"):
        read(b"From: a@b.example\n\n\n")


def test_a_charset_with_nul_in_its_name_is_one_that_nobody_knows():
    mail = b'Subject: Fuses\r\nContent-Type: text/plain; charset="ut\x00f-8"\r\n\r\nBlade fuses, 20 A.\r\n'
    [document] = registry.extract(mail, "a.eml", ExtractSettings()).documents
    assert "Blade fuses, 20 A." in document.text


def part(charset: str, body: bytes, kind: str = "plain") -> bytes:
    head = f"Subject: S\nContent-Type: text/{kind}; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("iso-8859-1", "\u201chi\u201d \u2013 5 \u20ac".encode("cp1252"), "\u201chi\u201d \u2013 5 \u20ac"),
        ("ISO-8859-1", "Gr\u00fc\u00dfe \u4f60".encode(), "Gr\u00fc\u00dfe \u4f60"),
        ("gb2312", "\u6731\u9555\u57fa".encode("gbk"), "\u6731\u9555\u57fa"),
        ("ks_c_5601-1987", "\uc548\ub155 \ub620".encode("cp949"), "\uc548\ub155 \ub620"),
        ("x-sjis", "\u3053\u3093\u2460".encode("cp932"), "\u3053\u3093\u2460"),
        ("iso-2022-jp", "\u3053\u3093".encode("iso2022_jp"), "\u3053\u3093"),
    ],
)
def test_charsets_mean_in_mails_what_programs_mean_by_them(charset: str, body: bytes, text: str) -> None:
    [document] = read(part(charset, body))
    assert (document.text, document.warnings) == (f"# S\n\n{text}\n", ())


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_headers_in_other_bytes_than_ascii_are_read(encoding: str) -> None:
    names = "Subject: Gr\u00fc\u00dfe aus K\u00f6ln\nFrom: J\u00f6rg <j@club.example>\n".encode(encoding)
    [document] = read(names + b"Content-Type: text/plain; charset=iso-8859-1\n\nText.\n")
    assert document.title == "Gr\u00fc\u00dfe aus K\u00f6ln"
    assert document.metadata["from"] == "J\u00f6rg <j@club.example>"


def test_a_byte_order_mark_hides_no_header() -> None:
    [document] = read(b"\xef\xbb\xbfFrom: a@b.example\nSubject: S\n\nText.\n")
    assert document.text == "# S\n\nText.\n"


def test_quotations_flow_as_deep_as_they_are() -> None:
    text = "> one \n> two\n>> three \n>> four\n> five \nsix \nseven\n"
    [document] = read(f"Subject: S\nContent-Type: text/plain; format=flowed\n\n{text}".encode())
    assert document.text == "# S\n\n> one two\n>> three four\n> five \nsix seven\n"


def test_a_body_whose_boundary_is_not_there_is_text() -> None:
    [document] = read(b"Subject: S\nContent-Type: multipart/mixed; boundary=a\n\n--b\n\nThe text.\n--b--\n")
    assert document.text == "# S\n\n--b\n\nThe text.\n--b--\n"


@pytest.mark.parametrize("coding", ["base64", "7bit"])
def test_a_mail_inside_is_read_however_it_is_written(coding: str) -> None:
    inside = b"Subject: Inside\n\nIts text.\n"
    head = (
        "Subject: S\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nText.\n--b\n"
        f"Content-Type: message/rfc822\nContent-Transfer-Encoding: {coding}\n\n"
    )
    written = base64.encodebytes(inside) if coding == "base64" else inside
    outer, inner = read(head.encode() + written + b"\n--b--\n")
    assert (outer.text, inner.text) == ("# S\n\nText.\n", "# Inside\n\nIts text.\n")
