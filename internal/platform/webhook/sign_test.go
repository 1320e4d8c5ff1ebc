package webhook_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
)

var noon = time.Unix(1_700_000_000, 0)

func headers(id string, at time.Time, signatures ...string) http.Header {
	h := http.Header{}
	for k, v := range webhook.Header(id, at, signatures...) {
		h.Set(k, v)
	}
	return h
}

func TestTheReferenceAcceptsOurs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		private, shown, public := webhook.NewSecret(retake.SchemeShared)
		if len(private) != 32 || !strings.HasPrefix(shown, "whsec_") || public != "" {
			t.Fatalf("a secret of %d bytes, shown %q, public %q", len(private), shown, public)
		}
		ref, err := standard.NewWebhook(shown)
		if err != nil {
			t.Fatal(err)
		}
		id := rapid.StringMatching(`msg_[A-Za-z0-9-]{1,30}`).Draw(t, "id")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		at := clock.Wall.Now() // the reference reads the clock itself
		h := headers(id, at, webhook.Sign(retake.SchemeShared, private, id, at, body))
		if err := ref.Verify(body, h); err != nil {
			t.Fatalf("the reference refuses ours: %v", err)
		}
		if err := ref.Verify(append(body, ' '), h); err == nil {
			t.Fatal("the reference accepts another body")
		}
		theirs, err := ref.Sign(id, at, body)
		if err != nil || theirs != h.Get(webhook.HeaderSignature) {
			t.Fatalf("the reference signs %q, we %q: %v", theirs, h.Get(webhook.HeaderSignature), err)
		}
		if err := webhook.Verify(shown, h, body, at); err != nil {
			t.Fatalf("we refuse what the reference accepts: %v", err)
		}
	})
}

// By the text of the specification, with nothing of ours on the receiver's side.
func TestPairSignatureByTheSpecification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		private, shown, public := webhook.NewSecret(retake.SchemePair)
		encoded, ok := strings.CutPrefix(public, "whpk_")
		if !ok || shown != public {
			t.Fatalf("shown %q, public %q", shown, public)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || bytes.Contains(key, private) {
			t.Fatalf("the public key is no key: %v", err)
		}
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		version, sig, _ := strings.Cut(webhook.Sign(retake.SchemePair, private, "msg_1", noon, body), ",")
		raw, err := base64.StdEncoding.DecodeString(sig)
		if err != nil || version != "v1a" {
			t.Fatalf("signature %q of version %q: %v", sig, version, err)
		}
		text := fmt.Appendf(nil, "msg_1.%d.%s", noon.Unix(), body)
		if !ed25519.Verify(key, text, raw) {
			t.Fatal("the signature does not fit")
		}
		h := headers("msg_1", noon, "v1a,"+sig)
		if err := webhook.Verify(shown, h, body, noon); err != nil {
			t.Fatal(err)
		}
		if err := webhook.Verify(shown, h, append(body, 0), noon); !errors.Is(err, webhook.ErrSignature) {
			t.Fatalf("another body: %v", err)
		}
	})
}

