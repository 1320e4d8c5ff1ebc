package grow

import (
	"math/rand/v2"
	"strings"
)

const vocabularySize = 3000

// vocabulary is what text is made of: words as source code has them, the early
// ones far more often than the late ones.
var vocabulary = makeVocabulary()

func makeVocabulary() []string {
	r := rand.New(rand.NewPCG(1, 2))
	syllables := []string{"re", "con", "ta", "lo", "mi", "get", "set", "Map", "Node", "Str", "val", "ex", "un", "to", "Key", "fn", "st", "er", "is", "on"}
	marks := []string{" = ", "(", ")", ";\n", " {\n", "}\n", ", ", ".", ": ", "\n  ", "\n    ", " => ", "\"", "return ", "const ", "if ("}
	words := append([]string{}, marks...)
	for len(words) < vocabularySize {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		words = append(words, b.String())
	}
	return words
}

// fillText fills p with text that shrinks about as much as source code does.
func fillText(p []byte, r *rand.Rand) {
	for len(p) > 0 {
		bits := r.Uint64()
		// The square makes low ranks frequent; two draws come from one number.
		a, b := bits&0xffff, bits>>16&0xffff
		rank := int(a * a >> 16 * vocabularySize >> 16)
		if b < 0x5000 {
			rank = int(b & 15)
		}
		n := copy(p, vocabulary[rank])
		p = p[n:]
	}
}

// fillNoise fills p with bytes that do not shrink.
func fillNoise(p []byte, r *rand.Rand) {
	for i := 0; i < len(p); i += 8 {
		bits := r.Uint64()
		for j := i; j < len(p) && j < i+8; j++ {
			p[j] = byte(bits)
			bits >>= 8
		}
	}
}
