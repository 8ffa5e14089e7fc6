// What the library "tokenizers" holds each sign for, whatever Unicode this browser has. Written and
// checked by tests/live/signs.py, from the library itself.
//
// A kind is its stretches of code points, each as the gap since the last stretch and its length,
// both to the base 36; a length of 1 is left out.

/** @param {string} stretches */
function anyOf(stretches) {
  let at = 0;
  const parts = stretches.split(" ").map((stretch) => {
    const [gap, length = 1] = stretch.split(":").map((digits) => parseInt(digits, 36));
    const first = at + gap;
    at = first + length;
    return `\\u{${first.toString(16)}}-\\u{${(at - 1).toString(16)}}`;
  });
  return new RegExp(`[${parts.join("")}]`, "u");
}

/** Stands apart from the words around it. */
export const PUNCTUATION = anyOf(
  "x:f a:7 q:6 q:4 y 5 3 a:2 3 3 ji 8 cy:6 15:2 1f 1 2 2 18:2 k:2 1:2 d 2:2 22:4 2u 17:e " +
    "6h:3 1i:f v 79:2 a an lf 2i a:2 4o:f 1 11:4 1z 22:5 4:2 33:6 4r h0:9 47 h8:2 18:2 26:3 " +
    "1z:2 4d:3 1:3 11:b 8p:2 60:2 3k:7 1:6 4s:7 4b:4 1n:5 1q:2 1s:8 b n0:o 8:k 1:d 1:c u:2 " +
    "e:2 hl:4 t:2 u5:e 27:2 v:a b7:m 1r:4 w:2 l7:4 1:2 34 3z:1b 1:j ce:3 4:a 2:c g c 2q 2i " +
    "mwy:2 7h:3 2r a 37:6 ak:4 2e:2 14:3 1 1d:2 1b 2p:d g:2 3g:4 3i:2 g:2 6x g2a:2 5s:a m:z " +
    "1:e 1 4 1:2 45:3 1:6 1:4 a:2 3:2 q:3 1 r 1 1:7 be:3 ik 1c bi kn 5j v 7k:9 12 34:7 1u:7 " +
    "2h:4 x6:7 31:2 1:4 3i:4 1c:2 27:5 3 d 1:3 2g:6 2z f0 6y:n 2x:3 6w:3 2lt:5 dtl:2 3p 1t:5 " +
    "8 g2i 5wn:5",
);

/** White space. */
export const BLANK = anyOf("9:5 i 2s q 4bj 1vj:b t:2 5 1b 334");

/** Dropped, also where it is white space elsewhere. */
export const LOST = anyOf(
  "0:9 2:2 1:i 2n:x d 11u:6 m 5c 1d 3cu 1ks:5 q:5 1d:5 1:a 11u8:4xs 16n 6x:3 1 3b3 xya:4 " +
    "43z:8 h406 u:2o 1egw:1eke 2:1eke",
);

/** A word of its own. */
export const IDEOGRAPH = anyOf("a9s:534 1s:g74 hkw:e8 1fk0:wyo w:3ds 74:49c 85s:f4");

/** Taken off the letter before it. */
export const ACCENT = anyOf(
  "lc:34 7n:5 7d:19 1 1:2 1:2 1 20:b 1c:l g 2t:7 2:6 2:2 1:4 z u:r 2j:b 1m:9 y:4 1:9 1:3 " +
    "1:5 17:3 3r:w 1j 1 4:8 4 3:7 a:2 t 1m 4:4 8 k:2 t:2 1l 4:2 4:2 2:3 3 u:2 3 b:2 1l 4:5 " +
    "1:2 4 k:2 t 1m 2 1:4 8 8 b:2 u 1p c 1e 1p:3 5:3 1:4 7:2 b:2 t 1m 2 6 5:2 k:2 t 1r:4 8 " +
    "k:2 2u 7:3 1 2i 2:7 c:8 2q 2:6 1:2 b:6 22:2 r 1 1 1j:e 1:5 1:2 5:b 1:10 9 2u:4 1:6 1:2 " +
    "2:2 p:2 4:3 g:4 d 2:2 6 f jj:3 qa:3 t:3 t:2 u:2 1s:2 1:7 8 2:b 9 19:3 4b 3a:3 4:2 9 6:3 " +
    "63:2 2 1m 1:7 1 1 2:8 6:a 2 1c:e 1u:4 1c 1:5 1 5 14:9 c:2 w:4 2:2 1:3 1k 1:2 3 1:3 1m:8 " +
    "2:2 48:3 1:d 1:7 4 6 3:2 5i:1i 6:4 k0:d 4 3:c 2da:3 3x 2o:w fe:4 2z:2 n9w 4:a w:2 28:2 " +
    "7k 3 4 p:2 4d r:i 1g:8 p:b 1a:3 1c 2:4 2 14 1v:6 2:2 2:2 c 8 1b 1f 1:3 2:2 5:2 1 16:2 8 " +
    "6m 2 4 fn4 kh:g g:g r1 6a 45:5 1ae:3 1:2 5:4 14:3 4 4l:2 10a 1i:f 1k:3 1d:4 2:2 1x:3 " +
    "10:5 1:8 1q c:2 1g:9 b:3 2q:3 2 1:2 4n 3:8 l:2 1m 3 11:7 3:5 8u:6 1 4:2 1:2 6m:4 6:2 1:2" +
    " r:2 2d:8 2 1:2 2y 1 2:6 1 2t:3 2:4 1:5 gjo:5 1n:7 uw:4 f7u:2 43s:3 h:8 2:7 u:4 44:3 " +
    "1iz:1j 4:1e 8 e m:5 1:f 2sg:7 gzl5:6o",
);

