package secretbox_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/pure/secretbox/secretboxtest"
)

func keeper(t interface{ Fatal(...any) }, keys ...[]byte) secretbox.Keeper {
	k, err := secretbox.NewLocalKeeper(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSeal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := keeper(t, secretbox.NewKey())
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		purpose := rapid.String().Draw(t, "purpose")
		sealed, err := k.Seal(context.Background(), purpose, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Open(context.Background(), purpose, sealed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("opened %q: %v", got, err)
		}
		if len(plain) > 3 && bytes.Contains(sealed, plain) {
			t.Fatal("the text can be read")
		}
		if got, err := k.Open(context.Background(), purpose+"x", sealed); !errors.Is(err, secretbox.ErrDamaged) || got != nil {
			t.Fatalf("opened for another purpose: %q, %v", got, err)
		}
		if got, err := keeper(t, secretbox.NewKey()).Open(context.Background(), purpose, sealed); !errors.Is(err, secretbox.ErrKey) || got != nil {
			t.Fatalf("opened with another key: %q, %v", got, err)
		}
		again, err := k.Seal(context.Background(), purpose, plain)
		if err != nil || bytes.Equal(again, sealed) {
			t.Fatalf("sealed twice to the same bytes: %v", err)
		}
	})
}

// Every bit counts, and every byte.
func TestOneChangedBit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := keeper(t, secretbox.NewKey())
	sealed, err := k.Seal(ctx, "p", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(sealed) * 8 {
		b := bytes.Clone(sealed)
		b[bit/8] ^= 1 << (bit % 8)
		if got, err := k.Open(ctx, "p", b); err == nil {
			t.Errorf("opens to %q with bit %d changed", got, bit)
		}
	}
	for n := range len(sealed) {
		if got, err := k.Open(ctx, "p", sealed[:n]); err == nil {
			t.Errorf("%d bytes open to %q", n, got)
		}
	}
	if got, err := k.Open(ctx, "p", append(bytes.Clone(sealed), 0)); err == nil {
		t.Errorf("opens to %q with a byte more", got)
	}
}

// A key is changed in three steps, and at each of them everything can be opened.
func TestRotation(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	oldKey, newKey := secretbox.NewKey(), secretbox.NewKey()
	before, during, after := keeper(t, oldKey), keeper(t, newKey, oldKey), keeper(t, newKey)
	rows := map[string][]byte{}
	for i := range 20 {
		purpose := fmt.Sprintf("repository/%d", i)
		sealed, err := before.Seal(ctx, purpose, []byte(purpose))
		if err != nil {
			t.Fatal(err)
		}
		rows[purpose] = sealed
	}
	opens := func(k secretbox.Keeper) (n int) {
		for purpose, sealed := range rows {
			if plain, err := k.Open(ctx, purpose, sealed); err == nil && string(plain) == purpose {
				n++
			}
		}
		return n
	}
	if before, during, after := opens(before), opens(during), opens(after); before != 20 || during != 20 || after != 0 {
		t.Fatalf("at first %d, %d and %d open", before, during, after)
	}
	for purpose, sealed := range rows {
		plain, err := during.Open(ctx, purpose, sealed)
		if err != nil {
			t.Fatal(err)
		}
		if rows[purpose], err = during.Seal(ctx, purpose, plain); err != nil {
			t.Fatal(err)
		}
		if n := opens(during); n != 20 {
			t.Fatalf("on the way %d open", n)
		}
	}
	if before, during, after := opens(before), opens(during), opens(after); before != 0 || during != 20 || after != 20 {
		t.Fatalf("at last %d, %d and %d open", before, during, after)
	}
}

func TestLocalRefuses(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][][]byte{
		"none": nil, "empty": {nil}, "short": {make([]byte, 16)}, "long": {make([]byte, 33)}, "short second": {secretbox.NewKey(), make([]byte, 24)},
	} {
		if k, err := secretbox.NewLocalKeeper(keys...); err == nil || k != nil {
			t.Errorf("%s: a keeper was made", name)
		}
	}
}

func TestLocalKeeper(t *testing.T) {
	t.Parallel()
	secretboxtest.Run(t, func(t *testing.T) secretbox.Keeper { return keeper(t, secretbox.NewKey(), secretbox.NewKey()) })
}

func TestKeyIDOfWhatIsNotSealed(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{nil, {1}, make([]byte, 9), []byte("\x02 and more bytes")} {
		if id, err := secretbox.KeyID(b); !errors.Is(err, secretbox.ErrDamaged) || id != "" {
			t.Errorf("%x: %q, %v", b, id, err)
		}
	}
	for _, id := range []string{"", "00", "zz00000000000000", "000000000000000000"} {
		if b, err := secretbox.Header(id); err == nil {
			t.Errorf("%q: %x", id, b)
		}
	}
}

func TestPrintedKeeperTellsNothing(t *testing.T) {
	t.Parallel()
	k := keeper(t, bytes.Repeat([]byte{0xab}, 32))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, k); got != "keeper of 1 keys" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestKeyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")
		for _, text := range []string{
			secretbox.FormatKey(key), secretbox.FormatKey(key) + "\n", hex.EncodeToString(key), strings.ToUpper(hex.EncodeToString(key)),
			base64.URLEncoding.EncodeToString(key), base64.RawURLEncoding.EncodeToString(key), base64.RawStdEncoding.EncodeToString(key),
		} {
			if got, err := secretbox.ParseKey(text); err != nil || !bytes.Equal(got, key) {
				t.Fatalf("%q is read as %x: %v", text, got, err)
			}
		}
		for _, text := range []string{
			secretbox.FormatKey(key[:31]), secretbox.FormatKey(append(key, 0)), hex.EncodeToString(key[:31]), hex.EncodeToString(key)[:63] + "g",
			secretbox.FormatKey(key)[:20] + "\n" + secretbox.FormatKey(key)[20:], secretbox.FormatKey(key)[:20] + " " + secretbox.FormatKey(key)[20:],
		} {
			got, err := secretbox.ParseKey(text)
			if err == nil {
				t.Fatalf("%q is read as %x", text, got)
			}
			if strings.Contains(err.Error(), text[:12]) {
				t.Fatalf("the error holds the key: %v", err)
			}
		}
	})
	if _, err := secretbox.ParseKey(""); err == nil {
		t.Error("nothing is a key")
	}
	if bytes.Equal(secretbox.NewKey(), secretbox.NewKey()) || len(secretbox.NewKey()) != secretbox.KeySize {
		t.Error("new keys are not new")
	}
}

func FuzzOpen(f *testing.F) {
	key := bytes.Repeat([]byte{1}, 32)
	k := keeper(f, key, bytes.Repeat([]byte{2}, 32))
	sealed, err := k.Seal(context.Background(), "p", []byte("secret"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("q", sealed)
	f.Add("p", sealed[:len(sealed)-1])
	f.Add("p", []byte(nil))
	f.Add("p", sealed[:9])
	f.Fuzz(func(t *testing.T, purpose string, b []byte) {
		plain, err := k.Open(t.Context(), purpose, b)
		if err == nil && purpose == "p" && string(plain) == "secret" {
			return // the only text that was ever sealed with these keys
		}
		if err == nil || plain != nil || !errors.Is(err, secretbox.ErrKey) && !errors.Is(err, secretbox.ErrDamaged) {
			t.Errorf("%q, %x opens to %q: %v", purpose, b, plain, err)
		}
	})
}
