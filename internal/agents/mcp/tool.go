package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-dev/retake"
)

const nothingChanged = "Nothing was changed."

// tool is what is told of a tool before it is called.
type tool struct {
	name, about string
	input       map[string]any
	hints       hints
}

// hints are what a client may think of a tool. No tool of ours reaches the world
// outside of this machine.
type hints struct{ readOnly, destructive, idempotent bool }

// answer is what a tool says: a few lines, and the data that they are made of.
type answer interface {
	text(f *face) string
}

// aside is what every answer may say besides.
type aside struct {
	Note string `json:"note,omitempty" jsonschema:"read this first"`
}

func (a *aside) say(note string) { a.Note = note }

// annotations say no more than the protocol assumes otherwise: an agent pays for every
// word of the list at each of its requests.
func (h hints) annotations() *sdk.ToolAnnotations {
	no := false
	a := &sdk.ToolAnnotations{ReadOnlyHint: h.readOnly, OpenWorldHint: &no}
	if !h.readOnly {
		a.DestructiveHint, a.IdempotentHint = &h.destructive, h.idempotent
	}
	return a
}

// add gives a tool to the server. The workspace is found before each call. Tools have no
// output schema: answers are text, unless the options ask for data.
func add[In any, Out answer](f *face, srv *sdk.Server, t tool, do func(context.Context, retake.Workspace, In) (Out, error)) {
	def := &sdk.Tool{
		Name: t.name, Description: t.about + " " + dataNotice, InputSchema: t.input, Annotations: t.hints.annotations(),
	}
	sdk.AddTool(srv, def, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		ws, err := f.place(ctx)
		if err != nil {
			return nil, nil, retake.AsError(err)
		}
		out, err := do(ctx, ws, in)
		if err != nil {
			return nil, nil, retake.AsError(err)
		}
		res := &sdk.CallToolResult{}
		if p, ok := any(out).(interface{ partly() bool }); ok {
			res.IsError = p.partly()
		}
		lines := out.text(f)
		if a, ok := any(&out).(interface{ say(string) }); ok && ws.Interrupted != nil {
			note := cutOff(ws.Interrupted)
			a.say(note)
			lines = note + "\n" + lines
		}
		res.Content = []sdk.Content{&sdk.TextContent{Text: strings.TrimRight(lines, "\n")}}
		if !f.o.Data {
			return res, nil, nil
		}
		return res, out, nil
	})
}

// place finds the workspace that a call is about.
func (f *face) place(ctx context.Context) (retake.Workspace, error) {
	if f.o.far() {
		return f.o.Place(ctx)
	}
	return f.Locate(ctx, f.o.Dir)
}

// cutOff tells of a restore that stopped on its way: an agent has to know that the files
// are half of one point in time and half of another.
func cutOff(i *retake.Interruption) string {
	return fmt.Sprintf("The restore to checkpoint %d was interrupted after %d of %d files. A person runs: retake restore --finish, or retake restore --undo.", i.Target, i.Done, i.Total)
}

// guard gives every trouble of a tool the same form. A panic is the trouble of one
// call: the handler also runs in a process that serves others.
func guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = refusal(&retake.Error{Kind: retake.Internal, What: fmt.Sprintf("the tool broke: %v", p)}), nil
			}
		}()
		if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && bytes.Equal(bytes.TrimSpace(p.Arguments), []byte("null")) {
			p.Arguments = json.RawMessage("{}") // some clients say null for none
		}
		res, err = next(ctx, method, req)
		if r, ok := res.(*sdk.CallToolResult); ok && r.GetError() != nil {
			res = refusal(r.GetError())
		}
		return res, err
	}
}

// problem is how trouble is told.
type problem struct {
	Kind retake.ErrorKind `json:"kind"`
	What string           `json:"what"`
	Safe string           `json:"safe,omitempty"`
	Hint string           `json:"hint,omitempty"`
}

// refusal is the answer of a tool that did not do it. What has no kind of ours did not fit
// the schema, and never reached the service.
func refusal(err error) *sdk.CallToolResult {
	var e *retake.Error
	if !errors.As(err, &e) {
		e = &retake.Error{Kind: retake.Invalid, What: err.Error(), Safe: nothingChanged, Hint: "see the input schema of the tool"}
	}
	p := problem{Kind: e.Kind, What: word(e.Error(), maxSentence), Safe: word(e.Safe, maxSentence), Hint: word(e.Hint, maxSentence)}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(p) != nil { // strings are always written
		return nil
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(b.String())}}}
}

func invalid(hint, format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: nothingChanged, Hint: hint}
}
