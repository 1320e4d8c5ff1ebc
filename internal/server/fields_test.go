package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// apiDescription is the part of the API's description that requests are generated from.
type apiDescription struct {
	Paths map[string]map[string]struct {
		ID     string `json:"operationId"`
		Params []struct {
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
		Body *struct {
			Content map[string]struct {
				Schema schemaField `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schemaField `json:"schemas"`
	} `json:"components"`
}

type schemaField struct {
	Ref        string                 `json:"$ref"`
	Type       any                    `json:"type"`
	Properties map[string]schemaField `json:"properties"`
	Required   []string               `json:"required"`
	Items      *schemaField           `json:"items"`
}

type request struct{ method, path, body string }

// requestsNaming generates requests to one workspace in which each text of a query or a body, one
// at a time, is an ID of another workspace.
func (b *testServer) requestsNaming(home string, ids []string) []request {
	b.t.Helper()
	_, text := b.sendRequest(http.MethodGet, "/v1/openapi.json", b.keySecret(retake.KeyReader), "", nil)
	var d apiDescription
	must(b.t, json.Unmarshal([]byte(text), &d))
	var out []request
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			switch op.ID {
			case "deinit", "events": // the one ends the workspace, the other never ends
				continue
			case "write-file", "remove-file": // a file that the test itself writes is not one of the other workspace
				continue
			}
			base := strings.ReplaceAll(strings.ReplaceAll(path, "{ws}", home), "{ref}", "latest")
			out = append(out, request{strings.ToUpper(method), base, ""})
			for _, id := range ids {
				for _, p := range op.Params {
					if p.In == "query" {
						out = append(out, request{strings.ToUpper(method), base + "?" + url.Values{p.Name: {id}, "path": {"only-there.txt"}}.Encode(), "{}"})
					} else if p.In == "path" {
						out = append(out, request{strings.ToUpper(method), strings.ReplaceAll(base, "{"+p.Name+"}", id), "{}"})
					}
				}
				if op.Body != nil {
					out = append(out, d.requestBodies(strings.ToUpper(method), base, op.Body.Content["application/json"].Schema, id)...)
				}
			}
		}
	}
	return out
}

// courses are the kinds of restore. Only one of them uses the fork in a body.
var courses = []retake.Course{retake.CourseRestore, retake.CourseUndo, retake.CourseRedo, retake.CourseAdopt}

func (d *apiDescription) requestBodies(method, path string, f schemaField, id string) []request {
	f = d.resolveRef(f)
	var out []request
	for name, p := range f.Properties {
		var value any = id
		switch d.resolveRef(p).Type {
		case "string":
		case "array":
			value = []string{id}
		default:
			continue
		}
		body := map[string]any{name: value}
		for _, r := range f.Required {
			if _, ok := body[r]; !ok {
				body[r] = "latest"
			}
		}
		if _, ok := f.Properties["course"]; !ok {
			out = append(out, request{method, path, mustJSON(body)})
			continue
		}
		for _, c := range courses {
			body["course"], body["accept"] = c, []string{"changed"}
			out = append(out, request{method, path, mustJSON(body)})
		}
	}
	return out
}

func (d *apiDescription) resolveRef(f schemaField) schemaField {
	for f.Ref != "" {
		f = d.Components.Schemas[f.Ref[strings.LastIndexByte(f.Ref, '/')+1:]]
	}
	return f
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint("it is made of what JSON has: ", err))
	}
	return string(b)
}
