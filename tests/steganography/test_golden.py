"""Texts that were written once and must be read for ever, and written again to the letter.

A change that fails here makes the texts that people have unreadable: give whatever changed a new
name or a new version instead.
"""

import hashlib
import itertools
from pathlib import Path

import pytest

import ticore

FORMER = Path(__file__).with_name("former_files")
KEY = bytes(range(32))
PROMPT = "The morning was cold and"
BITS = [int(bit) for bit in f"{0xC0FFEE15600D:048b}"]

GOLDEN_WHOLE = (
    "The morning was cold and quiet, the only day after this afternoon.\nIt appeared to "
    "Watching, and was awake now to pass out; the hour came out by eighteen and two after"
    " breakfast, and a week came a long, easy-toe, the more stories of things came from. "
    "From time to time, when the porch went into the land, and of a time the landlady was"
    " not in love with the Walkan Government; their pots shoot very much the country from"
    " the Land; they dwarched at Christopher's end."
)
GOLDEN_CONTINUATION = (
    "the morning air, and the sun had come to the sun and the sunlight and sunlight; and "
    "the sun shone in a dark, white cloud, and the moon was full of the cloud. The "
    "moonlight was bright, and the moon grew deeper and brighter.\nAt last the moon was "
    "falling, and the sun was still, and the moon grew darker, and the moon grew more and"
    ' more bright and cold, and it looked like a light.\n"As I am!" said the moonlit sky, '
    '"the moon is still, and the cloud is still dark and sunny and dark, and sun and sun '
    "are dark, and the sun is falling, and the sky is falling; and the sun is on the "
    "grass, and the sky is still, and is still, and it is still dark; and the moon is "
    "still dark, and the sun is full and sunlight."
)
GOLDEN_SYNCPOOL = (
    "The morning was cold and dark, the sun was full of clouds, so that the lights of the world "
    "had grown bright, and were like in those dark, and the sun shone like sunlight falling. The "
    "sunlight had been fixed at its very windows, and in the centre they sat on a level with "
    "their little white fl"
)
GOLDEN_MWIS = (
    "The morning was cold and almost warm and heavy, the scene went fast enough now. All the day "
    "you left the old lodgings in the town seemed to be brought out in the night-drawn, and in the "
    "evening as we"
)
GOLDEN_EDITED = (
    "The morning was cold and quiet, and the night was almost in the day, and once it was"
    " finished. Bessie spent three months together, like the day before. It was the long "
    "holidays rouche, though it was lighting by the window glid into the air of the stock"
    " had the pleasure of seeing the bay on which the people were to pass the tarried "
    "grass, and the daylight faded up the lace, and some one gave a full bow to it; and a"
    " thin figure sitting at one side like a little piled with hot hotels. I had been "
    "over"
)
GOLDEN_BASIC = (
    "thin, and many small wasted windows with windows tore with little or low, smokes of "
    'bright-coloured windows.\n"My dear?" said Abel.\n"Pictures of music," said Nancy, '
    "addressingly; and having received me her"
)
GOLDEN_HUFFMAN = (
    "The morning was cold and the morning air bacheor was very bright, and the night wore warm, "
    "and the flows, and dark blue lights, and lighted with brow and flicker of grass; and these"
)
GOLDEN_RRC = (
    "The morning was cold and calmly. And I am afraid of the scene in the morning when the sun is "
    "gone, I am going to seek my heart and to go into the water and see the sky clear; and the "
    "moonlight was still still. The sun was still, as I thought"
)
GOLDEN_MEC = (
    "The morning was cold and thin with sunlight, with its bright air and her cheeks, and her face "
    "was pale, and it had been so darkly and dark that the eyes were too much in their life.\nAt "
    "length the sun had been setting and the sunshine, all that could have been a great light on "
    "its way and"
)
GOLDEN_LOOK_AHEAD = (
    "The morning was cold and dark, and I am glad I am to be sure that he must be a very nice boy "
    "to-night, and have a little time to get his way of getting away in the afternoon when you are "
    "a little child in the house, and to be married. As for you, it will be all"
)
GOLDEN_JAPANESE = (
    "その朝は寒く、北方から西は朝廷へ亡んで、朝が朝まで朝朝に帰って来、朝の出来、朝夕の朝の朝"
    "早く、朝食をやると、朝飯を食べて、海の上を踏む、四方に降る、五時も少し経過した、と、朝夕"
    "飯を喰ってみた。"
)
GOLDEN_CHINESE = (
    "那天早上很冷，只有几个月。他是没有往日在天地的，年后又被引到她们到她和孩子亲家被打得十分"
    "长的时间。天真要看她们有她们来问她。我会走过去,只记得她跟上室前往山阳和屋屋,回家便跟着"
    "人,她的后不久就用她看见。他也慢慢地说道,“是你的母亲,他就到她父亲的消息了。"
)
GOLDEN_BITS = "The morning was cold and sober. Afterwards, the evening after the evening of J"

