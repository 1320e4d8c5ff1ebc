//go:build linux

package g16

import (
	"context"
	"net/http"
	"regexp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// idForms find what names something of one namespace. Digests of contents are the same
// for all who have these contents.
var idForms = []*regexp.Regexp{idForm, secretForm, regexp.MustCompile(`\b[a-z][0-9a-f]{32}\b`)}

// either is an id of a kind: mostly one of the asker's own, from a number on; at times
// one of the other's.
func (t *worlds) either(c *serverbed.Dice, own *reader, kind string, from int) (string, bool) {
	if all := t.nb.all[kind]; c == t.dice && len(all) > 0 && c.Chance(15) {
		return all[c.IntN(len(all))], true
	}
	n := len(own.all[kind])
	if n <= from {
		return "", false
	}
	return slot(kind, from+c.IntN(n-from)), true
}

// controls open a fence, and answer how often that is seen.
func (t *worlds) controls() (int64, error) {
	var caught int64
	var err error
	seen := func(before func()) {
		before()
		for _, path := range []string{"/v1/workspaces", "/v1/keys", "/v1/webhooks", "/v1/snapshots"} {
			for _, kind := range []retake.KeyKind{retake.KeyReader, retake.KeyAdmin} {
				if diff, _ := t.both("control", serverbed.Asked{Method: http.MethodGet, Path: path, Header: map[string]string{}}, kind); diff != "" {
					caught++
					return
				}
			}
		}
	}
	own := t.a1.Keys
	seen(func() { t.a1.Keys = t.b.Keys })
	t.a1.Keys = own
	seen(func() {
		err = force(t.one.Rows, `UPDATE workspace SET ns = 'alpha' WHERE ns = 'beta'`)
	})
	return caught, err
}

// force changes rows, whoever they are of.
func force(v *serverbed.RowView, text string) error {
	if err := unfence(v); err != nil {
		return err
	}
	_, err := v.Conn.ExecContext(context.Background(), text)
	return err
}

// unfence drops the fence of the database; SQLite has none.
func unfence(v *serverbed.RowView) error {
	if !v.Postgres {
		return nil
	}
	for table := range v.Tables {
		if _, err := v.Conn.ExecContext(context.Background(), `ALTER TABLE "`+table+`" NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY`); err != nil {
			return err
		}
	}
	return nil
}
