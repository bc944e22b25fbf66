"""Guessed encodings: the first article of the Declaration of Human Rights in its languages and their encodings."""

import random

import pytest

from transforms.extractors.charset import decode
from transforms.extractors.charset_guess import likeliest

TEXTS = {
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt "
    "und sollen einander im Geist der Brüderlichkeit begegnen.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
    "conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y "
    "conciencia, deben comportarse fraternalmente los unos con los otros.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de "
    "consciência, devem agir uns para com os outros em espírito de fraternidade.",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Ciò è scritto, perché non può non "
    "essere, e devono agire gli uni verso gli altri in spirito di fratellanza.",
    "sv": "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft och samvete och "
    "bör handla gentemot varandra i en anda av broderskap.",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og "
    "samvittighed, og de bør handle mod hverandre i en broderskabets ånd.",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja "
    "omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i "
    "sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají "
    "spolu jednat v duchu bratrství.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és "
    "lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve "
    "birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.",
    "lt": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie turi "
    "elgtis vienas kito atžvilgiu kaip broliai.",
    "lv": "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar saprātu un "
    "sirdsapziņu, un viņiem jāizturas citam pret citu brālības garā.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и "
    "должны поступать в отношении друг друга в духе братства.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і "
    "повинні діяти у відношенні один до одного в дусі братерства.",
    "bg": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да "
    "се отнасят помежду си в дух на братство.",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג.",
    "ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا.",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    "人間は、理性と良心とを授けられている。",
    "zh": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
    "zh-Hant": "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. "
    "인간은 천부적으로 이성과 양심을 부여받았다.",
}  # fmt: skip
WESTERN = ("cp1252", "iso8859_15", "cp850", "cp437", "mac_roman")
CENTRAL = ("cp1250", "iso8859_2", "cp852", "mac_latin2")
BALTIC = ("cp1257", "iso8859_13", "cp775")
ENCODINGS = {
    **dict.fromkeys(("de", "fr", "es", "it", "sv", "fi"), WESTERN),
    **dict.fromkeys(("pt", "da"), ("cp1252", "iso8859_15", "cp850", "mac_roman")),
    **dict.fromkeys(("pl", "cs", "hu"), CENTRAL),
    **dict.fromkeys(("lt", "lv"), BALTIC),
    "tr": ("cp1254", "iso8859_9", "cp857"),
    "el": ("cp1253", "iso8859_7", "cp737"),
    "ru": ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic"),
    "uk": ("cp1251", "koi8_u", "cp1125", "iso8859_5"),
    "bg": ("cp1251", "cp866", "iso8859_5"),
    "he": ("cp1255", "iso8859_8", "cp862"),
    "ar": ("cp1256", "iso8859_6"),
    "th": ("cp874",),
    "ja": ("cp932", "euc_jp"),
    "zh": ("gb18030",),
    "zh-Hant": ("big5",),
    "ko": ("cp949", "euc_kr"),
}
CASES = [(language, encoding) for language, encodings in ENCODINGS.items() for encoding in encodings]


def misread(length: int) -> list[tuple[str, str]]:
    """Which texts of that length are not read as they were written; a wrong guess is marked always."""
    wrong = []
    for language, encoding in CASES:
        text = TEXTS[language][:length]
        if text.isascii():
            continue
        found, warnings = decode(text.encode(encoding))
        assert [warning.partition(":")[0] for warning in warnings] == ["charset_guessed"]
        if found != text:
            wrong.append((language, encoding))
    return wrong


@pytest.mark.parametrize("length", [1000, 80])
def test_a_sentence_tells_its_encoding(length: int) -> None:
    assert misread(length) == []


def test_a_few_words_tell_most_encodings() -> None:
    assert len(CASES) == 86
    assert misread(24) == [("fr", "cp850"), ("fr", "cp437"), ("fr", "mac_roman")]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe", "cp850"),
        ("naïve café", "cp1252"),
        ("“Quoted” — the firm’s own words", "cp1252"),
        ("Příliš žluťoučký kůň", "iso8859_2"),
        ("Привет", "koi8_r"),
        ("Привет", "cp866"),
        ("ПРИКАЗ ПО ОТДЕЛУ КАДРОВ", "cp1251"),
        ("日本語のテスト", "euc_jp"),
        ("価格表", "cp932"),
        ("中文测试，谢谢。", "gb18030"),
        ("中文測試，謝謝。", "big5"),
        ("한국어 시험입니다", "cp949"),
        ("DIRECCIÓN: DÍGITOS", "cp1252"),
        ("╔════╗\r\n║ Übersicht ║\r\n╚════╝", "cp437"),
        ("The oven is at 200 °C.", "cp1252"),
        ("45° ± 1°, i.e. ½ of 90°", "cp1252"),
        ("id,price\n1,£5\n2,£10", "cp1252"),
        ("5 × 3 = 15", "cp1252"),
        ("Acme® Widget™ costs £5.", "cp1252"),
        ("1½ cups flour", "cp1252"),
        ("area 30 km² total", "cp1252"),
        ("Größe 5 m²", "cp850"),
        ("On był w domu", "iso8859_2"),
        ("я и ты", "koi8_r"),
        ("│ Меню │", "cp866"),
    ],
)  # fmt: skip
def test_a_few_words_are_enough(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding))[0] == text


def test_noise_has_no_guess() -> None:
    assert likeliest(random.Random(7).randbytes(1000)) == []
