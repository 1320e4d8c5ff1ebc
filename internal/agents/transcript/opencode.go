package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// opencodeRecord is one line of opencode's transcript. opencode keeps its sessions in a
// database; our plugin writes a transcript beside it, line by line: first the session, then
// each message with its parts when its turn is over, all as "opencode export" has them.
type opencodeRecord struct {
	Info  json.RawMessage   `json:"info"`
	Parts []json.RawMessage `json:"parts"`
}

type opencodeInfo struct {
	ID     string `json:"id"`
	Role   string `json:"role"`
	Parent string `json:"parentID"`
	Time   struct {
		Created int64 `json:"created"`
	} `json:"time"`
}

type opencodePart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Tool      string `json:"tool"`
	State     struct {
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
	} `json:"state"`
}

// readOpencode reads the transcript that our plugin for opencode writes.
func readOpencode(data []byte) []Line {
	var out lineList
	for raw := range jsonRecords(data) {
		r := decode[opencodeRecord](raw)
		m := decode[opencodeInfo](r.Info)
		who := map[string]string{"user": You, "assistant": Agent}[m.Role]
		if who == "" {
			continue
		}
		at := time.UnixMilli(m.Time.Created).UTC()
		for _, p := range r.Parts {
			switch p := decode[opencodePart](p); {
			case p.Type == "text" && !p.Synthetic:
				out.addText(who, p.Text, at)
			case p.Type == "tool":
				out.addCall(p.Tool, toolInputText(p.State.Input), at)
				out.addResult(p.Tool, p.State.Output+p.State.Error, at)
			}
		}
	}
	return out
}

// opencodeScript imports a session and continues it: opencode has no single command for
// both. The names are passed as arguments, so nothing in them is executed.
const opencodeScript = `opencode import "$1" && exec opencode --session "$2"`

// forkOpencode writes a document that opencode imports as a new session.
func forkOpencode(r ForkRequest) Branch {
	again := []string{"opencode", "--session", r.Session, "--fork"}
	if why := forkObstacle(r, "retake"); why != "" {
		return wholeBranch(r, why, again...)
	}
	session := "ses_" + strings.ReplaceAll(r.NewSession, "-", "")
	data, ok := opencodeExport(r, session)
	if !ok {
		return wholeBranch(r, reasonFormat, again...)
	}
	path := filepath.Join(filepath.Dir(r.Path), r.NewSession+".json")
	return Branch{
		Session: session,
		Files:   []File{{Path: path, Data: data}},
		Command: []string{"sh", "-c", opencodeScript, "retake", path, session},
		Exact:   true,
	}
}

// opencodeExport returns a document for "opencode import": the session with its new id,
// with its messages up to the end of the turn. Messages and parts get new ids too, because
// opencode skips those that exist.
func opencodeExport(r ForkRequest, session string) (data []byte, ok bool) {
	var info json.RawMessage
	var messages [][]byte
	reached := false
	for raw := range jsonRecords(r.Data) {
		rec := decode[opencodeRecord](raw)
		m := decode[opencodeInfo](rec.Info)
		if m.Role == "" {
			if m.ID != "" {
				info = rec.Info // the newest word on the session
			}
			continue
		}
		if reached && m.Role == "user" && m.ID != r.Turn {
			break
		}
		reached = reached || r.Turn != "" && (m.ID == r.Turn || m.Parent == r.Turn)
		raw = replaceString(raw, session, "info", "sessionID")
		messages = append(messages, raw)
	}
	old := decode[opencodeInfo](info).ID
	if !strings.HasPrefix(old, "ses_") || len(messages) == 0 {
		return nil, false
	}
	data = append(append([]byte(`{"info":`), info...), `,"messages":[`...)
	data = append(append(data, bytes.Join(messages, []byte(","))...), `]}`...)
	data = bytes.ReplaceAll(data, quoteBytes(old), quoteBytes(session))
	return append(renameOpencodeIDs(data, r.NewSession), '\n'), json.Valid(data)
}

func quoteBytes(s string) []byte { return []byte(`"` + s + `"`) }

var opencodeIDPattern = pattern.Lazy(`"(?:msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}"`)

// renameOpencodeIDs gives messages and parts new ids. An id begins with its time, which
// keeps the order; the rest is derived from the old id and the new session.
func renameOpencodeIDs(data []byte, session string) []byte {
	return opencodeIDPattern().ReplaceAllFunc(data, func(id []byte) []byte {
		sum := sha256.Sum256(append([]byte(session), id...))
		end := new(big.Int).SetBytes(sum[:]).Text(62)
		return append(append(bytes.Clone(id[:17]), (end + strings.Repeat("0", 14))[:14]...), '"')
	})
}
