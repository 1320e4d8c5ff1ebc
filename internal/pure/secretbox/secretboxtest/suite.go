// Package secretboxtest is the suite of secretbox.Keeper, which every driver passes.
package secretboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/pure/secretbox"
)

// Run runs the suite. open returns a keeper with keys of its own: no other call returns one that
// opens what it seals.
func Run(t *testing.T, open func(t *testing.T) secretbox.Keeper) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, func(*testing.T) secretbox.Keeper){
		"what is sealed opens for its purpose": testPurpose,
		"another keeper does not open it":      testOtherKeys,
		"a changed bit":                        testChangedBit,
		"key IDs":                              testKeyIDs,
		"a caller that is gone":                testCanceled,
		"a printed keeper shows no key":        testPrinted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

func seal(t *testing.T, k secretbox.Keeper, purpose, plain string) []byte {
	t.Helper()
	sealed, err := k.Seal(t.Context(), purpose, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func testPurpose(t *testing.T, open func(*testing.T) secretbox.Keeper) {
	k := open(t)
	for _, plain := range []string{"", "secret", strings.Repeat("long ", 1000)} {
		sealed := seal(t, k, "p", plain)
		if got, err := k.Open(t.Context(), "p", sealed); err != nil || string(got) != plain {
			t.Errorf("opened %d bytes of %d: %v", len(got), len(plain), err)
		}
		if got, err := k.Open(t.Context(), "q", sealed); !errors.Is(err, secretbox.ErrDamaged) || got != nil {
			t.Errorf("opened for another purpose: %v", err)
		}
		if bytes.Equal(sealed, seal(t, k, "p", plain)) || plain != "" && bytes.Contains(sealed, []byte(plain)) {
			t.Error("sealed bytes say something about the text")
		}
	}
}

func testOtherKeys(t *testing.T, open func(*testing.T) secretbox.Keeper) {
	sealed := seal(t, open(t), "p", "secret")
	if got, err := open(t).Open(t.Context(), "p", sealed); !errors.Is(err, secretbox.ErrKey) || got != nil {
		t.Errorf("opened with other keys: %v", err)
	}
}

func testChangedBit(t *testing.T, open func(*testing.T) secretbox.Keeper) {
	k := open(t)
	sealed := seal(t, k, "p", "secret")
	for i := range sealed {
		b := bytes.Clone(sealed)
		b[i] ^= 1
		if got, err := k.Open(t.Context(), "p", b); err == nil || got != nil {
			t.Errorf("opens with byte %d changed", i)
		}
	}
}

func testKeyIDs(t *testing.T, open func(*testing.T) secretbox.Keeper) {
	k := open(t)
	ids, err := k.KeyIDs(t.Context())
	if err != nil || len(ids) == 0 {
		t.Fatalf("ids %v: %v", ids, err)
	}
	sealed := seal(t, k, "p", "secret")
	if id, err := secretbox.KeyID(sealed); err != nil || id != ids[0] {
		t.Errorf("sealed with %q, %v, not with the first of %v", id, err, ids)
	}
	if head, err := secretbox.Header(ids[0]); err != nil || !bytes.HasPrefix(sealed, head) {
		t.Errorf("the header is %x, %v", head, err)
	}
	other, err := open(t).KeyIDs(t.Context())
	if err != nil || slices.Contains(other, ids[0]) {
		t.Errorf("another keeper has the same key: %v", err)
	}
}

func testCanceled(t *testing.T, open func(*testing.T) secretbox.Keeper) {
	k := open(t)
	sealed := seal(t, k, "p", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Seal(ctx, "p", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("sealed: %v", err)
	}
	if _, err := k.Open(ctx, "p", sealed); !errors.Is(err, context.Canceled) {
		t.Errorf("opened: %v", err)
	}
}

func testPrinted(t *testing.T, open func(*testing.T) secretbox.Keeper) {
	k := open(t)
	seal(t, k, "p", "so that it has its key")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, k); !strings.HasPrefix(got, "keeper of ") || len(got) > 100 {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}
