#!/usr/bin/env python3
"""Make the two small tables that the WordPiece reader needs beside static128.bin, so that no JSON is read at run time.

  python3 -m venv v && v/bin/pip install tokenizers && v/bin/python pieces.py TOKENIZER_JSON STATIC_BIN OUT_DIR

pieces.bin  u16 LE per word of static128.bin, in its order: the id of the word in the vocabulary of the encoder
kinds.bin   u32 LE per run of code points of one kind, in order: first code point << 8 | kind; the kinds are
            0 a letter (all the rest), 1 dropped, 2 white, 3 a word of its own before normalising (Chinese),
            4 a mark that is dropped after decomposing, 5 a word of its own after normalising (punctuation)
"""
import json, os, struct, sys
from tokenizers import normalizers, pre_tokenizers

tokenizer_json, static_bin, out = sys.argv[1:]
with open(tokenizer_json, encoding="utf-8") as f:
    ids = json.load(f)["model"]["vocab"]
with open(static_bin, "rb") as f:
    blob = f.read()
V, D, L = struct.unpack_from("<III", blob)
offs = struct.unpack_from(f"<{V + 1}I", blob, 12)
words = blob[12 + 4 * (V + 1) + 4 * V:][:L]
assert V == len(ids) and L == offs[-1]
with open(os.path.join(out, "pieces.bin"), "wb") as f:
    for a, b in zip(offs, offs[1:]):
        f.write(struct.pack("<H", ids[words[a:b].decode()]))

clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False)
strip = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
split = pre_tokenizers.BertPreTokenizer()


def kind(c):
    text = f"a{chr(c)}b"
    cleaned = clean.normalize_str(text)
    if cleaned == "ab":
        return 1
    if cleaned == "a b":
        return 2
    if cleaned != text:
        return 3
    if strip.normalize_str(text) == "ab":
        return 4
    return 5 if len(split.pre_tokenize_str(text)) == 3 else 0


last = None
with open(os.path.join(out, "kinds.bin"), "wb") as f:
    for c in range(0x110000):
        if 0xD800 <= c < 0xE000:        # not characters
            continue
        k = kind(c)
        if k != last:
            f.write(struct.pack("<I", c << 8 | k))
            last = k
print({n: os.path.getsize(os.path.join(out, n)) for n in ("pieces.bin", "kinds.bin")})
