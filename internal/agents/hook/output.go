package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/retake-dev/retake"
)

// withResponse adds the response of a tool to its call.
func withResponse(c *retake.Call, response json.RawMessage) *retake.Call {
	c.Output = responseText(response)
	c.Failed = c.Failed || isFailedResponse(response)
	c.Unfinished = c.Unfinished || isUnfinished(c.Input, response)
	return c
}

// responseText returns the response of a tool as text: the text parts if it has a known
// form, else all of it.
func responseText(response json.RawMessage) string {
	response = unwrapJSON(response)
	if len(response) == 0 || response[0] == '"' {
		return jsonString(response)
	}
	o, ok := parseFields(response)
	if !ok {
		items, _ := (jsonFields{"": response}).list("")
		return blocksText(items, response)
	}
	_, out := o["stdout"]
	if _, err := o["stderr"]; out || err {
		return joinNonEmpty(o.text("stdout"), o.text("stderr"))
	}
	if s := o.text("output", "llmContent", "text_result_for_llm", "textResultForLlm", "result", "text", "error"); s != "" {
		return s
	}
	if items, isList := o.list("content", "llmContent"); isList {
		return blocksText(items, response)
	}
	if s := joinNonEmpty(o.text("content"), o.object("error").text("message")); s != "" {
		return s
	}
	return blocksText(nil, response)
}

// blocksText joins the texts of a list of parts, as MCP tools return them. If there are
// none, it returns the whole response.
func blocksText(items []json.RawMessage, all json.RawMessage) string {
	var texts []string
	for _, item := range items {
		if o, ok := parseFields(item); ok {
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
	return joinNonEmpty(texts...)
}

func joinNonEmpty(texts ...string) string {
	var kept []string
	for _, s := range texts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, "\n")
}

// isUnfinished reports whether a call was interrupted or runs in the background: its
// response does not tell how it ends.
func isUnfinished(input, response json.RawMessage) bool {
	in, _ := parseFields(input)
	out, _ := parseFields(unwrapJSON(response))
	return in.isTrue("run_in_background") || in.isTrue("is_background") || out.isTrue("interrupted") || out.text("backgroundTaskId") != ""
}

// isFailedResponse reports whether the response of a tool says that it failed.
func isFailedResponse(response json.RawMessage) bool {
	o, ok := parseFields(unwrapJSON(response))
	if !ok {
		return false
	}
	if o.isTrue("is_error") || o.isTrue("isError") || o.isTrue("interrupted") || o.isFalse("success") || len(o.raw("error")) > 0 && string(o.raw("error")) != `""` {
		return true
	}
	if kind := o.text("result_type", "resultType"); kind != "" {
		return kind != "success"
	}
	code := string(o.raw("exit_code", "exitCode"))
	return code != "" && code != "0"
}