func TestVerify(t *testing.T) {
	t.Parallel()
	body := []byte(`{"type":"checkpoint.created"}`)
	private, shown, _ := webhook.NewSecret(retake.SchemeShared)
	pair, public, _ := webhook.NewSecret(retake.SchemePair)
	old, oldShown, _ := webhook.NewSecret(retake.SchemeShared)
	sign := func(id string, at time.Time) string { return webhook.Sign(retake.SchemeShared, private, id, at, body) }
	good := sign("msg_1", noon)
	set := func(name, value string) http.Header {
		h := headers("msg_1", noon, good)
		h.Set(name, value)
		return h
	}
	both := headers("msg_1", noon, webhook.Sign(retake.SchemeShared, old, "msg_1", noon, body), good, webhook.Sign(retake.SchemePair, pair, "msg_1", noon, body))
	for name, c := range map[string]struct {
		shown  string
		header http.Header
		now    time.Time
		want   error
	}{
		"good":                {shown, headers("msg_1", noon, good), noon, nil},
		"late":                {shown, headers("msg_1", noon, good), noon.Add(5 * time.Minute), nil},
		"early":               {shown, headers("msg_1", noon, good), noon.Add(-5 * time.Minute), nil},
		"new of several":      {shown, both, noon, nil},
		"old of several":      {oldShown, both, noon, nil},
		"pair of several":     {public, both, noon, nil},
		"too late":            {shown, headers("msg_1", noon, good), noon.Add(5*time.Minute + time.Second), webhook.ErrTime},
		"too early":           {shown, headers("msg_1", noon, good), noon.Add(-5*time.Minute - time.Second), webhook.ErrTime},
		"end of time":         {shown, set(webhook.HeaderTimestamp, "9223372036854775807"), noon, webhook.ErrTime},
		"begin of time":       {shown, set(webhook.HeaderTimestamp, "-9223372036854775808"), noon, webhook.ErrTime},
		"other id":            {shown, set(webhook.HeaderID, "msg_2"), noon, webhook.ErrSignature},
		"other time":          {shown, set(webhook.HeaderTimestamp, "1700000001"), noon, webhook.ErrSignature},
		"other secret":        {oldShown, headers("msg_1", noon, good), noon, webhook.ErrSignature},
		"scheme of the other": {shown, headers("msg_1", noon, "v1a,"+good[3:]), noon, webhook.ErrSignature},
		"no version":          {shown, headers("msg_1", noon, good[3:]), noon, webhook.ErrSignature},
		"short signature":     {shown, headers("msg_1", noon, "v1,"), noon, webhook.ErrSignature},
		"too many before":     {shown, headers("msg_1", noon, strings.Repeat("v1,AAAA ", 16)+good), noon, webhook.ErrSignature},
		"no id":               {shown, set(webhook.HeaderID, ""), noon, webhook.ErrHeaders},
		"no signature":        {shown, set(webhook.HeaderSignature, ""), noon, webhook.ErrHeaders},
		"no time":             {shown, set(webhook.HeaderTimestamp, ""), noon, webhook.ErrHeaders},
		"plus":                {shown, set(webhook.HeaderTimestamp, "+1700000000"), noon, webhook.ErrHeaders},
		"zero before":         {shown, set(webhook.HeaderTimestamp, "01700000000"), noon, webhook.ErrHeaders},
		"no headers":          {shown, nil, noon, webhook.ErrHeaders},
		"secret without name": {shown[len("whsec_"):], headers("msg_1", noon, good), noon, webhook.ErrSecret},
		"short secret":        {"whsec_AAAA", headers("msg_1", noon, good), noon, webhook.ErrSecret},
		"public as secret":    {"whsec_" + public, headers("msg_1", noon, good), noon, webhook.ErrSecret},
		"no secret":           {"", headers("msg_1", noon, good), noon, webhook.ErrSecret},
	} {
		if err := webhook.Verify(c.shown, c.header, body, c.now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// The example that the makers of the specification test their libraries with.
func TestKnownSignature(t *testing.T) {
	t.Parallel()
	const secret, id, want = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	if got := webhook.Sign(retake.SchemeShared, key, id, time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)); got != want {
		t.Errorf("signed %s, want %s", got, want)
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	key := make([]byte, 32)
	for name, got := range map[string]string{
		"unknown scheme":       webhook.Sign("v2", key, "a", noon, nil),
		"no key":               webhook.Sign(retake.SchemeShared, nil, "a", noon, nil),
		"short key":            webhook.Sign(retake.SchemeShared, key[:23], "a", noon, nil),
		"no seed":              webhook.Sign(retake.SchemePair, key[:31], "a", noon, nil),
		"id with a full stop":  webhook.Sign(retake.SchemeShared, key, "a.1", noon, nil),
		"pair, with full stop": webhook.Sign(retake.SchemePair, key, "a.1", noon, nil),
	} {
		if got != "" {
			t.Errorf("%s: signed %q", name, got)
		}
	}
	if private, shown, public := webhook.NewSecret("v2"); private != nil || shown != "" || public != "" {
		t.Error("there is a secret for a scheme that is none")
	}
}

func FuzzVerify(f *testing.F) {
	_, shown, _ := webhook.NewSecret(retake.SchemeShared)
	_, public, _ := webhook.NewSecret(retake.SchemePair)
	f.Add(shown, "msg_1", "1700000000", "v1,AAAA v1a,AAAA", []byte("{}"))
	f.Add(public, "", "-1", ", ,", []byte(nil))
	f.Fuzz(func(t *testing.T, secret, id, stamp, list string, body []byte) {
		h := http.Header{}
		h.Set(webhook.HeaderID, id)
		h.Set(webhook.HeaderTimestamp, stamp)
		h.Set(webhook.HeaderSignature, list)
		for _, s := range []string{shown, public} { // nobody who lacks these can sign
			if webhook.Verify(s, h, body, noon) == nil {
				t.Errorf("accepted %q %q %q", id, stamp, list)
			}
		}
		_ = webhook.Verify(secret, h, body, noon)
	})
}
