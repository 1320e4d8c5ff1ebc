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

const (
	keyScheme = "key"
	keyText   = "A key of a server, rtk_ and its kind at its beginning. The daemon, on its socket, takes none. x-power of an operation says what the key must be able to."
)

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
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{keyScheme: {Type: "http", Scheme: "bearer", Description: keyText}}
	c.Security = []map[string][]string{{}, {keyScheme: {}}}
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[problem]())
	return humago.New(mux, c)
}

// twins are fields of the vocabulary with a second one that holds the bytes.
var twins = map[string][]string{
	"Change": {"path"}, "Entry": {"name"}, "Estimate": {"root", "heaviest"}, "Gap": {"path"},
	"Workspace": {"root", "name"}, "WorkspaceState": {"root", "name"},
	"Failure": {"path"}, "Holder": {"command", "path"}, "Keep": {"path", "side"}, "Step": {"path", "unit"},
}

// listTwins are lists of which one element may need its bytes; then all have them.
var listTwins = map[string][]string{"Obstacle": {"paths"}, "Plan": {"paths"}, "Return": {"paths"}}

// filledTypes have lists that are never null: their routes see to it.
var filledTypes = []string{"About", "AboutKey", "Backup", "ForkResult", "Plan", "RestoreResult", "RowsDiff", "Spoken", "TableRows"}

// notes say what a type alone does not.
var notes = map[string]map[string]string{
	"About":          {"stamp": "When the executable was made; tells builds of one version apart. Nanoseconds since 1970.", "home": "The directory whose store it looks after.", "namespace": "Of the key; absent on a machine of one's own.", "key": "What let the asker in.", "powers": "What the asker may do, by the x-power of routes. Absent: everything."},
	"AboutKey":       {"workspaces": "Ids that it is good for; none: all."},
	"Backup":         {"set": "False: nothing is set; host tells what the host says of itself.", "public": "What the remote must let in, for writing.", "host": "The only one that is spoken to.", "pushed": "The newest that is there for sure: the branch was read back.", "behind": "Checkpoints that are not there.", "left": "What of the newest is left out, by reason."},
	"Checkpoint":     {"number": "For people; never given twice.", "new_bytes": "Of files that are new or have other bytes.", "trigger": "Triggers are added, never changed.", "content": "Two checkpoints are equal when these are."},
	"Comparison":     {"from": "Absent before the first.", "to": "Absent when it is now.", "gaps": "Of now.", "next": "Asks for the part behind this one. Absent: there is none."},
	"Coverage":       {"grade": "complete or partial."},
	"Entry":          {"mode": "Permission bits with setuid, setgid and sticky.", "mod_time": "Nanoseconds since 1970.", "object": "The address of the bytes, of the link's text, or of the directory.", "kind": "Kinds are added, never changed."},
	"ForkResult":     {"checkpoint": "The first of the fork; its parent is the checkpoint it was forked from.", "cloned": "Files that share their blocks.", "copied": "Files that were written."},
	"Gap":            {"reason": "Reasons are added, never changed."},
	"Interruption":   {"target": "The number of the checkpoint gone to.", "safety": "The number of the checkpoint that has everything from before."},
	"Keep":           {"path": "A directory ends in / and stands for everything below it.", "why": "Reasons are added, never changed.", "side": "Where the other version is put, beside it.", "then": "That version."},
	"Merge":          {"base": "The text that both began with.", "want": "The one that is brought in.", "digest": "Of the text that is written.", "theirs": "Places that change as planned.", "yours": "Places that stay as they are now.", "first": "The first line of yours."},
	"Obstacle":       {"class": "The word for accept. Classes are added, never changed.", "paths": "Never cut."},
	"Plan":           {"digest": "Of everything that would be done, and of what it would be done to.", "course": "Courses are added, never changed.", "fork": "The one to adopt.", "times": "Directories whose time alone is put back.", "paths": "Absent: everything.", "obstacles": "What must be accepted before it is done.", "effects": "What was done outside; no restore can undo it.", "bytes": "To be written.", "files": "That are there now.", "lost": "The directory of the workspace was deleted or replaced; it is created again or taken over.", "git": "Repositories that stay where they are, though the files go elsewhere.", "facts": "What the steps mean, from now to then. Absent: not known.", "working": "Agents in the middle of a turn here, but for the one that asks."},
	"GitHead":        {"branch": "Absent: no branch is checked out.", "commit": "The first seven digits. Absent: no commit yet, or not readable."},
	"GitLeft":        {"path": "Of the repository.", "moment": "In which it was there; 0: it is not known which."},
	"LostRoot":       {"there": "Another directory is in its place, and not empty."},
	"RestoreResult":  {"checkpoint": "The state now.", "safety": "The state before.", "failed": "Paths that were left; with one of them it is done in part.", "holders": "Processes that still hold what was replaced.", "git": "Repositories that stay where they were.", "read_back": "Every written file was read again and is as the plan wanted it. False: this is not known."},
	"Return":         {"target": "As in the plan.", "before": "The checkpoint that holds all there was.", "failed": "Paths that were left, because they moved on."},
	"RowChange":      {"before": "In the order of the columns; absent of an added row.", "after": "Absent of a deleted row.", "cells": "Of an edited row: the columns that differ, from 0 on."},
	"RowsDiff":       {"from": "Absent before the first.", "to": "Absent when it is now.", "tables": "Those that differ or could not be compared, or the one that was asked for.", "same": "Tables that are equal.", "why": "Nothing could be compared, and why."},
	"Safety":         {"there": "Nothing changed since it was taken."},
	"Spoken":         {"lines": "Oldest first; likely secrets are masked."},
	"SpokenLine":     {"who": "you, agent, tool or note.", "tool": "Which tool an agent calls, or which one answers."},
	"SaveResult":     {"created": "Files were new.", "recorded": "A checkpoint was added; without one it is the latest.", "partial": "What was sealed first, when the budget ran out."},
	"Step":           {"what": "added is brought back.", "now": "What is there; absent: nothing.", "then": "What it becomes; absent: nothing.", "unit": "The database it belongs to; its files are replaced as one.", "means": "What it does to the content, such as rows of a table. Absent: not known, or bytes only."},
	"SweepReport":    {"took": "Nanoseconds.", "peak": "Most extra bytes while it ran."},
	"CellValue":      {"kind": "none, null, integer, real, text or blob; none: the column is not on this side.", "text": "Short; likely secrets are masked. Of a blob: how many bytes.", "more": "Characters that were left out."},
	"TableColumn":    {"key": "Rows are paired by it.", "what": "It was added or deleted; absent: it is on both sides."},
	"TableRows":      {"what": "The table was added, deleted or edited; absent: it is equal.", "columns": "Of the table that was asked for.", "rows": "Of the table that was asked for: deleted, edited, then added ones, each by key.", "equal": "Rows that do not differ.", "unlisted": "More columns, which are compared only.", "computed": "Columns that the database makes of others; they are not compared.", "why": "Not all of it could be compared, and why; the counts are of what was."},
	"Timeline":       {"total": "Of the whole timeline.", "checkpoints": "Newest first."},
	"Workspace":      {"origin": "Of a fork: what it forked from.", "interrupted": "A restore that was interrupted; told by locate and status."},
	"WorkspaceState": {"gone": "Its directory is not there."},
}

