package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/webhook"
)

// arguments are what a step gives to a call.
type arguments struct {
	player *player
	step   step
	client *client.Client
	ws     retake.WorkspaceID
	given  map[string]any
}

// text of an argument; one that begins with base64: is bytes.
func (a arguments) text(name string) string {
	if a.given[name] == nil {
		return ""
	}
	return named(fmt.Sprint(a.given[name]))
}

// ref is the newest one when none is given.
func (a arguments) ref() string {
	if ref := a.text("ref"); ref != "" {
		return ref
	}
	return "latest"
}

func (a arguments) list(name string) []string {
	var out []string
	all, _ := a.given[name].([]any)
	for _, v := range all {
		out = append(out, named(fmt.Sprint(v)))
	}
	return out
}

func (a arguments) number(name string) int64 {
	n, _ := a.given[name].(float64)
	return int64(n)
}

func (a arguments) yes(name string) bool {
	b, _ := a.given[name].(bool)
	return b
}

// into puts an argument into a type by its JSON.
func (a arguments) into(v any, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func (a arguments) way() retake.PlanRequest {
	course := retake.Course(a.text("course"))
	if course == "" {
		course = retake.CourseRestore
	}
	return retake.PlanRequest{Workspace: a.ws, Course: course, Ref: a.text("ref"), Paths: a.list("paths"), Fork: retake.WorkspaceID(a.text("fork"))}
}

// calls are what a script may ask for, by the names that all languages share.
var calls = table{}

// The table and follow name each other.
func init() {
	for _, part := range []table{historyCalls, backCalls, agentCalls, officeCalls, hookCalls, storeCalls} {
		maps.Copy(calls, part)
	}
	calls["follow"] = follow
}

type table = map[string]func(context.Context, arguments) (any, error)

var historyCalls = table{
	"save": func(ctx context.Context, a arguments) (any, error) {
		r, err := a.client.Save(ctx, saving(a))
		return r.Checkpoint, err
	},
	"save_result": func(ctx context.Context, a arguments) (any, error) { return a.client.Save(ctx, saving(a)) },
	"checkpoints": func(ctx context.Context, a arguments) (any, error) {
		q := retake.LogQuery{Workspace: a.ws, Good: a.yes("good"), Path: a.text("path"), Limit: int(a.number("page"))}
		most := int(a.number("limit"))
		out := []retake.Checkpoint{}
		for {
			t, err := a.client.Log(ctx, q)
			if err != nil {
				return nil, err
			}
			if out = append(out, t.Checkpoints...); most > 0 && len(out) >= most {
				return out[:most], nil
			}
			if q.Limit == 0 || len(t.Checkpoints) < q.Limit {
				return out, nil
			}
			q.Before = t.Checkpoints[len(t.Checkpoints)-1].Number
		}
	},
	"timeline": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Log(ctx, retake.LogQuery{Workspace: a.ws, Limit: int(a.number("limit"))})
	},
	"checkpoint": func(ctx context.Context, a arguments) (any, error) { return a.client.Find(ctx, a.ws, a.ref()) },
	"status":     func(ctx context.Context, a arguments) (any, error) { return a.client.Status(ctx, a.ws) },
	"deinit":     func(ctx context.Context, a arguments) (any, error) { return a.client.Deinit(ctx, a.ws) },
	"diff":       func(ctx context.Context, a arguments) (any, error) { return a.client.Diff(ctx, between(a)) },
	"story":      func(ctx context.Context, a arguments) (any, error) { return a.client.Story(ctx, between(a)) },
	"rows": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Rows(ctx, retake.RowsQuery{Workspace: a.ws, From: a.text("from_ref"), To: a.text("to_ref"), Path: a.text("path"), Table: a.text("table")})
	},
	"search": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Search(ctx, retake.SearchQuery{Workspace: a.ws, Text: a.text("text")})
	},
	"blame": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Blame(ctx, retake.BlameQuery{Workspace: a.ws, Ref: a.text("ref"), Path: a.text("path")})
	},
	"chronicle": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Chronicle(ctx, retake.ChronicleQuery{Workspace: a.ws, Kind: retake.FactKind(a.text("kind")), Name: a.text("name")})
	},
	"entries": func(ctx context.Context, a arguments) (any, error) {
		return a.client.List(ctx, a.ws, a.ref(), a.text("dir"))
	},
	"read": func(ctx context.Context, a arguments) (any, error) {
		r, _, err := a.client.Open(ctx, a.ws, a.ref(), a.text("path"))
		return drained(r, err)
	},
	"stored": func(ctx context.Context, a arguments) (any, error) {
		r, err := a.client.Bytes(ctx, retake.ObjectID(a.text("id")))
		return drained(r, err)
	},
	"archive": func(ctx context.Context, a arguments) (any, error) {
		data, err := drained(a.client.Archive(ctx, a.ws, a.text("ref")))
		if err != nil {
			return nil, err
		}
		raw, err := base64.StdEncoding.DecodeString(data["base64"])
		if err != nil {
			return nil, err
		}
		return a.player.ask("/untar", raw)
	},
	"proof": func(ctx context.Context, a arguments) (any, error) { return a.client.Prove(ctx, a.ws, a.ref()) },
}

func saving(a arguments) retake.SaveRequest {
	return retake.SaveRequest{Workspace: a.ws, Intent: a.text("intent"), Pin: a.text("pin"), IfChanged: a.yes("if_changed")}
}

