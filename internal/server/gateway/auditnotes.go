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
	maxNotes     = 1000 // of one namespace that wait; further ones are counted in the log
	maxKeyNotes  = 50   // of one key; further ones are one note

	addressHeader = "Retake-Address" // from server to server: where the client is
)

// notedOperations are those that return what is in files and conversations, or change files, and
// have no row of their own.
var notedOperations = map[string]string{
	"archive": "export", "file": "read content", "object": "read content", "content": "read content", "conversation": "read content",
	"spoken": "read content", "rows": "read content", "blame": "read content", "write-file": "write file", "remove-file": "remove file",
}

type auditNote struct {
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
	waiting map[retake.NamespaceID]*namespaceNotes // guarded by mu
}

// namespaceNotes are those of one namespace. Each has its own limit, so that no namespace takes the
// place of another's notes.
type namespaceNotes struct {
	notes map[auditNote]countedNote
	byKey map[retake.KeyID]int // how many of them a key has
	lost  int
}

func newAuditNotes(l serverdb.Ledger, log *slog.Logger) *auditNotes {
	return &auditNotes{ledger: l, log: log, waiting: map[retake.NamespaceID]*namespaceNotes{}}
}

// add counts a note, which is written soon.
func (n *auditNotes) add(r *http.Request, who caller, requestID, verb, subject string) {
	at := auditNote{who.key.ID, clientAddress(r), verb, subject}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == 0 {
		time.AfterFunc(noteInterval, n.flush)
	}
	of := n.waiting[who.ns]
	if of == nil {
		of = &namespaceNotes{notes: map[auditNote]countedNote{}, byKey: map[retake.KeyID]int{}}
		n.waiting[who.ns] = of
	}
	c, there := of.notes[at]
	if !there && of.byKey[who.key.ID] >= maxKeyNotes {
		at = auditNote{key: who.key.ID, verb: verb, subject: "more"}
		c, there = of.notes[at]
	}
	switch {
	case !there && len(of.notes) >= maxNotes:
		of.lost++
		return
	case !there:
		c = countedNote{actor: actorFor(who.key), request: requestID}
		of.byKey[who.key.ID]++
	}
	c.count++
	of.notes[at] = c
}

// flush writes what was gathered, of all namespaces in turn: one with many does not use up the time.
func (n *auditNotes) flush() {
	n.flushing.Lock()
	defer n.flushing.Unlock()
	n.mu.Lock()
	all := n.waiting
	n.waiting = map[retake.NamespaceID]*namespaceNotes{}
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
	defer cancel()
	for ns, of := range all {
		if of.lost > 0 {
			n.log.Error("notes for the audit log were dropped: too many wait", "namespace", ns, "count", of.lost)
		}
	}
	for len(all) > 0 {
		for ns, of := range all {
			if !n.writeOne(ctx, ns, of) {
				delete(all, ns)
			}
		}
	}
}

// writeOne writes a note of a namespace, and takes it away. It returns false if there is none.
func (n *auditNotes) writeOne(ctx context.Context, ns retake.NamespaceID, of *namespaceNotes) bool {
	for at, c := range of.notes {
		delete(of.notes, at)
		subject := at.subject
		if c.count > 1 {
			subject = fmt.Sprintf("%s, %d times", subject, c.count)
		}
		ctx := serverdb.WithOrigin(retake.WithActor(ctx, c.actor), serverdb.Origin{Address: at.address, Request: c.request})
		if err := n.ledger.Book(ns).Note(ctx, at.verb, subject); err != nil {
			n.log.Error("write the audit log", "namespace", ns, "verb", at.verb, "count", c.count, "err", err)
		}
		return true
	}
	return false
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
