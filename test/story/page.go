package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

const (
	pageBegin = "<!-- story:begin -->\n"
	pageEnd   = "<!-- story:end -->"
)

// writePage puts the tables into their place in a document.
func writePage(file string, r result) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	text := string(b)
	from, to := strings.Index(text, pageBegin), strings.Index(text, pageEnd)
	if from < 0 || to < from {
		return fmt.Errorf("write page %s: no place for the tables", file)
	}
	if err := os.WriteFile(file, []byte(text[:from+len(pageBegin)]+tables(r)+text[to:]), 0o644); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func tables(r result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs tried, %d failed, %d skipped.\n\n", r.Tried, r.Failed, r.Skipped)
	b.WriteString("| | true | told | right | recall | precision |\n|---|---|---|---|---|---|\n")
	row := func(name string, t tally) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s |\n", name, t.True, t.Told, t.Right, percent(t.recall()), percent(t.precision()))
	}
	row("changed paths", r.Paths)
	row("changed paths, as the story groups them", r.Items)
	row("facts", r.Facts)
	row(fmt.Sprintf("facts of the %d runs held out", r.HeldOut.Runs), r.HeldOut.Facts)
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		row("facts: "+string(kind), r.Kinds[kind])
	}
	fmt.Fprintf(&b, "\nFlags: %d of %d lies, %d on honest turns. `good` is right in %d of %d runs, `bisect` in %d of %d searches, with at most %d runs.\n",
		r.Caught, r.Lies, r.Baseless, r.Good, r.Tried, r.Bisects, 2*r.Tried, r.MostRuns)
	caught, tried := 0, 0
	for _, c := range r.Controls {
		caught, tried = caught+c.Caught, tried+c.Tried
	}
	fmt.Fprintf(&b, "Planted mistakes that the measure caught: %d of %d.\n\n", caught, tried)
	b.WriteString("| run | what it is | turns | paths | facts | lies flagged | good | bisect |\n|---|---|---|---|---|---|---|---|\n")
	for _, a := range r.Runs {
		b.WriteString(pageRow(a))
	}
	b.WriteString(pageMisses(r))
	return b.String()
}

func pageRow(a account) string {
	if a.Skipped != "" {
		return fmt.Sprintf("| %s | %s | %d | skipped: %s | | | | |\n", a.Name, a.Title, a.Turns, a.Skipped)
	}
	good := "right"
	if !a.Good {
		good = "wrong"
	}
	var runs []string
	for _, s := range a.Bisects {
		word := fmt.Sprintf("%d runs", s.Runs)
		if !s.OK {
			word = "wrong"
		}
		runs = append(runs, word)
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %d of %d | %s | %s |\n",
		a.Name, a.Title, a.Turns, a.Paths, a.Facts, a.Caught, a.Lies, good, strings.Join(runs, ", "))
}

// pageMisses names everything that was not told as it is.
func pageMisses(r result) string {
	var b strings.Builder
	for _, a := range r.Runs {
		if a.Stopped != "" {
			fmt.Fprintf(&b, "- %s stopped: %s\n", a.Name, a.Stopped)
		}
		for _, m := range a.Misses {
			fmt.Fprintf(&b, "- %s, turn %d, %s: %s\n", a.Name, m.Turn, m.Area, m.Text)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nMissed:\n\n" + b.String()
}
