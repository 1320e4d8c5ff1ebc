package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
}

// scene is how one scenario went.
type scene struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Checks  []check `json:"checks"`
	Stopped string  `json:"stopped,omitempty"` // why it did not come to its end
	Seconds float64 `json:"seconds"`
}

func (s scene) failed() bool {
	for _, c := range s.Checks {
		if !c.OK {
			return true
		}
	}
	return s.Stopped != ""
}

// result is how one agent did.
type result struct {
	Agent     string  `json:"agent"`
	Title     string  `json:"title"`
	Package   string  `json:"package"`
	Wanted    string  `json:"wanted"`
	Version   string  `json:"version,omitempty"`
	Missing   string  `json:"missing,omitempty"` // why it could not run
	Scenarios []scene `json:"scenarios"`
}

func (r result) failed() bool {
	for _, s := range r.Scenarios {
		if s.failed() {
			return true
		}
	}
	return false
}

func (r result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Title, r.Version)
	if r.Missing != "" {
		fmt.Fprintf(&b, "  %s\n", r.Missing)
	}
	for _, s := range r.Scenarios {
		fmt.Fprintf(&b, "  %s: %s (%.1f s)\n", s.ID, s.What, s.Seconds)
		for _, c := range s.Checks {
			sign := "ok  "
			if !c.OK {
				sign = "FAIL"
			}
			fmt.Fprintf(&b, "    %s  %s\n", sign, c.What)
		}
		if s.Stopped != "" {
			fmt.Fprintf(&b, "    STOP  %s\n", s.Stopped)
		}
	}
	return b.String()
}

func report(o options, all []result) error {
	if o.out != "" {
		b, err := json.MarshalIndent(map[string]any{"results": all}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.out, append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.doc == "" {
		return nil
	}
	b, err := os.ReadFile(o.doc)
	if err != nil {
		return err
	}
	const open, end = "<!-- agents -->\n", "<!-- /agents -->"
	text := string(b)
	from, to := strings.Index(text, open), strings.Index(text, end)
	if from < 0 || to < from {
		return fmt.Errorf("write %s: no place for the table", o.doc)
	}
	return os.WriteFile(o.doc, []byte(text[:from+len(open)]+table(all)+text[to:]), 0o644)
}

// table is the section of the document: one row an agent, and what did not hold.
func table(all []result) string {
	var b, notes strings.Builder
	b.WriteString("| agent | version | three turns, the last taken back | killed in task 3 of 5 |\n|---|---|---|---|\n")
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Title, r.Version, r.cell(0), r.cell(1))
		if r.Missing != "" {
			fmt.Fprintf(&notes, "- %s did not run: %s\n", r.Title, r.Missing)
		}
		for _, s := range r.Scenarios {
			for _, c := range s.Checks {
				if !c.OK {
					fmt.Fprintf(&notes, "- %s, %s: not so: %s\n", r.Title, s.ID, c.What)
				}
			}
			if s.Stopped != "" {
				fmt.Fprintf(&notes, "- %s, %s: %s\n", r.Title, s.ID, s.Stopped)
			}
		}
	}
	if notes.Len() > 0 {
		b.WriteString("\n" + notes.String())
	}
	return b.String()
}

func (r result) cell(i int) string {
	if i >= len(r.Scenarios) {
		return "did not run"
	}
	s := r.Scenarios[i]
	held := 0
	for _, c := range s.Checks {
		if c.OK {
			held++
		}
	}
	word := fmt.Sprintf("%d of %d checks hold", held, len(s.Checks))
	if s.Stopped != "" {
		word += ", then it stopped"
	}
	return word
}