func between(a arguments) retake.DiffQuery {
	return retake.DiffQuery{Workspace: a.ws, From: a.text("from_ref"), To: a.text("to_ref"), Paths: a.list("paths")}
}

// drained reads all bytes; text is beside them when they are some.
func drained(r io.ReadCloser, err error) (map[string]string, error) {
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(r)
	out := map[string]string{"base64": base64.StdEncoding.EncodeToString(data)}
	if utf8.Valid(data) {
		out["text"] = string(data)
	}
	return out, err
}

var backCalls = table{
	"plan": func(ctx context.Context, a arguments) (any, error) { return a.client.PlanRestore(ctx, a.way()) },
	"apply": func(ctx context.Context, a arguments) (any, error) {
		var p retake.Plan
		if err := a.into(&p, a.given["plan"]); err != nil {
			return nil, err
		}
		req := retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: a.ws, Course: p.Course, Paths: p.Paths}, Digest: p.Digest, Accept: a.list("accept")}
		if p.Target != nil {
			req.Ref = string(p.Target.ID)
		}
		return a.client.ApplyRestore(ctx, req)
	},
	"restore": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Restore(ctx, retake.ApplyRequest{PlanRequest: a.way(), Accept: a.list("accept")})
	},
	"fork": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Fork(ctx, retake.ForkRequest{Workspace: a.ws, Ref: a.ref(), Dir: a.text("dir"), Name: a.text("name"), Throwaway: a.yes("throwaway")})
	},
	"forks": func(ctx context.Context, a arguments) (any, error) { return a.client.Forks(ctx, a.ws) },
	"pins": func(ctx context.Context, a arguments) (any, error) {
		t, err := a.client.Log(ctx, retake.LogQuery{Workspace: a.ws, Limit: 1})
		return t.Pins, err
	},
	"pin": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Pin(ctx, a.ws, a.text("ref"), a.text("name"))
	},
	"unpin": func(ctx context.Context, a arguments) (any, error) {
		return nil, a.client.Unpin(ctx, a.ws, a.text("name"))
	},
	"hold": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Hold(ctx, a.ws, a.text("ref"), a.text("name"))
	},
	"release": func(ctx context.Context, a arguments) (any, error) {
		return nil, a.client.Release(ctx, a.ws, a.text("name"))
	},
}

var agentCalls = table{
	"attest": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Attest(ctx, retake.Attestation{
			Workspace: a.ws, Ref: a.text("ref"), Name: a.text("name"), Command: a.text("command"), Exit: int(a.number("exit")), Output: a.text("output"),
		})
	},
	"verifications": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Verifications(ctx, retake.VerificationQuery{Workspace: a.ws, Ref: a.text("ref"), Name: a.text("name")})
	},
	"standing": func(ctx context.Context, a arguments) (any, error) { return a.client.Standing(ctx, a.ws) },
	"tasks":    func(ctx context.Context, a arguments) (any, error) { return a.client.Tasks(ctx, a.ws) },
	"set_tasks": func(ctx context.Context, a arguments) (any, error) {
		var tasks []retake.Task
		if err := a.into(&tasks, a.given["tasks"]); err != nil {
			return nil, err
		}
		return a.client.SetTasks(ctx, a.ws, tasks)
	},
	"observe": func(ctx context.Context, a arguments) (any, error) {
		var s retake.Signal
		if err := a.into(&s, a.given["signal"]); err != nil {
			return nil, err
		}
		return a.client.Observe(ctx, s)
	},
	"effects": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Effects(ctx, a.ws, a.text("since"))
	},
	"state": func(ctx context.Context, a arguments) (any, error) { return a.client.State(ctx, a.ws, a.ref()) },
	"conversation": func(ctx context.Context, a arguments) (any, error) {
		r, _, err := a.client.Conversation(ctx, a.ws, a.ref())
		return drained(r, err)
	},
	"resume": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Resume(ctx, retake.ResumeRequest{Workspace: a.ws, Ref: a.text("ref"), Look: a.yes("look")})
	},
}

// follow gathers events of the workspace. Behind the first it does what the step says.
func follow(ctx context.Context, a arguments) (any, error) {
	enough := errors.New("enough")
	got, seqs, rising := []retake.Event{}, int64(0), true
	err := a.client.Follow(ctx, a.number("after"), func(e retake.Event) error {
		rising = rising && e.Seq > seqs
		seqs = e.Seq
		var d retake.EventData
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return err
		}
		if d.Workspace != a.ws {
			return nil
		}
		if got = append(got, e); len(got) == 1 {
			if err := a.player.steps(ctx, a.step.Then); err != nil {
				return err
			}
		}
		if len(got) == int(a.number("count")) {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		return nil, err
	}
	return map[string]any{"events": got, "rising": rising}, nil
}

// verify is what a receiver does. The package is not for others; they use a library.
func verify(_ context.Context, a arguments) (any, error) {
	var m message
	if err := a.into(&m, a.given["message"]); err != nil {
		return nil, err
	}
	if a.given["body"] != nil {
		m.Body = a.text("body")
	}
	h := http.Header{}
	for k, v := range m.Headers {
		h.Set(k, v)
	}
	now := time.Now().Add(time.Duration(a.number("later")) * time.Second)
	if err := webhook.Verify(a.text("secret"), h, []byte(m.Body), now); err != nil {
		return nil, &retake.Error{Kind: retake.Denied, What: err.Error()}
	}
	var out any
	return out, json.Unmarshal([]byte(m.Body), &out)
}