# The tokenizer finds other tokens in it than were written.
GOLDEN_SEARCHED = (
    "The morning was cold and cold. By-the-day a wild suntle she had been standing in a deep "
    "corner, as her little home was, but the moon, to tell her now, the air of the Mahbub's."
)

# In the mode that is the default now, with all other settings of today.
GOLDEN_VIABLE = {
    "tiny-en": (
        PROMPT,
        "The morning was cold and wet; so, so when it had become so near the house the old woman "
        "had been on so long, the most graceful part of her life, that it had once been borne into "
        "her mother's ear.\n\"Don't you understand, I've heard that he is a very old friend of "
        'mine?" said she.\n"Because that old fellow is good enough to be said by her mother, for '
        'he must be kept on this night, very good, not altogether. My son is so good," said I, '
        "with a little gesture under the wall, and he held out his hand to his own.",
    ),
    "tiny-ja": (
        "その朝は寒く、",
        "その朝は寒く、気は吹かれ、寒風に捲いていた。そして夜具を切る。彼は空気を襲った。\n「まあ"
        "、御門はよっぽどこの夏の豪は、あたりに一匹の浅い春の時分に、弓を払われて、一通り、騙しても"
        "、天まで出掛った。さッと蘇を寄せるだろう。よっぽど失礼だ。よっぽど、何しろ、お家の方へには"
        "なるべく御門の騙さ。",
    ),
    "tiny-zh": (
        "那天早上很冷，",
        "那天早上很冷，后来他将军入土地上去了。所以她知道他们仍是这样想过来往常了。于是她死院是乡下"
        "城而去做皇帝的常务时罢,――她是怕到自己早经了,他们不算不喝了。\n午后,他的大学生们也常听到天"
        "堂君,他看见他的家伙计报告了一支新事,怕和他打定他进来了,仍然是出了一个房外面,也站住了他,穿"
        "得意外的裹子,伸出大手在地面前,“走去;他看现在已经渐渐的远远了,我们要大门房门,便慢慢地起来。"
        "\n",
    ),
}


def fixed_entropy():
    """Bytes that look random and are the same on every machine and in every version."""
    blocks = (hashlib.sha256(bytes([n])).digest() for n in itertools.count())
    stream = itertools.chain.from_iterable(blocks)
    return lambda count: bytes(itertools.islice(stream, count))


