package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

// serverFilled are filledTypes of a server.
var serverFilled = []string{"Deletion", "Delivery", "Key", "Namespace", "Webhook"}

// serverNotes are notes on what only a server has.
var serverNotes = map[string]map[string]string{
	"Actor":      {"kind": "The kind of the key; empty: who owns the server.", "key": "The id of the key."},
	"AuditEntry": {"hash": "Over the entry before it and this one.", "verb": "What was done.", "subject": "What it was done to."},
	"AuditProof": {"broken": "The first entry that does not fit. 0: all do.", "public": "The key that anchors are signed with.", "anchors": "Signed heads that were compared."},
	"Deletion":   {"due": "When it will be done, unless it is cancelled before.", "state": "waiting, canceled, done or refused.", "note": "Why it was refused."},
	"Delivery":   {"id": "The webhook-id of the message.", "event": "The seq of the event.", "state": "waiting, delivered or dead.", "body": "The message, in base64; told of one, not in lists."},
	"Event":      {"seq": "Rises without end; a gap means nothing.", "type": "Types are added, never changed."},
	"EventData":  {"intent": "Cut when it is long.", "api_url": "Where it can be asked for.", "count": "Of what the event is about.", "why": "What is to blame."},
	"Key":        {"kind": "Kinds are added, never changed.", "tail": "Its last four characters.", "workspaces": "Ids that it is good for; none: all.", "used": "About when it last let somebody in."},
	"Limits":     {"within": "Nanoseconds that checkpoints are kept.", "moment": "Bytes of the tree of one checkpoint.", "store": "Bytes of all history.", "workspaces": "Live ones.", "per_second": "Requests of one key.", "restore_hour": "Restores of one agent key in an hour.", "grace": "Nanoseconds between a request to delete and the deletion."},
	"Namespace":  {"default": "The workspace of who names none.", "roots": "Directories of the server's machine that workspaces may lie in, beside its own.", "ended": "Nobody gets in any more."},
	"NewKey":     {"secret": "Told once, and stored nowhere."},
	"NewWebhook": {"secret": "What signatures are checked with; told once, if it is shared."},
	"Run":        {"took": "Nanoseconds.", "what": "What came of it, in words."},
	"Schedule":   {"cron": "Five fields, in UTC.", "jitter": "Nanoseconds.", "missed": "Runs that nobody was there for."},
	"Try":        {"status": "Of the answer; absent: there was none.", "took": "Nanoseconds."},
	"Usage":      {"bytes": "Of the store."},
	"Webhook":    {"types": "None: all, under their first names.", "public": "Of scheme v1a: the key to check with.", "why": "It is disabled.", "rotated": "Until a day after that the old secret signs too."},
}

// embellishServer does what embellish does for what only a server has.
func embellishServer(o *huma.OpenAPI) {
	data := o.Components.Schemas.Schema(reflect.TypeFor[retake.EventData](), true, "")
	schemas := o.Components.Schemas.Map()
	schemas["Event"].Properties["data"] = data
	for _, name := range serverFilled {
		for _, p := range schemas[name].Properties {
			p.Nullable = p.Nullable && p.Type != huma.TypeArray
		}
	}
	for name, fields := range serverNotes {
		for f, text := range fields {
			schemas[name].Properties[f].Description = text
		}
	}
}
