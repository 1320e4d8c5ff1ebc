//go:build linux

package matrix

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

const noKey = "no key"

// caller is somebody who asks.
type caller struct {
	name      string
	secret    string
	header    map[string]string
	role      retake.KeyKind
	limited   bool   // to the first workspace
	dead      bool   // the key opens nothing
	operation string // one that this caller began; "": none
}

// may says whether the table lets a caller use an operation on its own objects.
func (b *Bed) may(c *caller, op *operation) bool {
	return !c.dead && b.table[c.role][op.Power] && (!c.limited || op.below() || op.Power == retake.PowerNone)
}

// makeCallers makes a key of each sort, and waits until those that ended open nothing.
func (b *Bed) makeCallers() error {
	admin := b.own.Keys[retake.KeyAdmin]
	key := func(body string) (secret, id string, err error) {
		a, err := b.hall.Must(admin, http.MethodPost, "/v1/keys", body)
		return a.Pick("secret"), a.Pick("key.id"), err
	}
	var errs []error
	expires := time.Now().Add(2 * time.Second)
	soon := expires.Format(time.RFC3339Nano)
	for _, role := range retake.KeyKinds {
		expired, _, err := key(fmt.Sprintf(`{"kind":%q,"name":"soon over","expires":%q}`, role, soon))
		revoked, id, err2 := key(fmt.Sprintf(`{"kind":%q,"name":"ends"}`, role))
		limited, _, err3 := key(fmt.Sprintf(`{"kind":%q,"name":"for one workspace","workspaces":[%q]}`, role, b.own.Home))
		_, err4 := b.hall.Must(admin, http.MethodDelete, "/v1/keys/"+id, "")
		errs = append(errs, err, err2, err3, err4)
		b.callers = append(b.callers,
			caller{name: string(role), secret: b.own.Keys[role], role: role},
			caller{name: string(role) + ", one workspace", secret: limited, role: role, limited: true},
			caller{name: string(role) + ", revoked", secret: revoked, role: role, dead: true},
			caller{name: string(role) + ", expired", secret: expired, role: role, dead: true})
	}
	errs = append(errs, b.addProvisioners(expires))
	b.addStrangers()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range b.callers {
		c := &b.callers[i]
		if c.dead && !daemonbed.Await(func() bool {
			return b.hall.Ask(serverbed.Asked{Key: c.secret, Header: c.header, Method: http.MethodGet, Path: "/v1/about"}).Status == http.StatusUnauthorized
		}) {
			return fmt.Errorf("the key %q lets somebody in", c.name)
		}
		if !c.dead && b.table[c.role][retake.PowerRecord] {
			var err error
			if c.operation, err = b.startOperation(c.secret, string(b.own.Home)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addStrangers adds callers without a key, and with what is no key.
func (b *Bed) addStrangers() {
	admin, operator := b.own.Keys[retake.KeyAdmin], b.own.Keys[retake.KeyOperator]
	reader := b.own.Keys[retake.KeyReader]
	b.callers = append(b.callers,
		caller{name: noKey, dead: true},
		caller{name: "a word", dead: true, secret: "admin"},
		caller{name: "the id of a key", dead: true, secret: string(b.own.Ids[retake.KeyAdmin])},
		caller{name: "a changed end", dead: true, secret: admin[:len(admin)-1] + "~"},
		caller{name: "another role's name", dead: true, secret: strings.Replace(reader, string(retake.KeyReader), string(retake.KeyAdmin), 1)},
		caller{name: "a key in quotes", dead: true, secret: `"` + operator + `"`},
		caller{name: "two keys", dead: true, secret: reader + ", " + admin},
		caller{name: "a password", dead: true, header: map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+admin))}},
		caller{name: "a cookie", dead: true, header: map[string]string{"Cookie": "retake_console=" + operator + "; __Host-retake=" + operator}},
		caller{name: "a neighbour", dead: true, header: map[string]string{"Retake-Hop": "1", "Retake-Address": "127.0.0.1", "X-Forwarded-For": "127.0.0.1", "X-Retake-Namespace": otherName}})
}
