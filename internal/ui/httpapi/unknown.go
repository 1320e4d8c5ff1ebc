package httpapi

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// lenientOperation takes fields that it does not know: what an agent reports is saved even if a newer
// plugin says more about it.
const lenientOperation = "observe"

// refuseUnknownFields closes the schemas of requests, so that a misspelled field is an error. What
// responses have, too, stays open: clients of the version before read newer ones.
func refuseUnknownFields(o *huma.OpenAPI) {
	sent, open := map[string]bool{}, map[string]bool{}
	for _, item := range o.Paths {
		for _, op := range operationsByMethod(item) {
			if op.RequestBody != nil {
				to := sent
				if op.OperationID == lenientOperation {
					to = open
				}
				addSchemas(o, op.RequestBody.Content, to)
			}
			for _, r := range op.Responses {
				addSchemas(o, r.Content, open)
			}
		}
	}
	for name, s := range o.Components.Schemas.Map() {
		if sent[name] && !open[name] && s.Type == huma.TypeObject {
			s.AdditionalProperties = false
		}
	}
}

// addSchemas adds the names of all schemas that these bodies have.
func addSchemas(o *huma.OpenAPI, bodies map[string]*huma.MediaType, to map[string]bool) {
	for _, b := range bodies {
		addSchema(o, b.Schema, to)
	}
}

func addSchema(o *huma.OpenAPI, s *huma.Schema, to map[string]bool) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if to[name] {
			return
		}
		to[name] = true
		s = o.Components.Schemas.SchemaFromRef(s.Ref)
	}
	addSchema(o, s.Items, to)
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
		addSchema(o, of, to)
	}
	for _, p := range s.Properties {
		addSchema(o, p, to)
	}
	for _, part := range s.OneOf {
		addSchema(o, part, to)
	}
}

// queryParameters returns the parameters that each route takes, by its pattern.
func queryParameters(o *huma.OpenAPI) map[string][]string {
	out := map[string][]string{}
	for _, item := range o.Paths {
		for method, op := range operationsByMethod(item) {
			names := []string{}
			for _, p := range op.Parameters {
				if p.In == "query" {
					names = append(names, p.Name)
				}
			}
			out[method+" "+op.Path] = names
		}
	}
	return out
}

// unknownParameter returns the name of a parameter that a route does not take, or "".
func unknownParameter(known []string, q url.Values) string {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}
