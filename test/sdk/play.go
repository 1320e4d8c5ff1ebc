package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// player plays behaviours with the Go client.
type player struct {
	desk string
	url  string
	keys map[string]any
	kept map[string]any // of the behaviour
	runs int
}

func playGo(o options, desk string) (bool, error) {
	s, err := readScript(o.script)
	if err != nil {
		return false, err
	}
	p := &player{desk: desk}
	bed, err := p.ask("/bed", nil)
	if err != nil {
		return false, err
	}
	p.url, p.keys = at(bed, "url").(string), at(bed, "keys").(map[string]any)
	done, failed, controls := 0, 0, 0
	for _, b := range s.Behaviours {
		if !strings.Contains(b.Name, o.name) {
			continue
		}
		if why := b.Without["go"]; why != "" {
			fmt.Printf("go: without: %s: %s\n", b.Name, why)
			continue
		}
		err := p.behave(b)
		if b.Control != "" {
			controls++
			if err != nil && strings.Contains(err.Error(), b.Control) {
				err = nil
			} else {
				err = fmt.Errorf("what it breaks was not noticed: %v", err) //nolint:errorlint // it may be nil
			}
		} else {
			done++
		}
		if err != nil {
			failed++
			fmt.Printf("go: FAILED: %s: %v\n", b.Name, err)
		} else if o.verb {
			fmt.Printf("go: %s\n", b.Name)
		}
	}
	fmt.Printf("go: %d behaviours and %d controls, %d failed\n", done, controls, failed)
	return failed > 0, nil
}

func (p *player) behave(b behaviour) error {
	p.runs++
	p.kept = map[string]any{"n": fmt.Sprintf("b%d", p.runs), "desk": p.desk}
	if _, err := p.ask("/fault", fault{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if b.Files != nil {
		made, err := p.call(ctx, step{Call: "import_archive", Args: map[string]any{"files": anyMap(b.Files), "name": p.kept["n"]}})
		if err != nil {
			return fmt.Errorf("make the workspace: %w", err)
		}
		p.kept["w"], p.kept["root"] = at(made, "workspace.id"), at(made, "workspace.root")
	}
	return p.steps(ctx, b.Steps)
}

func (p *player) steps(ctx context.Context, all []step) error {
	for i, s := range all {
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.Call, err)
		}
	}
	return nil
}

func (p *player) step(ctx context.Context, s step) error {
	var got any
	var err error
	switch {
	case s.Disk != nil:
		d := *s.Disk
		d.Root = fmt.Sprint(filled(d.Root, p.kept))
		if d.Root == "" {
			d.Root = fmt.Sprint(p.kept["root"])
		}
		got, err = p.ask("/disk", d)
	case s.Restart:
		got, err = p.ask("/restart", struct{}{})
	case s.Hook != "":
		got, err = p.ask(fmt.Sprintf("/hook/%s?count=%d", filled(s.Hook, p.kept), s.Count), nil)
	default:
		return p.called(ctx, s)
	}
	if err != nil {
		return err
	}
	if s.Keep != "" {
		p.kept[s.Keep] = got
	}
	return judge(got, s.Want, p.kept)
}

// called does a call and looks at what came of it, again and again if the step says so.
func (p *player) called(ctx context.Context, s step) error {
	err := p.watched(ctx, s)
	for s.Until && err != nil && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		err = p.watched(ctx, s)
	}
	return err
}

func (p *player) watched(ctx context.Context, s step) error {
	if s.Fault == nil && s.Seen == nil {
		return p.once(ctx, s)
	}
	f := fault{}
	if s.Fault != nil {
		f = *s.Fault
	}
	if _, err := p.ask("/fault", f); err != nil {
		return err
	}
	if err := p.once(ctx, s); err != nil {
		return err
	}
	seen, err := p.ask("/seen", nil)
	if err != nil {
		return err
	}
	if s.Fault != nil && s.Fault.Do != none && at(seen, "faults") == 0.0 {
		return errors.New("nothing met the fault")
	}
	return judge(seen, s.Seen, p.kept)
}

