package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Spec returns the description of the API, OpenAPI 3.1 in YAML.
func Spec() ([]byte, error) {
	o, err := buildDescription()
	if err != nil {
		return nil, err
	}
	text, err := o.YAML()
	if err != nil {
		return nil, fmt.Errorf("write the description: %w", err)
	}
	return text, nil
}

// buildDescription builds the routes again and adds the texts and examples, which a handler that
// serves requests does not need.
func buildDescription() (*huma.OpenAPI, error) {
	_, a := buildRoutes(nil, Options{})
	return a.OpenAPI(), addDescriptions(a.OpenAPI())
}

const apiDescription = `Undo and history for AI agents. Retake takes a checkpoint of the whole project after every agent
turn, shows what changed, and restores any of them.

The daemon on your machine serves this API on a Unix socket and needs no API key. A server (` + "`retake serve`" + `) serves it
over HTTP and needs one; ` + "`x-power`" + ` of an operation is the permission that the key's role must have. Operations that only a
server has return ` + "`not-found`" + ` on a daemon.

- **Errors** are ` + "`application/problem+json`" + `. Decide by ` + "`code`" + `.
- **Names and paths** are bytes. Percent-encode them in URLs. In JSON, a value that is not valid UTF-8 is written in a readable
  form, and a second field that ends in ` + "`_raw`" + ` has the bytes in base64. This also applies to what you send.
- **Lists** take ` + "`limit`" + ` and ` + "`cursor`" + `. A response with ` + "`next_cursor`" + ` has another page.
- **Times** are RFC 3339. Durations are nanoseconds; limits have them also as texts, such as ` + "`within_text`" + `.
- **Unknown fields** and parameters of a request are refused with 422.
- **Compatibility**: within /v1, fields and operations are only added. Ignore fields of responses that you don't know.`

const (
	keyScheme = "key"
	keyText   = "An API key of a server. It begins with rtk_ and its role, such as rtk_agent_. The daemon needs none."
)

// newHumaAPI creates the router and its description. It changes no global state of huma.
func newHumaAPI(mux *http.ServeMux) huma.API {
	c := huma.DefaultConfig("Retake", strconv.Itoa(retake.APIVersion))
	c.Info.Description = apiDescription
	c.Info.Contact = &huma.Contact{Name: "Retake", URL: "https://github.com/retake-dev/retake"}
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.AllowAdditionalPropertiesByDefault = true
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // would add links to schemas to every response
	c.Formats = map[string]huma.Format{jsonType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	c.Transformers = []huma.Transformer{transformError}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{keyScheme: {Type: "http", Scheme: "bearer", Description: keyText}}
	c.Security = []map[string][]string{{}, {keyScheme: {}}}
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[problem]())
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[wire.Problem](), reflect.TypeFor[problem]())
	return humago.New(mux, c)
}

// rawFields are the fields that have a second field with their exact bytes, by schema.
var rawFields = map[string][]string{
	"Change": {"path"}, "Entry": {"name"}, "Estimate": {"root", "heaviest"}, "Gap": {"path"},
	"Workspace": {"root", "name"}, "WorkspaceState": {"root", "name"},
	"Failure": {"path"}, "Holder": {"command", "path"}, "Keep": {"path", "side"}, "PlanRow": {"path"}, "Step": {"path", "unit"},
}

// rawListFields are lists that have a second list with the exact bytes of all elements.
var rawListFields = map[string][]string{"Obstacle": {"paths"}, "Plan": {"paths"}, "Return": {"paths"}}

// nonNullTypes are schemas whose lists are never null, because their routes replace nil.
var nonNullTypes = []string{"About", "AboutKey", "Backup", "ForkResult", "Plan", "PlanSection", "PlanView", "RestoreResult", "RowsDiff", "Spoken", "TableRows", "TimelineView", "TimelineRow", "RowPlace"}

// adjustSchemas adds to the schemas what the Go types do not express.
func adjustSchemas(o *huma.OpenAPI) {
	schemas := o.Components.Schemas.Map()
	forEachField(rawFields, func(name, f string) {
		schemas[name].Properties[f+"_raw"] = &huma.Schema{
			Type: huma.TypeString, ContentEncoding: "base64", Description: "The exact bytes of `" + f + "`, if they are not valid UTF-8.",
		}
	})
	forEachField(rawListFields, func(name, f string) {
		schemas[name].Properties[f+"_raw"] = &huma.Schema{
			Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, ContentEncoding: "base64"},
			Description: "The exact bytes of all `" + f + "`, if one of them is not valid UTF-8.",
		}
	})
	for _, name := range nonNullTypes {
		for _, p := range schemas[name].Properties {
			p.Nullable = p.Nullable && p.Type != huma.TypeArray
		}
	}
	target := schemas["Plan"].Properties["target"]
	schemas["Plan"].Properties["target"] = &huma.Schema{
		OneOf: []*huma.Schema{{Ref: target.Ref}, {Type: "null"}},
	}
}

func forEachField(all map[string][]string, f func(name, field string)) {
	for name, fields := range all {
		for _, field := range fields {
			f(name, field)
		}
	}
}

// newOperation starts the description of a route, with the permission that it needs.
func newOperation(method, path, id, summary string) huma.Operation {
	o := huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, MaxBodyBytes: maxBody}
	if p, ok := requiredPermissions[id]; ok {
		o.Extensions = map[string]any{permissionExtension: string(p)}
	}
	return o
}

// operationsByMethod returns the operations of a path.
func operationsByMethod(item *huma.PathItem) map[string]*huma.Operation {
	out := map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
	}
	maps.DeleteFunc(out, func(_ string, o *huma.Operation) bool { return o == nil })
	return out
}

const maxBody = 1 << 20
