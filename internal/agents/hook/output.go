package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/retake-dev/retake"
)

// called puts what a tool answered into its call.
func called(c *retake.Call, response json.RawMessage) *retake.Call {
	c.Output = output(response)
	c.Failed = c.Failed || failed(response)
	c.Unfinished = c.Unfinished || unfinished(c.Input, response)
	return c
}

// output is what a tool answered, as text: the parts that are text when it is one
// of the known shapes, else all of it.
func output(response json.RawMessage) string {
	response = unwrapped(response)
	if len(response) == 0 || response[0] == '"' {
		return str(response)
	}
	o, ok := parse(response)
	if !ok {
		items, _ := (fields{"": response}).list("")
		return blocks(items, response)
	}
	_, out := o["stdout"]
	if _, err := o["stderr"]; out || err {
		return joined(o.text("stdout"), o.text("stderr"))
	}
	if s := o.text("output", "llmContent", "text_result_for_llm", "textResultForLlm", "result", "text", "error"); s != "" {
		return s
	}
	if items, isList := o.list("content", "llmContent"); isList {
		return blocks(items, response)
	}
	if s := joined(o.text("content"), o.object("error").text("message")); s != "" {
		return s
	}
	return blocks(nil, response)
}

// blocks are the texts of a list of parts, as MCP tools answer; without any it is
// all that was answered.
func blocks(items []json.RawMessage, all json.RawMessage) string {
	var texts []string
	for _, item := range items {
		if o, ok := parse(item); ok {
			if s := o.text("text"); s != "" {
				texts = append(texts, s)
			}
		}
	}
	if len(texts) == 0 {
		var b bytes.Buffer
		_ = json.Compact(&b, all) // it was parsed before
		return b.String()
	}
	return joined(texts...)
}

func joined(texts ...string) string {
	var kept []string
	for _, s := range texts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, "\n")
}

// unfinished reports whether a call was cut short, or was sent to the background: its
// answer does not tell how it ends.
func unfinished(input, response json.RawMessage) bool {
	in, _ := parse(input)
	out, _ := parse(unwrapped(response))
	return in.truth("run_in_background") || in.truth("is_background") || out.truth("interrupted") || out.text("backgroundTaskId") != ""
}

// failed reports whether a tool's answer says that it did not work.
func failed(response json.RawMessage) bool {
	o, ok := parse(unwrapped(response))
	if !ok {
		return false
	}
	if o.truth("is_error") || o.truth("isError") || o.truth("interrupted") || o.denied("success") || len(o.raw("error")) > 0 && string(o.raw("error")) != `""` {
		return true
	}
	if kind := o.text("result_type", "resultType"); kind != "" {
		return kind != "success"
	}
	code := string(o.raw("exit_code", "exitCode"))
	return code != "" && code != "0"
}
