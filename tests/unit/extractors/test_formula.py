"""How office formulas are written on a line."""

import pytest
from lxml import etree

from transforms.extractors.formula import formula_text

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text: str) -> str:
    return f"<m:e>{text if text.startswith('<') else r(text)}</m:e>"


def part(name: str, text: str) -> str:
    return f"<m:{name}>{r(text)}</m:{name}>"


def says(name: str, **values: str) -> str:
    return f"<m:{name}>{''.join(f'<m:{key} m:val=@{value}@/>' for key, value in values.items())}</m:{name}>".replace(
        "@", '"'
    )


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r("2") + f"<m:d>{e('a+b')}</m:d>", "2(a+b)"),
        (f"<m:d>{says('dPr', begChr='[', endChr=')')}{e('0')}{e('1')}</m:d>", "[0|1)"),
        (f"<m:d>{says('dPr', begChr='{', endChr='')}{e('x')}</m:d>", "{x"),
        (f"<m:d>{says('dPr', begChr='|', endChr='|', sepChr=',')}{e('x')}{e('y')}</m:d>", "|x,y|"),
        (f"<m:sSup><m:e><m:d>{e('a+b')}</m:d></m:e>{part('sup', '2')}</m:sSup>", "(a+b)^2"),
        (f"<m:rad><m:deg/>{e('x+1')}</m:rad>", "\u221a(x+1)"),
        (f"<m:rad>{part('deg', '3')}{e('x')}</m:rad>", "x^(1/3)"),
        (f"<m:nary>{says('naryPr', chr='∑')}{part('sub', 'i=1')}{part('sup', 'n')}{e('i')}</m:nary>", "∑_(i=1)^n i"),
        (f"<m:nary>{part('sub', '0')}{part('sup', '1')}{e('x')}</m:nary>", "∫_0^1 x"),
        (f"<m:sSubSup>{e('x')}{part('sub', '1')}{part('sup', '2')}</m:sSubSup>", "x_1^2"),
        (f"<m:sPre>{part('sub', '6')}{part('sup', '14')}{e('C')}</m:sPre>", "_6^14C"),
        (f"<m:func>{part('fName', 'sin')}{e('x')}</m:func>", "sin x"),
        (f"<m:func>{part('fName', 'f')}<m:e><m:d>{e('x')}</m:d></m:e></m:func>", "f(x)"),
        (f"<m:limLow>{e('lim')}{part('lim', 'x→0')}</m:limLow>", "lim_(x→0)"),
        (f"<m:m><m:mr>{e('1')}{e('0')}</m:mr><m:mr>{e('0')}{e('1')}</m:mr></m:m>", "1, 0; 0, 1"),
        (f"<m:eqArr>{e('x=1')}{e('y=2')}</m:eqArr>", "x=1; y=2"),
        (f"<m:f>{says('fPr', type='noBar')}{part('num', 'n')}{part('den', 'k')}</m:f>", "n¦k"),
        (f"<m:bar>{e('x')}</m:bar> <m:acc>{says('accPr', chr='⃗')}{e('v')}</m:acc>", "x\u0305v⃗"),
        (f"<m:bar>{says('barPr', pos='bot')}{e('x')}</m:bar><m:acc>{e('ab')}</m:acc>", "xab"),
        (f"{r('a')}<w:del>{r('b')}</w:del><w:ins>{r('c')}</w:ins>", "ac"),
        ("<m:sSup/><m:d/><m:nary/>", "()∫ "),
    ],
)  # fmt: skip
def test_signs_that_are_no_characters_in_the_file_are_written(formula: str, text: str) -> None:
    assert formula_text(etree.fromstring(f"<m:oMath {M} {W}>{formula}</m:oMath>")) == text