# As all texts were written before there were others. They are read without these settings, too.
FIRST = {"pad": "none", "compress": "deflate", "mode": "prefix"}


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, GOLDEN_WHOLE),
        (
            {"view": "continuation", "top_k": 8, "top_p": 0.9, "temperature": 0.8},
            GOLDEN_CONTINUATION,
        ),
    ],
)
def test_sealed_messages(model, settings, text):
    stego = ticore.Steganographer(
        model,
        key=KEY,
        prompt=PROMPT,
        entropy=fixed_entropy(),
        finish="sentence",
        **FIRST,
        **settings,
    )
    assert stego.extract(text) == b"meet at noon"
    assert stego.embed(b"meet at noon") == text


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"codec": "sparsamp:16", "disambiguation": "syncpool", "top_k": 16}, GOLDEN_SYNCPOOL),
        ({"codec": "discop", "disambiguation": "mwis"}, GOLDEN_MWIS),
        ({"codec": "meteor", "disambiguation": "basic", "view": "continuation"}, GOLDEN_BASIC),
        ({"codec": "huffman"}, GOLDEN_HUFFMAN),
        ({"codec": "mec", "top_k": 16}, GOLDEN_MEC),
        ({"codec": "rrc", "top_k": 16}, GOLDEN_RRC),
        ({"codec": "rrc", "disambiguation": "lookahead", "top_k": 16}, GOLDEN_LOOK_AHEAD),
    ],
)
def test_other_codecs_and_disambiguations(model, settings, text):
    stego = ticore.Steganographer(
        model,
        key=KEY,
        prompt=PROMPT,
        finish="none",
        entropy=fixed_entropy(),
        **FIRST,
        **settings,
    )
    assert stego.extract(text) == b""
    assert stego.embed(b"") == text


@pytest.mark.parametrize(
    ("place", "prompt", "text"),
    [
        ("tiny-ja", "その朝は寒く、", GOLDEN_JAPANESE),
        ("tiny-zh", "那天早上很冷，", GOLDEN_CHINESE),
    ],
)
def test_other_bundled_models(place, prompt, text):
    stego = ticore.Steganographer(
        ticore.load_model(place),
        key=KEY,
        prompt=prompt,
        finish="sentence",
        entropy=fixed_entropy(),
        **FIRST,
    )
    assert stego.extract(text) == b"meet at noon"
    assert stego.embed(b"meet at noon") == text


def test_texts_are_read_without_the_settings_that_were_the_only_ones_then(model):
    for text, message, settings in (
        (GOLDEN_WHOLE, b"meet at noon", {}),
        (GOLDEN_HUFFMAN, b"", {"codec": "huffman"}),
    ):
        reader = ticore.Steganographer(model, key=KEY, prompt=PROMPT, **settings)
        assert reader.extract(text) == message


@pytest.mark.parametrize("place", GOLDEN_VIABLE)
def test_mode_viable(place):
    prompt, text = GOLDEN_VIABLE[place]
    stego = ticore.Steganographer(
        ticore.load_model(place), key=KEY, prompt=prompt, mode="viable", entropy=fixed_entropy()
    )
    assert stego.extract(text) == b"meet at noon"
    assert stego.embed(b"meet at noon") == text


def test_raw_bits(model):
    stego = ticore.Steganographer(model, prompt=PROMPT)
    assert stego.extract_bits(GOLDEN_BITS, 48, stop="paper") == BITS
    assert stego.embed_bits(BITS, stop="paper") == GOLDEN_BITS


def test_text_that_survives_edits(model):
    """It is read for ever; how long the writer goes on may change."""
    settings = {"window": 4, "edits": 0.05, "security": "compact"}
    stego = ticore.Steganographer(model, key=KEY, prompt=PROMPT, **settings)
    assert stego.extract(GOLDEN_EDITED) == b"at noon"
    assert stego.extract(GOLDEN_EDITED.replace("was cold", "was very cold")) == b"at noon"


def test_text_whose_tokens_are_searched(model):
    """It is read for ever; how long a writer searches may change."""
    settings = {"disambiguation": "search", "security": "compact"}
    stego = ticore.Steganographer(model, key=KEY, prompt=PROMPT, **settings)
    assert stego.extract(GOLDEN_SEARCHED) == b"at noon"


def test_long_text_with_checks_whose_tokens_are_searched(model):
    """It is read for ever; how long a writer searches may change."""
    settings = {"disambiguation": "search:long", "security": "compact"}
    stego = ticore.Steganographer(model, key=KEY, prompt=PROMPT, **settings)
    text = (FORMER / "checked.txt").read_text(encoding="utf-8")
    assert stego.extract(text) == bytes(range(100, 228))
