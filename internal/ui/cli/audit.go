package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	auditShown = 30
	auditPage  = 1000
	newestHead = "newest" // --head without a value
)

type auditAnswer struct {
	V       int                 `json:"v"`
	Entries []retake.AuditEntry `json:"entries"`
}

type auditProofAnswer struct {
	V int `json:"v"`
	retake.AuditProof
}

// auditHeadAnswer is the newest entry of the log, as far as it identifies what is before it.
type auditHeadAnswer struct {
	V    int       `json:"v"`
	Seq  int64     `json:"seq"`
	Hash string    `json:"hash"`
	Time time.Time `json:"time"`
}

func newAuditCommand(f *commandLine) *cobra.Command {
	var check, lines bool
	var limit int
	var after int64
	var head string
	cmd := &cobra.Command{
		Use: "audit", Short: "Show the server's audit log", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 { // after --head, whose value may be left out
				if head != newestHead {
					return usageError(helpHint(cmd), "Unknown argument: %s.", args[0])
				}
				head = args[0]
			}
			if limit <= 0 {
				return usageError(helpHint(cmd), "The limit is a number above 0.")
			}
			s, err := f.openServer()
			if err != nil {
				return err
			}
			switch {
			case lines:
				return exportAudit(cmd.Context(), f.Out, s, after)
			case head == newestHead && !check:
				return showAuditHead(cmd.Context(), f, s)
			case check || head != "":
				return verifyAudit(cmd.Context(), f, s, strings.TrimPrefix(head, newestHead))
			}
			all, err := readAuditEntries(cmd.Context(), s, limit)
			if err != nil {
				return err
			}
			return f.printAnswer(auditAnswer{1, nonNil(all)}, func(l term.Style) string { return renderAudit(l, all) })
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "verify the integrity of the whole log")
	cmd.Flags().StringVar(&head, "head", "", "print the hash of the newest entry; with `HASH`: verify the log, and that it still has the entry with this hash")
	cmd.Flags().Lookup("head").NoOptDefVal = newestHead
	cmd.Flags().BoolVar(&lines, "lines", false, "print all entries, oldest first, one JSON object per line")
	cmd.Flags().Int64Var(&after, "after", 0, "with --lines: continue after entry `N`")
	cmd.Flags().IntVar(&limit, "limit", auditShown, "show the newest `N` entries")
	return cmd
}

// showAuditHead prints the hash of the newest entry, to keep it elsewhere.
func showAuditHead(ctx context.Context, f *commandLine, s retake.Auditor) error {
	newest, err := s.Audit(ctx, retake.AuditQuery{Limit: 1})
	if err != nil {
		return err
	}
	if len(newest) == 0 {
		return &retake.Error{Kind: retake.NotFound, What: "the audit log is empty", Safe: "Nothing was changed by looking."}
	}
	a := auditHeadAnswer{1, newest[0].Seq, newest[0].Hash, newest[0].Time}
	return f.printAnswer(a, func(l term.Style) string { return renderAuditHead(l, a) })
}

func renderAuditHead(l term.Style, a auditHeadAnswer) string {
	var b strings.Builder
	for _, line := range [][2]string{{"entry", termtext.Count(a.Seq)}, {"time", a.Time.UTC().Format(time.RFC3339)}, {"hash", termtext.Escape(a.Hash)}} {
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad(line[0], 8)), line[1])
	}
	fmt.Fprintf(&b, "\nKeep the hash where the server can't change it. Verify later that the log still has this entry:\n  retake audit --check --head %s\n", termtext.Escape(a.Hash))
	return b.String()
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

// exportAudit writes entries as they come: a log is larger than memory may be.
func exportAudit(ctx context.Context, w io.Writer, s retake.Auditor, after int64) error {
	out := json.NewEncoder(w)
	for {
		got, err := s.Audit(ctx, retake.AuditQuery{OldestFirst: true, After: after, Limit: auditPage})
		if err != nil {
			return err
		}
		for i := range got {
			if err := out.Encode(got[i]); err != nil {
				return fmt.Errorf("write the audit log: %w", err)
			}
			after = got[i].Seq
		}
		if len(got) < auditPage {
			return nil
		}
	}
}

// checkHead checks that an entry of the log has a hash; "" is not checked.
func checkHead(ctx context.Context, s retake.Auditor, hash string) error {
	q := retake.AuditQuery{Limit: auditPage}
	for hash != "" {
		got, err := s.Audit(ctx, q)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(got, func(e retake.AuditEntry) bool { return e.Hash == hash }) {
			return nil
		}
		if len(got) < q.Limit {
			return &retake.Error{
				Kind: retake.Damaged, What: "the audit log has no entry with the hash " + hash, Safe: "Nothing was changed by looking.",
				Hint: "it was rolled back or replaced since the message with this hash was sent",
			}
		}
		q.Before = got[len(got)-1].Seq
	}
	return nil
}

// verifyAudit verifies the log, and that it has the entry with the hash head if one is named.
func verifyAudit(ctx context.Context, f *commandLine, s retake.Auditor, head string) error {
	p, err := s.CheckAudit(ctx)
	if err != nil {
		return err
	}
	if err := checkHead(ctx, s, head); err != nil {
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
