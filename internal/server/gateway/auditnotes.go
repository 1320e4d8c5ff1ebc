package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// What changes something is recorded where it is done, in the same transaction. What changes nothing
// is noted here: refusals, reads of content, exports and sign-ins. Notes about the same thing are
// counted and written together, because a refused client can ask a thousand times a second. A crash
// loses those of the last seconds.

const (
	noteInterval = 10 * time.Second
	noteTimeout  = 10 * time.Second
	maxNotes     = 10_000 // that wait; further ones are counted in the log
	maxKeyNotes  = 50     // of one key; further ones are one note

	addressHeader = "Retake-Address" // from server to server: where the client is
)

// contentReads are the operations that return what is in files and conversations.
var contentReads = map[string]string{
	"archive": "export", "file": "read content", "object": "read content", "content": "read content", "conversation": "read content",
	"spoken": "read content", "rows": "read content", "blame": "read content",
}

type auditNote struct {
	ns            retake.NamespaceID
	key           retake.KeyID
	address       string
	verb, subject string
}

type countedNote struct {
	actor   retake.Actor
	request string // the first
	count   int
}

// auditNotes gathers notes for the audit logs.
type auditNotes struct {
	ledger serverdb.Ledger
	log    *slog.Logger

	flushing sync.Mutex // one at a time, so that Close waits for the last

	mu      sync.Mutex
	waiting map[auditNote]countedNote // guarded by mu
	byKey   map[retake.KeyID]int      // guarded by mu; how many of them a key has
	lost    int                       // guarded by mu
}

func newAuditNotes(l serverdb.Ledger, log *slog.Logger) *auditNotes {
	return &auditNotes{ledger: l, log: log, waiting: map[auditNote]countedNote{}, byKey: map[retake.KeyID]int{}}
}

// add counts a note, which is written soon.
func (n *auditNotes) add(r *http.Request, who caller, requestID, verb, subject string) {
	at := auditNote{who.ns, who.key.ID, clientAddress(r), verb, subject}
	n.mu.Lock()
	defer n.mu.Unlock()
	c, there := n.waiting[at]
	if !there && n.byKey[who.key.ID] >= maxKeyNotes {
		at = auditNote{ns: who.ns, key: who.key.ID, verb: verb, subject: "more"}
		c, there = n.waiting[at]
	}
	switch {
	case !there && len(n.waiting) >= maxNotes:
		n.lost++
		return
	case !there:
		c = countedNote{actor: actorFor(who.key), request: requestID}
		n.byKey[who.key.ID]++
	}
	c.count++
	if n.waiting[at] = c; len(n.waiting) == 1 && !there {
		time.AfterFunc(noteInterval, n.flush)
	}
}

// flush writes what was gathered.
func (n *auditNotes) flush() {
	n.flushing.Lock()
	defer n.flushing.Unlock()
	n.mu.Lock()
	all, lost := n.waiting, n.lost
	n.waiting, n.byKey, n.lost = map[auditNote]countedNote{}, map[retake.KeyID]int{}, 0
	n.mu.Unlock()
	if lost > 0 {
		n.log.Error("notes for the audit log were dropped: too many wait", "count", lost)
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
	defer cancel()
	for at, c := range all {
		subject := at.subject
		if c.count > 1 {
			subject = fmt.Sprintf("%s, %d times", subject, c.count)
		}
		ctx := serverdb.WithOrigin(retake.WithActor(ctx, c.actor), serverdb.Origin{Address: at.address, Request: c.request})
		if err := n.ledger.Book(at.ns).Note(ctx, at.verb, subject); err != nil {
			n.log.Error("write the audit log", "namespace", at.ns, "verb", at.verb, "count", c.count, "err", err)
		}
	}
}

func actorFor(k retake.Key) retake.Actor {
	return retake.Actor{Kind: k.Kind, Key: k.ID, Name: k.Name, Scope: k.Scope()}
}

// subjectOf says what a request is about: the operation, and the workspace if its path has one.
func subjectOf(r *http.Request, operation string) string {
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/workspaces/")
	if ws, _, _ := strings.Cut(rest, "/"); ok && workspaceID().MatchString(ws) {
		return operation + " of " + ws
	}
	return operation
}

// workspaceID is the form of an ID: what else a client writes there is not repeated in the log.
var workspaceID = pattern.Lazy(`^ws_[0-9a-f-]{36}$`)

// OriginHeader returns the header with which a request for a client, over the socket of this server, says
// where the client is.
func OriginHeader(r *http.Request) http.Header {
	return http.Header{addressHeader: {clientAddress(r)}}
}

// clientAddress returns where a client is. Another server of the data directory, which asks over a
// socket, says it for its client.
func clientAddress(r *http.Request) string {
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return at.Addr().Unmap().String()
	}
	if at, err := netip.ParseAddr(r.Header.Get(addressHeader)); err == nil {
		return at.String()
	}
	return ""
}
