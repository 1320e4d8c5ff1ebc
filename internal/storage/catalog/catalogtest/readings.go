package catalogtest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func testReadings(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	k := func(object, reader string) catalog.ReadingKey {
		return catalog.ReadingKey{Object: retake.ObjectID(object), Reader: reader}
	}
	see := func(want map[catalog.ReadingKey][]byte, keys ...catalog.ReadingKey) {
		t.Helper()
		got, err := c.Readings(ctx, keys)
		wantNoError(t, err)
		wantEqual(t, "readings", asStrings(got), asStrings(want))
	}
	see(nil)
	see(nil, k("o", "npm/1"))
	wantNoError(t, c.PutReadings(ctx, nil))
	first := map[catalog.ReadingKey][]byte{
		k("o", "npm/1"): []byte("[]"), k("o", "npm/2"): []byte("\x00\xff"), k("p", "npm/1"): {}, k("q", "npm/1"): nil,
	}
	wantNoError(t, c.PutReadings(ctx, first))
	wantNoError(t, c.PutReadings(ctx, first))
	see(first, k("o", "npm/1"), k("o", "npm/2"), k("p", "npm/1"), k("q", "npm/1"), k("q", "npm/2"), k("o", "npm/1"), k("O", "npm/1"))

	// What is replaced, and what is too long.
	most := bytes.Repeat([]byte{0xff}, 1<<20)
	wantNoError(t, c.PutReadings(ctx, map[catalog.ReadingKey][]byte{k("o", "npm/1"): []byte("new"), k("r", "x"): most, k("s", "x"): append(most, 0)}))
	wantNoError(t, c.PutReadings(ctx, map[catalog.ReadingKey][]byte{k("t", "x"): append(most, 0)}))
	see(map[catalog.ReadingKey][]byte{k("o", "npm/1"): []byte("new"), k("o", "npm/2"): []byte("\x00\xff"), k("r", "x"): most},
		k("o", "npm/1"), k("o", "npm/2"), k("r", "x"), k("s", "x"), k("t", "x"))

	// They belong to no checkpoint, and go with the rest.
	wantNoError(t, c.Reset(ctx))
	see(nil, k("o", "npm/1"))
}

// asStrings makes long readings quick to compare.
func asStrings(all map[catalog.ReadingKey][]byte) map[catalog.ReadingKey]string {
	out := map[catalog.ReadingKey]string{}
	for k, raw := range all {
		out[k] = string(raw)
	}
	return out
}

func testManyReadings(t *testing.T, open Opener) {
	c := open(t, "a")
	all := map[catalog.ReadingKey][]byte{}
	var keys []catalog.ReadingKey
	for i := range 1100 {
		k := catalog.ReadingKey{Object: retake.ObjectID(fmt.Sprintf("k%032d", i)), Reader: fmt.Sprintf("reader/%d", i%2)}
		keys = append(keys, k)
		all[k] = []byte(k.Object)
	}
	wantNoError(t, c.PutReadings(t.Context(), all))
	got, err := c.Readings(t.Context(), keys)
	wantNoError(t, err)
	wantEqual(t, "readings", got, all)
}
