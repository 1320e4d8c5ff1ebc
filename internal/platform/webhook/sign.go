package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// The headers of a message.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

const (
	sharedPrefix  = "whsec_"
	publicPrefix  = "whpk_"
	sharedSize    = 32
	minShared     = 24 // limits of the specification
	maxShared     = 64
	tolerance     = 5 * time.Minute
	maxSignatures = 16
)

// Reasons why a message is not authentic.
var (
	ErrSecret    = errors.New("the secret is not one of a webhook")
	ErrHeaders   = errors.New("headers are missing or make no sense")
	ErrTime      = errors.New("the message is too old or from the future")
	ErrSignature = errors.New("no signature fits")
)

// NewSecret creates the key of a webhook. private stays with the sender. shown is what the
// receiver verifies with, which is the secret itself in scheme v1. public may be shown to
// everybody and is empty in scheme v1. For an unknown scheme all are empty.
func NewSecret(scheme retake.Scheme) (private []byte, shown, public string) {
	private = make([]byte, sharedSize)
	_, _ = rand.Read(private) // it never returns an error
	switch scheme {
	case retake.SchemeShared:
		return private, sharedPrefix + base64.StdEncoding.EncodeToString(private), ""
	case retake.SchemePair:
		key := ed25519.NewKeyFromSeed(private).Public().(ed25519.PublicKey)
		public = publicPrefix + base64.StdEncoding.EncodeToString(key)
		return private, public, public
	}
	return nil, "", ""
}

// Sign returns one signature for the header. It returns "" if the id contains a full stop,
// which separates it from the time, or if the key does not fit the scheme.
func Sign(scheme retake.Scheme, private []byte, id string, at time.Time, body []byte) string {
	text := signedContent(id, strconv.FormatInt(at.Unix(), 10), body)
	switch {
	case strings.Contains(id, "."):
		return ""
	case scheme == retake.SchemeShared && len(private) >= minShared && len(private) <= maxShared:
		return "v1," + base64.StdEncoding.EncodeToString(hmacTag(private, text))
	case scheme == retake.SchemePair && len(private) == ed25519.SeedSize:
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(private), text))
	}
	return ""
}

// Header returns the headers of one attempt, with the signatures of all valid keys.
func Header(id string, at time.Time, signatures ...string) map[string]string {
	return map[string]string{
		HeaderID: id, HeaderTimestamp: strconv.FormatInt(at.Unix(), 10), HeaderSignature: strings.Join(signatures, " "),
	}
}

// Verify checks a message as its receiver does, with what NewSecret returned as shown.
func Verify(shown string, header http.Header, body []byte, now time.Time) error {
	fits, err := signatureChecker(shown)
	if err != nil {
		return fmt.Errorf("verify message: %w", err)
	}
	id, stamp, list := header.Get(HeaderID), header.Get(HeaderTimestamp), header.Get(HeaderSignature)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if id == "" || list == "" || err != nil || strconv.FormatInt(seconds, 10) != stamp {
		return fmt.Errorf("verify message: %w", ErrHeaders)
	}
	// Compared as seconds: the difference of distant times would overflow a duration.
	if edge := int64(tolerance / time.Second); seconds < now.Unix()-edge || seconds > now.Unix()+edge {
		return fmt.Errorf("verify message: %w", ErrTime)
	}
	text := signedContent(id, stamp, body)
	for i, s := range strings.Fields(list) {
		if i == maxSignatures {
			break
		}
		version, encoded, _ := strings.Cut(s, ",")
		if sig, err := base64.StdEncoding.Strict().DecodeString(encoded); err == nil && fits(version, text, sig) {
			return nil
		}
	}
	return fmt.Errorf("verify message: %w", ErrSignature)
}

// signatureChecker returns the check of signatures for a secret, whose prefix determines the
// scheme.
func signatureChecker(shown string) (func(version string, text, sig []byte) bool, error) {
	if encoded, ok := strings.CutPrefix(shown, sharedPrefix); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) < minShared || len(key) > maxShared {
			return nil, ErrSecret
		}
		return func(version string, text, sig []byte) bool {
			return version == string(retake.SchemeShared) && hmac.Equal(sig, hmacTag(key, text))
		}, nil
	}
	encoded, ok := strings.CutPrefix(shown, publicPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, ErrSecret
	}
	return func(version string, text, sig []byte) bool {
		return version == string(retake.SchemePair) && ed25519.Verify(key, text, sig)
	}, nil
}

// signedContent returns the bytes that are signed.
func signedContent(id, stamp string, body []byte) []byte {
	return append([]byte(id+"."+stamp+"."), body...)
}

func hmacTag(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}
