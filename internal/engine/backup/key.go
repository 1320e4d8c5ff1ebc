package backup

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

const ed25519Kind = "ssh-ed25519"

// newKeyPair makes a key pair for one remote: the private key as ssh reads it, and the line to
// give to the remote.
func newKeyPair(comment string) (private []byte, public string, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	blob := appendSSHStrings(nil, []byte(ed25519Kind), pub)
	var check [4]byte
	if _, err := rand.Read(check[:]); err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	inner := slices.Concat(check[:], check[:])
	inner = appendSSHStrings(inner, []byte(ed25519Kind), pub, key, []byte(comment))
	for i := byte(1); len(inner)%8 != 0; i++ {
		inner = append(inner, i)
	}
	file := appendSSHStrings([]byte("openssh-key-v1\x00"), []byte("none"), []byte("none"), nil)
	file = appendSSHStrings(binary.BigEndian.AppendUint32(file, 1), blob, inner)
	private = pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: file})
	return private, ed25519Kind + " " + base64.StdEncoding.EncodeToString(blob) + " " + comment, nil
}

// appendSSHStrings appends byte strings, each with its length.
func appendSSHStrings(to []byte, parts ...[]byte) []byte {
	for _, p := range parts {
		to = append(binary.BigEndian.AppendUint32(to, uint32(len(p))), p...)
	}
	return to
}

// hostKeyTypes are the accepted types of host keys, the best first.
var hostKeyTypes = []string{ed25519Kind, "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"}

// parseHostKey parses a key as ssh prints it, with or without a name before it and a comment
// after it.
func parseHostKey(line string) (retake.HostKey, bool) {
	words := strings.Fields(line)
	i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(hostKeyTypes, w) })
	if i < 0 || i+1 >= len(words) {
		return retake.HostKey{}, false
	}
	blob, err := base64.StdEncoding.DecodeString(words[i+1])
	if err != nil || !strings.HasPrefix(string(blob), string(appendSSHStrings(nil, []byte(words[i])))) {
		return retake.HostKey{}, false
	}
	sum := sha256.Sum256(blob)
	return retake.HostKey{Kind: words[i], Key: words[i+1], Print: fingerprintPrefix + base64.RawStdEncoding.EncodeToString(sum[:])}, true
}

const fingerprintPrefix = "SHA256:"