func embellish(o *huma.OpenAPI) {
	schemas := o.Components.Schemas.Map()
	each(twins, func(name, f string) {
		schemas[name].Properties[f+"_raw"] = &huma.Schema{
			Type: huma.TypeString, ContentEncoding: "base64", Description: "The bytes of " + f + ", when they are not UTF-8.",
		}
	})
	each(listTwins, func(name, f string) {
		schemas[name].Properties[f+"_raw"] = &huma.Schema{
			Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, ContentEncoding: "base64"},
			Description: "The bytes of all " + f + ", when one of them is not UTF-8.",
		}
	})
	for _, name := range filledTypes {
		for _, p := range schemas[name].Properties {
			p.Nullable = p.Nullable && p.Type != huma.TypeArray
		}
	}
	target := schemas["Plan"].Properties["target"]
	schemas["Plan"].Properties["target"] = &huma.Schema{
		Description: "The checkpoint gone to; for undo and redo the item.",
		OneOf:       []*huma.Schema{{Ref: target.Ref}, {Type: "null"}},
	}
	for name, fields := range notes {
		for f, text := range fields {
			schemas[name].Properties[f].Description = text
		}
	}
}

func each(all map[string][]string, f func(name, field string)) {
	for name, fields := range all {
		for _, field := range fields {
			f(name, field)
		}
	}
}

// op begins the description of a route.
func op(method, path, id, summary string) huma.Operation {
	o := huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, MaxBodyBytes: maxBody}
	if p, ok := needs[id]; ok {
		o.Extensions = map[string]any{powerKey: string(p)}
	}
	return o
}

// operations are those of one path, by method.
func operations(item *huma.PathItem) map[string]*huma.Operation {
	out := map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
	}
	maps.DeleteFunc(out, func(_ string, o *huma.Operation) bool { return o == nil })
	return out
}

const maxBody = 1 << 20
