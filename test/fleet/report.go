//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const (
	pageBegin = "<!-- fleet: begin -->"
	pageEnd   = "<!-- fleet: end -->"
)

// tellFigures prints the figures of a result, or puts them into a page.
func tellFigures(path, page string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	text := figures(&r)
	if page == "" {
		fmt.Print(text)
		return nil
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, ok1 := strings.Cut(string(old), pageBegin)
	_, tail, ok2 := strings.Cut(rest, pageEnd)
	if !ok1 || !ok2 {
		return fmt.Errorf("put figures into %s: it has no markers", page)
	}
	return os.WriteFile(page, []byte(head+pageBegin+"\n"+text+pageEnd+tail), 0o644)
}

func figures(r *result) string {
	var t strings.Builder
	fmt.Fprintf(&t, "Measured on %s cores (%s), %s, with %v servers, %v namespaces and %v workspaces, for %v.\n",
		r.Machine["cores"], r.Machine["processor"], r.Machine["go"], r.Options["servers"], r.Options["namespaces"], r.Options["workspaces"], r.Options["for"])
	if r.Load != nil {
		unitTable(&t, r.Load)
		timeTable(&t, r)
		scaleTable(&t, r.Load)
	}
	if len(r.Rows) > 0 {
		t.WriteString("\n| promise | tried | failed | control caught |\n|---|---|---|---|\n")
		for _, v := range r.Rows {
			fmt.Fprintf(&t, "| %s: %s | %d | %d | %d |\n", v.Guarantee, v.What, v.Tried, v.Failed, v.Caught)
		}
	}
	return t.String()
}
