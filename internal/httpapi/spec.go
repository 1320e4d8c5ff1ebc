package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
)

// Spec is the description of the API, OpenAPI 3.1 in YAML.
func Spec() ([]byte, error) {
	_, a := build(nil, Options{})
	text, err := a.OpenAPI().YAML()
	if err != nil {
		return nil, fmt.Errorf("write the description: %w", err)
	}
	return text, nil
}

const aboutText = `Everything that a face of Retake can ask for. docs/API.md explains it in words.

Names and paths are bytes. In addresses they are percent-encoded. In JSON a field that is not
UTF-8 is written readable, and a second field beside it, with _raw at its end, holds the bytes in
base64; the same holds for what is sent.

Times are RFC 3339; durations are nanoseconds. Unknown fields are to be ignored, on both sides.`

// describe makes the router. It changes nothing that other routers see.
func describe(mux *http.ServeMux) huma.API {
	c := huma.DefaultConfig("Retake", strconv.Itoa(retake.APIVersion))
	c.Info.Description = aboutText
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.AllowAdditionalPropertiesByDefault = true
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // links to schemas in every answer
	c.Formats = map[string]huma.Format{jsonType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	c.Transformers = []huma.Transformer{ours}
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[problem]())
	return humago.New(mux, c)
}

// twins are fields of the vocabulary with a second one that holds the bytes.
var twins = map[string][]string{
	"Change": {"path"}, "Entry": {"name"}, "Estimate": {"root", "heaviest"}, "Gap": {"path"},
	"Workspace": {"root", "name"}, "WorkspaceState": {"root", "name"},
}

// notes say what a type alone does not.
var notes = map[string]map[string]string{
	"About":          {"stamp": "When the executable was made; tells builds of one version apart. Nanoseconds since 1970.", "home": "The directory whose store it looks after."},
	"Checkpoint":     {"number": "For people; never given twice.", "new_bytes": "Of files that are new or have other bytes.", "trigger": "Triggers are added, never changed.", "content": "Two checkpoints are equal when these are."},
	"Comparison":     {"from": "Absent before the first.", "to": "Absent when it is now.", "gaps": "Of now."},
	"Coverage":       {"grade": "complete or partial."},
	"Entry":          {"mode": "Permission bits with setuid, setgid and sticky.", "mod_time": "Nanoseconds since 1970.", "object": "The address of the bytes, of the link's text, or of the directory.", "kind": "Kinds are added, never changed."},
	"Gap":            {"reason": "Reasons are added, never changed."},
	"SaveResult":     {"created": "Files were new.", "recorded": "A checkpoint was added; without one it is the latest.", "partial": "What was sealed first, when the budget ran out."},
	"SweepReport":    {"took": "Nanoseconds.", "peak": "Most extra bytes while it ran."},
	"Timeline":       {"total": "Of the whole timeline.", "checkpoints": "Newest first."},
	"WorkspaceState": {"gone": "Its directory is not there."},
}

func embellish(o *huma.OpenAPI) {
	schemas := o.Components.Schemas.Map()
	for name, fields := range twins {
		for _, f := range fields {
			schemas[name].Properties[f+"_raw"] = &huma.Schema{
				Type: huma.TypeString, ContentEncoding: "base64", Description: "The bytes of " + f + ", when they are not UTF-8.",
			}
		}
	}
	for name, fields := range notes {
		for f, text := range fields {
			schemas[name].Properties[f].Description = text
		}
	}
}

// op begins the description of a route.
func op(method, path, id, summary string) huma.Operation {
	return huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, MaxBodyBytes: maxBody}
}

const maxBody = 1 << 20
