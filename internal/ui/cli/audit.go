package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	auditShown = 30
	auditPage  = 1000
)

type auditAnswer struct {
	V       int                 `json:"v"`
	Entries []retake.AuditEntry `json:"entries"`
}

type auditProofAnswer struct {
	V int `json:"v"`
	retake.AuditProof
}

func newAuditCommand(f *commandLine) *cobra.Command {
	var check bool
	var limit int
	cmd := &cobra.Command{
		Use: "audit", Short: "Show the server's audit log", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit <= 0 {
				return usageError(helpHint(cmd), "The limit is a number above 0.")
			}
			s, err := f.openServer()
			if err != nil {
				return err
			}
			if check {
				return verifyAudit(cmd.Context(), f, s)
			}
			all, err := readAuditEntries(cmd.Context(), s, limit)
			if err != nil {
				return err
			}
			return f.printAnswer(auditAnswer{1, nonNil(all)}, func(l term.Style) string { return renderAudit(l, all) })
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "verify the integrity of the whole log")
	cmd.Flags().IntVar(&limit, "limit", auditShown, "show the newest `N` entries")
	return cmd
}

func readAuditEntries(ctx context.Context, s retake.Auditor, limit int) ([]retake.AuditEntry, error) {
	var out []retake.AuditEntry
	q := retake.AuditQuery{}
	for len(out) < limit {
		q.Limit = min(limit-len(out), auditPage)
		got, err := s.Audit(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
		if len(got) < q.Limit {
			break
		}
		q.Before = got[len(got)-1].Seq
	}
	return out, nil
}

func renderAudit(l term.Style, all []retake.AuditEntry) string {
	if len(all) == 0 {
		return "Nothing was done yet.\n"
	}
	var rows []tableRow
	for i := range all {
		e := &all[i]
		rows = append(rows, tableRow{cells: []string{
			termtext.PadLeft(termtext.Count(e.Seq), len(termtext.Count(all[0].Seq))), l.ShortTime(e.Time), actorText(e.Actor), termtext.Escape(e.Verb), subjectText(l, e.Subject),
		}})
	}
	return drawTable(l, []string{"", "when", "who", "did", "to what"}, 4, rows)
}

func actorText(a retake.Actor) string {
	name := termtext.Escape(a.Name)
	switch {
	case name == "" && a.Kind == "":
		return "the server"
	case name == "":
		return termtext.Escape(string(a.Kind))
	case a.Kind == "" || strings.Contains(a.Name, string(a.Kind)):
		return name
	}
	return name + ", " + termtext.Escape(string(a.Kind))
}

func verifyAudit(ctx context.Context, f *commandLine, s retake.Auditor) error {
	p, err := s.CheckAudit(ctx)
	if err != nil {
		return err
	}
	if err := f.printAnswer(auditProofAnswer{1, p}, func(l term.Style) string { return renderAuditProof(l, p) }); err != nil || p.Broken == 0 {
		return err
	}
	return reportedError{&retake.Error{
		Kind: retake.Damaged, What: fmt.Sprintf("the audit log was changed at entry %d, or is damaged there", p.Broken), Safe: "Nothing was changed by looking.",
		Hint: "read the entries before it, which are intact: retake audit --json",
	}}
}

func renderAuditProof(l term.Style, p retake.AuditProof) string {
	var b strings.Builder
	tried := term.CountNoun(p.Entries, "entry", "entries") + " read"
	if p.Anchors > 0 {
		tried = term.CountNoun(p.Entries, "entry", "entries") + " and " + term.CountNoun(p.Anchors, "anchor", "anchors") + " read"
	}
	if p.Broken == 0 {
		fmt.Fprintf(&b, "%s %s, none was changed.\n", l.Green(l.Glyphs.Yes), tried)
	} else {
		fmt.Fprintf(&b, "%s %s; entry %s does not fit.\n", l.Red(l.Glyphs.No), tried, termtext.Count(p.Broken))
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad("why", 8)), l.EscapeText(p.Why))
	}
	if p.Outside == 0 {
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad("outside", 8)), "no anchor is kept outside of the database yet")
	} else {
		fmt.Fprintf(&b, "  %s%s outside of the database compared\n", l.Dim(termtext.Pad("outside", 8)), term.CountNoun(p.Outside, "anchor", "anchors"))
	}
	fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad("head", 8)), termtext.Escape(p.Head))
	if p.Public != "" {
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad("signed", 8)), termtext.Escape(p.Public))
	}
	return b.String()
}
