package httpapi

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// describeFiles hold the texts of the description that are not in struct tags: of schemas,
// operations and tags. They are parsed only when the description is generated, so that they do
// not slow down the start of a process.
//
//go:embed describe/*.txt
var describeFiles embed.FS

// schemaFiles have lines "Schema: text", each followed by lines "  property: text".
var schemaFiles = []string{"history", "changes", "agents", "restore", "storage", "server"}

// addDescriptions adds the texts, tags, servers, error responses and examples.
func addDescriptions(o *huma.OpenAPI) error {
	for _, name := range schemaFiles {
		if err := describeSchemas(o.Components.Schemas.Map(), describeText(name)); err != nil {
			return fmt.Errorf("describe/%s.txt: %w", name, err)
		}
	}
	for line := range strings.Lines(describeText("tags")) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		o.Tags = append(o.Tags, &huma.Tag{Name: name, Description: text})
	}
	o.Servers = []*huma.Server{
		{URL: "https://{host}", Description: "A server. It needs an API key.", Variables: map[string]*huma.ServerVariable{
			"host": {Default: "retake.example.com", Description: "The host name and port of your server."},
		}},
		{URL: "http://retake", Description: "The daemon, on its Unix socket. `retake daemon status` shows the path. The host name is ignored."},
	}
	if err := describeOperations(o, describeText("operations")); err != nil {
		return fmt.Errorf("describe/operations.txt: %w", err)
	}
	addErrors(o)
	describeHeaders(o)
	return addExamples(o)
}

// describeHeaders gives the headers of responses the texts that the router gives only their schemas.
func describeHeaders(o *huma.OpenAPI) {
	for _, item := range o.Paths {
		for _, op := range operationsByMethod(item) {
			for _, r := range op.Responses {
				for _, h := range r.Headers {
					h.Description = cmp.Or(h.Description, h.Schema.Description)
				}
			}
		}
	}
}

func describeText(name string) string {
	text, err := describeFiles.ReadFile("describe/" + name + ".txt")
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(text)
}

// describeSchemas adds the texts of one file to the schemas and their properties.
func describeSchemas(schemas map[string]*huma.Schema, text string) error {
	var of *huma.Schema
	for line := range strings.Lines(text) {
		name, says, ok := strings.Cut(strings.TrimSpace(line), ": ")
		at := of
		if !strings.HasPrefix(line, " ") {
			of = schemas[name]
			at = of
		} else if of != nil {
			at = of.Properties[name]
		}
		if !ok || at == nil {
			return fmt.Errorf("there is no schema or property for %q", line)
		}
		at.Description = says
	}
	return nil
}

// describeOperations reads sections of "[id] tag" and a description.
func describeOperations(o *huma.OpenAPI, text string) error {
	byID := map[string]*huma.Operation{}
	for _, item := range o.Paths {
		for _, op := range operationsByMethod(item) {
			byID[op.OperationID] = op
		}
	}
	for _, section := range strings.Split("\n"+text, "\n[")[1:] {
		head, says, _ := strings.Cut(section, "\n")
		id, tag, ok := strings.Cut(head, "] ")
		op := byID[id]
		if !ok || op == nil {
			return fmt.Errorf("there is no operation for [%s", head)
		}
		op.Tags, op.Description = []string{tag}, strings.TrimSpace(says)
	}
	return nil
}
