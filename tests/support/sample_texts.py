"""Texts of many kinds, such as people write and such as make tokenizers stumble."""

from __future__ import annotations

PASSAGES: dict[str, str] = {
    "english": (
        "It is a truth universally acknowledged, that a single man in possession of a good "
        "fortune, must be in want of a wife. However little known the feelings or views of such a "
        "man may be on his first entering a neighbourhood, this truth is so well fixed in the "
        "minds of the surrounding families, that he is considered as the rightful property of "
        "some one or other of their daughters.\n\nThe rain had stopped by four o'clock; nobody "
        'noticed. "Shall we go?" she asked -- and they went.'
    ),
    "japanese": (
        "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で"
        "ニャーニャー泣いていた事だけは記憶している。\n\n\u3000翌朝、東京駅から新幹線に乗った。"
        "「コーヒーをください」と彼女は言った。１２３４５円、ｶﾞｷﾞｸﾞ、㍿、①②、〜？！\n"
        "\u3000\u3000髙﨑さんは鰻を食べ、𠮷野家で𩸽を見た。"
    ),
    "chinese": (
        "我冒了嚴寒，回到相隔二千餘里，別了二十餘年的故鄉去。时候既然是深冬，渐近故乡时，天气又阴晦了，"
        "冷风吹进船舱中，呜呜的响。\n“今天怎么样？”他问道……2024年3月15日，共花费1,234.56元。"
    ),
    "korean, cyrillic, thai, arabic": (
        "옛날 옛적에 호랑이가 담배 피우던 시절, 한 마을에 착한 나무꾼이 살았습니다.\n"
        "Все счастливые семьи похожи друг на друга; ёлка, йод.\n"
        "ประเทศไทยมีอากาศร้อนมาก ราคา ฿100\nكان يا ما كان، في قديم الزمان ١٢٣٤\n"
        "हिन्दी में लिखना अच्छा है। नमस्ते, १२३"
    ),
    "code": (
        "def fold(xs: list[int], *, start=0) -> int:\n    total = start\n    for i, x in "
        "enumerate(xs):\n        if x % 2 == 0 and i != 10:\n            total += x ** 2  # even\n"
        "\n    return total\n\n\nclass Point(NamedTuple):\n\tx: float\n\ty: float = 1e-6\n\n"
        "const re = /^[a-z]+\\/(\\d{3,})$/gi; // don't\n#include <stdio.h>\r\nint main(void)\r\n"
        "{\r\n\tprintf(\"%5.2f\\n\", a[i]->b);\r\n\treturn 0;\r\n}\r\n<p class='x'>a &amp; b</p>\n"
        "SELECT * FROM t WHERE id IN (1,22,333,4444) ORDER BY name;;\n$ ls -la ~/.cache/*.tmp | wc"
    ),
    "emoji": (
        "Great 👍🏽👍🏿! 👨\u200d👩\u200d👧\u200d👦 and 🏳️\u200d🌈, flags 🇯🇵🇩🇪, ❤️ vs ❤, 1️⃣2️⃣ "
        "👩🏻\u200d🚀 wow😂😂😂 :-) \U0001f9d1\u200d\U0001f91d\u200d\U0001f9d1 ☕️☕ 𝒳𝟙𝟚 end🙂"
    ),
    "combining marks": (
        "café cafe\u0301 naïve nai\u0308ve Zürich Zu\u0308rich Å A\u030a \u212b, Tiếng Việt "
        "Tie\u0302\u0301ng Vie\u0323\u0302t, q\u0307\u0323 q\u0323\u0307, か\u3099 が ハ\u309a パ, "
        "각 \u1100\u1161\u11a8, x\u0338 =\u0338 ≠ e\u0301\u0301\u0301 \u0301a  \u0308 n\u0303"
    ),
    "spaces": (
        "a  b   c    d     e      f       g        h\n\n\ni\n \nj \n  k\t\tl \t m\r\n\r\nn\r"
        "o\u00a0p \u00a0q\u3000r\u3000\u3000s \u3000t\u2003u\u2028v\u200bw\ufeffx        \n"
        "                y\n\n\n\n\nz   \n   \n   end. \n\n  Then.  Two  spaces.   "
    ),
    "contractions": (
        "I'm you're he'd she'll we've it's don't I'M YOU'RE HE'D SHE'LL WE'VE IT'S DON'T "
        "I\u2019m you\u2019re don\u2019t o'clock 'tis 'twas rock'n'roll 'so' ''s' 'S'T'Re'vE'lL "
        "John's' 's 't 're 've 'm 'll 'd 'x a'b 'é'日 's1 '1s Camel'Case's XML'D I'd've y'all're"
    ),
    "digits": (
        "1 12 123 1234 12345 123456 1234567 12345678901234567890 3.14159 1,000,000 1e10 0x1F "
        "v2.0.1 2024-03-15T08:30:59Z 50% #1 $9.99 ½ ²³ ⅷ ①② ١٢٣ １２３ 10\u00a0000 A4 3D "
        "x2y3 1.2.3.4 (555) 010-9999 00:00:00 007 1st 22nd 3rd"
    ),
    "signs": (
        "<s> </s> <|endoftext|> <|im_start|>user\nhi<|im_end|> [INST] <doc> <unk> <0x0A> \u2581a "
        "!!! ... --- ??!! ///// ##### ***** _____ ~~~~~ (((())) [[]] {{}} <<>> &&|| @me #tag "
        "http://ex.am/ple?a=1&b=%20#x \u2026 \u2014 \u00ab\u00bb \u201ca\u201d \u2018b\u2019 a/b/c "
        "/\n/ .\n. !\r\n !\n\n\x00\x01\x7f\u0085\ufffd \u017f's tw\u017fo \u0378 \U000e0041"
    ),
    "runs": (
        "aaaaaaaaaaaaaaaa AAAAAAAAAA ああああああああ 。。。。。。 !!!!!!!!!! hahahahahaha "
        "            x\n\n\n\n\n\n\n\ny\t\t\t\t\t\tz "
        "111111111111 ''''' \u3000\u3000\u3000\u3000\u3000"
        "q mississippi banananana lololol =====-----===== \r\r\r\r\r\n\n\n\n\n"
    ),
}

# One character over and over, to where windows of powers of two would end: what stands before is
# neither to be forgotten nor to be made up.
LONG_RUNS = tuple(
    before + character * length
    for before, character, lengths in (
        ("", " ", (64,)),
        ("a", " ", (63, 64, 65, 129)),
        ("a", "\n", (65,)),
        ("", "1", (65,)),
        ("", "あ", (33,)),
        ("o", "\u0316", (31, 32, 33, 65)),
    )
    for length in lengths
)