/** Has a small letter. */
export const CAPITAL = anyOf(
  "1t:q 2t:n 1:7 x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 1 1 1 1 1 1 1 2 " +
    "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1:2 1 1 3:2 1 1:2 1:3 2:4 1:2 1:3 3:2 1:2 1 " +
    "1 1:2 1 2 1:2 1:3 1 1:2 3 7:2 1:2 1:2 1 1 1 1 1 1 1 1 2 1 1 1 1 1 1 1 1 2:2 1 1:3 1 1 1 " +
    "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 7:2 1:2 2 1:4 1 1 1 1 81 1 3 8 6 1:3" +
    " 1 1:2 1:h 1:9 z 8 1 1 1 1 1 1 1 1 1 1 1 5 2 1:2 2:1f 1c 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" +
    " 9 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1:2 1 1 1 1 1 1 2 1 1 1 1 1 1 1 1" +
    " 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2:12 " +
    "289:12 1 5 k2:2e 1oz 6:17 2:3 8w 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" +
    " 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" +
    " 1 1 9 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" +
    " 1 1 1 1 1 1 1 9:8 8:6 a:8 8:8 8:6 b 1 1 1 8:8 o:8 8:8 8:8 8:5 b:5 b:4 c:5 b:5 89 3:2 6 " +
    "19:g j mq:q 1f4:1c 1c 1:3 2 1 1 1:4 1 2 8:3 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 " +
    "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 8 1 4 nyl 1 1 1 1 1 1 1 1 1 1 1 1 " +
    "1 1 1 1 1 1 1 1 1 1 j 1 1 1 1 1 1 1 1 1 1 1 1 1 3r 1 1 1 1 1 1 3 1 1 1 1 1 1 1 1 1 1 1 1" +
    " 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 a 1 1:2 1 1 1 1 4 1 2 1 3 1 1 1 1 1 1 1 1 1 1:5 1:5" +
    " 1 1 1 1 1 1 1 1:4 1 1:2 1 1 1 1 1 1 1 1 o h7v:q xx:14 3s:10 4c:b 1:f 1:7 1:2 1d6:1f " +
    "4d:m 27u:w gw0:w 1s:p o5j:y",
);

/** Finds its place among its neighbours, or becomes one with the sign before it. */
export const JOINING = anyOf(
  "lc:27 1:w 7n:5 7d:19 1 1:2 1:2 1 20:b 1c:l g 2t:7 2:6 2:2 1:4 z u:r 4g:9 y:4 1:9 1:3 1:5" +
    " 17:3 3c:e 1:t 1o g 3:4 2v 1 e 9 2s g 32 g 32 1 e 8:2 2u e 9 39 7:2 2t 5 a 7:2 2v e 9 36" +
    " 4 f 2g:3 d:4 30:2 e:4 24:2 r 1 1 1j:5 4:4 2:5 1:2 19 1 e 2v 8 1:2 2a 5v:l 1e:r be:3 qc " +
    "v 4d a 5n 3z:3 63:2 1z k:8 2 1c:e 3a:2 e 12:9 1i:2 1m b:2 1v 48:3 1:d 1:7 4 6 3:2 5i:1i " +
    "5:5 ao:1c 2:3 2 4 5:3 2 4 11:3 2 4 5v:d 4 3:c 2da:3 3x 2o:w fe:6 2x:2 n9w 4:a w:2 28:2 " +
    "7o 59 r:i 1l:3 11 2n c 6n 1:3 2:2 5:2 1 1g 6u fn4 ld:g r1 6a 45:5 1aq 1 14:3 4 4l:2 127 " +
    "1k 1l:2 1x:3 10 b:2 1q 24 9 2y:2 4y:2 29 1 e 9 e:7 3:5 5p 3 2x 9 2 4:2 6j f:2 3i 3a:2 37" +
    " 103 fjk:5 1n:7 g2v 43q:5 3:6 8:8 2:7 u:4 44:3 2pn:7 1:h 2:7 1:2 1:5 1ph:7 31:7",
);