func (p *player) once(ctx context.Context, s step) error {
	got, err := p.call(ctx, s)
	if s.Error != nil {
		if err == nil {
			return errors.New("there is no error")
		}
		told, perr := plain(troubleOf(err))
		if perr != nil {
			return perr
		}
		return judge(told, asKinds(s.Error), p.kept)
	}
	if err != nil {
		return err
	}
	if s.Keep != "" {
		p.kept[s.Keep] = got
	}
	return judge(got, s.Want, p.kept)
}

func troubleOf(err error) any {
	e := retake.AsError(err)
	out := map[string]any{"code": e.Kind, "what": e.What, "safe": e.Safe, "hint": e.Hint}
	var o *client.Obstructed
	if errors.As(err, &o) {
		out["plan"] = o.Plan
	}
	return out
}

// call does one call with a client of its own; its answer is as JSON has it.
func (p *player) call(ctx context.Context, s step) (any, error) {
	do, ok := calls[s.Call]
	if !ok {
		return nil, fmt.Errorf("no such call: %s", s.Call)
	}
	key := fmt.Sprint(filled(s.Key, p.kept))
	if key == "" {
		key = "operator"
	}
	if secret, ok := p.keys[key]; ok {
		key = secret.(string)
	}
	o := client.Options{URL: p.url, Key: key}
	if s.Retries != nil {
		if o.Retries = *s.Retries; o.Retries == 0 {
			o.Retries = -1
		}
	}
	c := client.New(o)
	defer c.Close() //nolint:errcheck // idle connections
	args := arguments{player: p, step: s, client: c}
	args.given, _ = filled(anyMapOr(s.Args), p.kept).(map[string]any)
	args.ws = retake.WorkspaceID(fmt.Sprint(filled(s.In, p.kept)))
	if w, ok := p.kept["w"].(string); ok && s.In == "" {
		args.ws = retake.WorkspaceID(w)
	}
	if args.ws == "" || args.ws == "default" {
		ns, err := c.Namespace(ctx)
		if err != nil {
			return nil, err
		}
		args.ws = ns.Default
	}
	got, err := do(ctx, args)
	if err != nil {
		return nil, err
	}
	return plain(got)
}

func anyMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func anyMapOr(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// ask asks the desk; with a body it tells it something.
func (p *player) ask(path string, body any) (any, error) {
	data, err := p.bytes(path, body)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(data, &out)
}

func (p *player) bytes(path string, body any) ([]byte, error) {
	var r *http.Response
	var err error
	switch body := body.(type) {
	case nil:
		r, err = http.Get(p.desk + path)
	case []byte:
		r, err = http.Post(p.desk+path, "application/octet-stream", bytes.NewReader(body))
	default:
		text, _ := json.Marshal(body) // our own types
		r, err = http.Post(p.desk+path, "application/json", bytes.NewReader(text))
	}
	if err != nil {
		return nil, err
	}
	defer r.Body.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("the desk says %s: %s", r.Status, data)
	}
	return data, err
}

// kindOf is the kind of the errors with a code: the Go client has kinds only.
var kindOf = map[string]retake.ErrorKind{
	"not_found": retake.NotFound, "stale_plan": retake.Moved, "already_exists": retake.Exists, "unavailable": retake.Away,
	"needs_confirmation": retake.Denied, "forbidden": retake.Denied, "unauthenticated": retake.Denied, "invalid_signature": retake.Denied,
}

// asKinds says what is wanted of an error in kinds instead of codes.
func asKinds(want [][]any) [][]any {
	out := slices.Clone(want)
	for i, w := range out {
		if len(w) == 3 && w[0] == "code" {
			if kind, ok := kindOf[fmt.Sprint(w[2])]; ok {
				out[i] = []any{w[0], w[1], string(kind)}
			}
		}
	}
	return out
}
