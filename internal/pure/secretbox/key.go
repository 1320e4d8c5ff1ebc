package secretbox

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // it never returns an error
	return key
}

// FormatKey formats a key for ParseKey.
func FormatKey(key []byte) string { return base64.StdEncoding.EncodeToString(key) }

// ParseKey parses a key in base64, of either alphabet, or in hex. Its errors never contain the
// text.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "\r\n") { // which the decoder would skip
		return nil, fmt.Errorf("parse key: it has more than one line")
	}
	if len(text) == hex.EncodedLen(KeySize) {
		key, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("parse key: %d characters that are not hex", len(text))
		}
		return key, nil
	}
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	key, err := base64.RawStdEncoding.Strict().DecodeString(plain)
	if err != nil || len(key) != KeySize {
		return nil, fmt.Errorf("parse key: it is not %d bytes in base64 or hex", KeySize)
	}
	return key, nil
}
