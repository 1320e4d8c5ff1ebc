package kopia

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

// The key of copies is the password of the store, written so that a person can copy it: groups of four
// letters and digits, the last of which tells a mistake. The copy has all else that opens it.

// keyLetters leave out those that are mistaken for others.
var keyLetters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

const (
	keyBytes   = 32
	keySum     = 3 // bytes; a mistake is missed once in 16 million times
	keyGroup   = 4
	familySize = 10
)

// CopyKey returns the key of the copies of the store in a directory.
func CopyKey(fsys fsx.FS, dir string) (string, error) {
	home, err := openHome(fsys, dir)
	if err != nil {
		return "", err
	}
	defer home.Close() //nolint:errcheck // only read
	password, err := readPassword(home)
	if err != nil {
		return "", err
	}
	return EncodeCopyKey(password)
}

// EncodeCopyKey writes a password as a key.
func EncodeCopyKey(password string) (string, error) {
	raw, err := hex.DecodeString(password)
	if err != nil || len(raw) != keyBytes {
		return "", fmt.Errorf("write key: the password of this store is none that Retake makes")
	}
	text := keyLetters.EncodeToString(append(raw, keyChecksum(raw)...))
	var groups []string
	for ; text != ""; text = text[min(keyGroup, len(text)):] {
		groups = append(groups, text[:min(keyGroup, len(text))])
	}
	return strings.Join(groups, "-"), nil
}

// keyInText finds a key in what was printed with it.
var keyInText = pattern.Lazy(`\b(?:[0-9A-Za-z]{4}[-\s]+){13}[0-9A-Za-z]{4}\b`)

// DecodeCopyKey returns the password that a key stands for. Spaces, dashes and case do not matter, nor whether a
// zero was read as an O, nor what is around it.
func DecodeCopyKey(text string) (string, error) {
	if found := keyInText().FindString(text); found != "" {
		text = found
	}
	text = strings.NewReplacer("-", "", " ", "", "\n", "", "\r", "", "\t", "", "O", "0", "I", "1", "L", "1", "U", "V").Replace(strings.ToUpper(text))
	raw, err := keyLetters.DecodeString(text)
	if err != nil || len(raw) != keyBytes+keySum || !bytes.Equal(keyChecksum(raw[:keyBytes]), raw[keyBytes:]) {
		return "", ErrNoRecoveryKey
	}
	return hex.EncodeToString(raw[:keyBytes]), nil
}

func keyChecksum(raw []byte) []byte {
	sum := sha256.Sum256(append([]byte("key of copies "), raw...))
	return sum[:keySum]
}

// FamilyOf returns the name that the copies of all stores with a password have in common. It tells nothing about
// the password.
func FamilyOf(password string) (string, error) {
	b, err := hkdf.Key(sha256.New, []byte(password), nil, "name of the copies of a family", familySize)
	if err != nil {
		return "", fmt.Errorf("derive name: %w", err)
	}
	return hex.EncodeToString(b), nil
}
