package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type keysAnswer struct {
	V    int          `json:"v"`
	Keys []retake.Key `json:"keys"`
}

type revokedAnswer struct {
	V   int        `json:"v"`
	Key retake.Key `json:"key"`
}

func newKeysCommand(f *commandLine) *cobra.Command {
	return newParentCommand(f, "keys", "Create, list and revoke API keys", newKeysListCommand(f), newKeysMakeCommand(f), newKeysRevokeCommand(f))
}

func newKeysListCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List API keys, including expired and revoked ones", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Keys(cmd.Context())
			if err != nil {
				return err
			}
			return f.printAnswer(keysAnswer{1, nonNil(all)}, func(l term.Style) string { return renderKeys(l, all) })
		},
	}
}

func renderKeys(l term.Style, all []retake.Key) string {
	var rows []tableRow
	for i := range all {
		k := &all[i]
		r := tableRow{sign: l.Green(l.Glyphs.Point), over: !k.Live(l.Now)}
		used, ends := "never", l.Glyphs.Dash
		if k.Used != nil {
			used = l.Ago(*k.Used)
		}
		switch {
		case k.Revoked != nil:
			ends = "revoked " + l.ShortTime(*k.Revoked)
		case k.Expires != nil && r.over:
			ends = "ended " + l.ShortTime(*k.Expires)
		case k.Expires != nil:
			ends = timeAheadText(l, *k.Expires)
		}
		if r.over {
			r.sign = l.Glyphs.Ring
		}
		r.cells = []string{shortID(l, string(k.ID)), termtext.Escape(string(k.Kind)), termtext.Escape(k.Name), l.Glyphs.More + termtext.Escape(k.Tail), l.ShortTime(k.Created), used, ends}
		if len(k.Workspaces) > 0 {
			r.notes = append(r.notes, "only for "+termtext.Escape(strings.Join(k.Workspaces, ", ")))
		}
		rows = append(rows, r)
	}
	return drawTable(l, []string{"id", "kind", "name", "key", "made", "used", "ends"}, 2, rows)
}

func newKeysMakeCommand(f *commandLine) *cobra.Command {
	var name string
	var expires time.Duration
	var workspaces []string
	cmd := &cobra.Command{
		Use: "make ROLE", Short: "Create an API key; its secret is shown once", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := parseKeyRequest(f, cmd, args[0], name, expires)
			if err != nil {
				return err
			}
			s, err := f.openServer()
			if err != nil {
				return err
			}
			for _, only := range workspaces {
				_, ws, err := f.workspaceFromArgs(cmd.Context(), []string{only})
				if err != nil {
					return err
				}
				req.Workspaces = append(req.Workspaces, string(ws.ID))
			}
			k, err := s.MakeKey(cmd.Context(), req)
			if err != nil {
				return err
			}
			err = f.printAnswer(keyAnswer{1, k}, func(l term.Style) string { return renderNewKey(l, k) })
			f.printHints("end it", "retake keys revoke "+shortID(f.stderrStyle(), string(k.Key.ID)))
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "note what the key is for, in `WORDS`")
	cmd.Flags().DurationVar(&expires, "expires", 0, "expire after `DURATION`, such as 720h (default: never)")
	cmd.Flags().StringSliceVar(&workspaces, "workspace", nil, "limit the key to the workspace `WS` (name or ID); repeatable")
	return cmd
}

// keyKindLines say what each kind of key is for.
func keyKindLines() string {
	var lines []string
	for _, k := range retake.KeyKinds {
		lines = append(lines, "    "+termtext.Pad(string(k), 12)+keyKindTexts[k])
	}
	return strings.Join(lines, "\n")
}

func parseKeyRequest(f *commandLine, cmd *cobra.Command, kind, name string, expires time.Duration) (retake.KeyRequest, error) {
	req := retake.KeyRequest{Kind: retake.KeyKind(kind), Name: name}
	if !slices.Contains(retake.KeyKinds, req.Kind) {
		return req, usageError(helpHint(cmd), "Unknown role: %s.", kind)
	}
	if expires < 0 {
		return req, usageError(helpHint(cmd), "--expires must be positive, not %s.", expires)
	}
	if expires > 0 {
		at := f.Clock.Now().Add(expires)
		req.Expires = &at
	}
	return req, nil
}

func renderNewKey(l term.Style, k retake.NewKey) string {
	what := "New API key with the role " + l.Bold(termtext.Escape(string(k.Key.Kind)))
	if k.Key.Name != "" {
		what += ", " + l.Glyphs.Quote(termtext.Escape(k.Key.Name))
	}
	ends := "does not expire"
	if k.Key.Expires != nil {
		ends = "expires " + timeAheadText(l, *k.Key.Expires)
	}
	only := ""
	if n := len(k.Key.Workspaces); n > 0 {
		only = "for " + term.CountNoun(int64(n), "workspace", "workspaces") + " only"
	}
	return fmt.Sprintf("%s %s. Its secret is shown only once:\n\n    %s\n\n  %s\n", l.Green(l.Glyphs.Yes), what, termtext.Escape(k.Secret),
		l.Dim(l.JoinFacts(keyKindTexts[k.Key.Kind], only, ends)))
}

func newKeysRevokeCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Revoke an API key immediately", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Keys(ctx)
			if err != nil {
				return err
			}
			k, err := findByID(all, func(k retake.Key) string { return string(k.ID) }, "key", args[0], "retake keys list")
			if err != nil {
				return err
			}
			said := fmt.Sprintf("%s key that ends with %s", k.Kind, k.Tail)
			question := "The " + said + ", called " + f.stderrStyle().Glyphs.Quote(joinLines(k.Name)) + ".\nWhoever uses it is out at once. Revoke it?"
			if err := f.confirm(ctx, "a revoked key stops working at once", question, "retake keys revoke "+args[0]); err != nil {
				return err
			}
			if k, err = s.RevokeKey(ctx, k.ID); err != nil {
				return err
			}
			return f.printAnswer(revokedAnswer{1, k}, func(l term.Style) string {
				return fmt.Sprintf("%s The %s is revoked.\n", l.Green(l.Glyphs.Yes), termtext.Escape(said))
			})
		},
	}
}
