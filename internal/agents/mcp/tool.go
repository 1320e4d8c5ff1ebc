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

// toolSpec describes a tool to clients.
type toolSpec struct {
	name, description string
	input             map[string]any
	hints             toolHints
}

// toolHints are the annotations of a tool. No tool reaches beyond this machine.
type toolHints struct{ readOnly, destructive, idempotent bool }

// toolAnswer is the result of a tool: a few lines of text, and the data they are made of.
type toolAnswer interface {
	text(f *toolServer) string
}

// answerNote is a note that any answer may carry.
type answerNote struct {
	Note string `json:"note,omitempty" jsonschema:"read this first"`
}

func (a *answerNote) setNote(note string) { a.Note = note }

// annotations returns only what differs from the protocol's defaults: an agent pays for
// every word of the tool list in each of its requests.
func (h toolHints) annotations() *sdk.ToolAnnotations {
	no := false
	a := &sdk.ToolAnnotations{ReadOnlyHint: h.readOnly, OpenWorldHint: &no}
	if !h.readOnly {
		a.DestructiveHint, a.IdempotentHint = &h.destructive, h.idempotent
	}
	return a
}

// addTool registers a tool. The workspace is looked up before each call. Tools have no
// output schema: answers are text, unless the options ask for data.
func addTool[In any, Out toolAnswer](f *toolServer, srv *sdk.Server, t toolSpec, do func(context.Context, retake.Workspace, In) (Out, error)) {
	def := &sdk.Tool{
		Name: t.name, Description: t.description + " " + dataNotice, InputSchema: t.input, Annotations: t.hints.annotations(),
	}
	sdk.AddTool(srv, def, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		ws, err := f.findWorkspace(ctx)
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
		if a, ok := any(&out).(interface{ setNote(string) }); ok && ws.Interrupted != nil {
			note := interruptedNote(ws.Interrupted)
			a.setNote(note)
			lines = note + "\n" + lines
		}
		res.Content = []sdk.Content{&sdk.TextContent{Text: strings.TrimRight(lines, "\n")}}
		if !f.opts.Data {
			return res, nil, nil
		}
		return res, out, nil
	})
}

// findWorkspace returns the workspace that a call is about.
func (f *toolServer) findWorkspace(ctx context.Context) (retake.Workspace, error) {
	if f.opts.isRemote() {
		return f.opts.FindWorkspace(ctx)
	}
	return f.Locate(ctx, f.opts.Dir)
}

// interruptedNote describes a restore that stopped halfway: an agent has to know that the
// files mix two points in time.
func interruptedNote(i *retake.Interruption) string {
	return fmt.Sprintf("The restore to checkpoint %d was interrupted after %d of %d files. A person runs: retake restore --finish, or retake restore --undo.", i.Target, i.Done, i.Total)
}

// guardTool gives every error of a tool the same form. A panic becomes an error of that
// call: the handler also runs in a process that serves others.
func guardTool(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = errorResult(&retake.Error{Kind: retake.Internal, What: fmt.Sprintf("the tool broke: %v", p)}), nil
			}
		}()
		if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && bytes.Equal(bytes.TrimSpace(p.Arguments), []byte("null")) {
			p.Arguments = json.RawMessage("{}") // some clients say null for none
		}
		res, err = next(ctx, method, req)
		if r, ok := res.(*sdk.CallToolResult); ok && r.GetError() != nil {
			res = errorResult(r.GetError())
		}
		return res, err
	}
}

// errorReport is how an error is reported.
type errorReport struct {
	Kind retake.ErrorKind `json:"kind"`
	What string           `json:"what"`
	Safe string           `json:"safe,omitempty"`
	Hint string           `json:"hint,omitempty"`
}

// errorResult returns the result of a tool that failed. An error without a kind did not fit
// the schema, and never reached the service.
func errorResult(err error) *sdk.CallToolResult {
	var e *retake.Error
	if !errors.As(err, &e) {
		e = &retake.Error{Kind: retake.Invalid, What: err.Error(), Safe: nothingChanged, Hint: "see the input schema of the tool"}
	}
	p := errorReport{Kind: e.Kind, What: safeWord(e.Error(), maxSentence), Safe: safeWord(e.Safe, maxSentence), Hint: safeWord(e.Hint, maxSentence)}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(p) != nil { // strings are always written
		return nil
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(b.String())}}}
}

func invalidError(hint, format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: nothingChanged, Hint: hint}
}
