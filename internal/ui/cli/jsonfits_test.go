package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/ui/cli"
)

// fitsPage compares what a command printed with the page, in every test that asks for
// JSON: the list of answers is written by hand, and this is what holds it.
func fitsPage(t *testing.T, args []string, out string) {
	t.Helper()
	before, _, _ := strings.Cut(strings.Join(args, "\n")+"\n", "\n--\n")
	words := strings.Split(strings.TrimSuffix(before, "\n"), "\n")
	if !slices.Contains(words, "--json") {
		return
	}
	cmd, _, err := commands(t).Find(words)
	if err != nil {
		return // there is no such command, which other tests look at
	}
	name := commandName(cmd)
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var got map[string]any
		if err := d.Decode(&got); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s printed no JSON object: %v\n%s", cmd.CommandPath(), err, out)
		}
		if why := fitsOne(name, got); why != "" {
			t.Errorf("%s printed what docs/use/json.md does not have: %s\n%s", cmd.CommandPath(), why, out)
		}
	}
}

// fitsOne says why a value is none of the answers of a command.
func fitsOne(name string, got map[string]any) string {
	if got["error"] != nil {
		return fits(got, reflect.TypeOf(cli.JSONError))
	}
	why := "it should print nothing"
	for _, a := range cli.JSONAnswers[name] {
		if why = fits(got, reflect.TypeOf(a.Value)); why == "" {
			return ""
		}
	}
	return why
}

// fits says what a value has that its type has not, or the other way round.
func fits(got any, t reflect.Type) string {
	switch value := got.(type) {
	case map[string]any:
		if t = element(t); t.Kind() == reflect.Struct {
			return fitsObject(value, t)
		} else if t.Kind() == reflect.Map {
			for _, v := range value {
				if why := fits(v, t.Elem()); why != "" {
					return why
				}
			}
		}
	case []any:
		for _, v := range value {
			if why := fits(v, element(t).Elem()); why != "" {
				return why
			}
		}
	}
	return ""
}

func fitsObject(got map[string]any, t reflect.Type) string {
	s, _ := shapeOf(t)
	known := map[string]bool{}
	for _, raw := range s.raws {
		known[raw] = true
	}
	for _, f := range s.fields {
		known[f.key] = true
		value, has := got[f.key]
		if !has && !f.optional {
			return fmt.Sprintf("%s is not there, of %s", f.key, t)
		}
		if why := fits(value, f.typ); why != "" {
			return f.key + ": " + why
		}
	}
	for key := range got {
		if !known[key] {
			return fmt.Sprintf("%s is no field of %s", key, t)
		}
	}
	return ""
}
