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

func (f *face) keysCommand() *cobra.Command {
	return f.group("keys", "Create, list and revoke API keys", f.keysList(), f.keysMake(), f.keysRevoke())
}

func (f *face) keysList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List API keys, including expired and revoked ones", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.server()
			if err != nil {
				return err
			}
			all, err := s.Keys(cmd.Context())
			if err != nil {
				return err
			}
			return f.emit(keysAnswer{1, given(all)}, func(l term.Look) string { return renderKeys(l, all) })
		},
	}
}

func renderKeys(l term.Look, all []retake.Key) string {
	var rows []tableRow
	for i := range all {
		k := &all[i]
		r := tableRow{sign: l.Green(l.Glyphs.Point), quiet: !k.Live(l.Now)}
		used, ends := "never", l.Glyphs.Dash
		if k.Used != nil {
			used = l.Ago(*k.Used)
		}
		switch {
		case k.Revoked != nil:
			ends = "revoked " + l.Clock(*k.Revoked)
		case k.Expires != nil && r.quiet:
			ends = "ended " + l.Clock(*k.Expires)
		case k.Expires != nil:
			ends = soonText(l, *k.Expires)
		}
		if r.quiet {
			r.sign = l.Glyphs.Ring
		}
		r.cells = []string{shortID(l, string(k.ID)), termtext.Escape(string(k.Kind)), termtext.Escape(k.Name), l.Glyphs.More + termtext.Escape(k.Tail), l.Clock(k.Created), used, ends}
		if len(k.Workspaces) > 0 {
			r.notes = append(r.notes, "only for "+termtext.Escape(strings.Join(k.Workspaces, ", ")))
		}
		rows = append(rows, r)
	}
	return drawTable(l, []string{"id", "kind", "name", "key", "made", "used", "ends"}, 2, rows)
}

func (f *face) keysMake() *cobra.Command {
	var name string
	var expires time.Duration
	var workspaces []string
	cmd := &cobra.Command{
		Use: "make ROLE", Short: "Create an API key; its secret is shown once", Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := f.keyWanted(cmd, args[0], name, expires)
			if err != nil {
				return err
			}
			s, err := f.server()
			if err != nil {
				return err
			}
			for _, only := range workspaces {
				_, ws, err := f.chosen(cmd.Context(), []string{only})
				if err != nil {
					return err
				}
				req.Workspaces = append(req.Workspaces, string(ws.ID))
			}
			k, err := s.MakeKey(cmd.Context(), req)
			if err != nil {
				return err
			}
			err = f.emit(keyAnswer{1, k}, func(l term.Look) string { return renderNewKey(l, k) })
			f.hint("end it", "retake keys revoke "+shortID(f.talk(), string(k.Key.ID)))
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "note what the key is for, in `WORDS`")
	cmd.Flags().DurationVar(&expires, "expires", 0, "expire after `DURATION`, such as 720h (default: never)")
	cmd.Flags().StringSliceVar(&workspaces, "workspace", nil, "limit the key to the workspace `WS` (name or ID); repeatable")
	return cmd
}

// kindLines say what each kind of key is for.
func kindLines() string {
	var lines []string
	for _, k := range retake.KeyKinds {
		lines = append(lines, "    "+termtext.Pad(string(k), 12)+kindWords[k])
	}
	return strings.Join(lines, "\n")
}

func (f *face) keyWanted(cmd *cobra.Command, kind, name string, expires time.Duration) (retake.KeyRequest, error) {
	req := retake.KeyRequest{Kind: retake.KeyKind(kind), Name: name}
	if !slices.Contains(retake.KeyKinds, req.Kind) {
		return req, usage(helpHint(cmd), "Unknown role: %s.", kind)
	}
	if expires < 0 {
		return req, usage(helpHint(cmd), "--expires must be positive, not %s.", expires)
	}
	if expires > 0 {
		at := f.Clock.Now().Add(expires)
		req.Expires = &at
	}
	return req, nil
}

func renderNewKey(l term.Look, k retake.NewKey) string {
	what := "New API key with the role " + l.Bold(termtext.Escape(string(k.Key.Kind)))
	if k.Key.Name != "" {
		what += ", " + l.Glyphs.Quote(termtext.Escape(k.Key.Name))
	}
	ends := "does not expire"
	if k.Key.Expires != nil {
		ends = "expires " + soonText(l, *k.Key.Expires)
	}
	only := ""
	if n := len(k.Key.Workspaces); n > 0 {
		only = "for " + term.Number(int64(n), "workspace", "workspaces") + " only"
	}
	return fmt.Sprintf("%s %s. Its secret is shown only once:\n\n    %s\n\n  %s\n", l.Green(l.Glyphs.Yes), what, termtext.Escape(k.Secret),
		l.Dim(l.Facts(kindWords[k.Key.Kind], only, ends)))
}

func (f *face) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Revoke an API key immediately", Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := f.server()
			if err != nil {
				return err
			}
			all, err := s.Keys(ctx)
			if err != nil {
				return err
			}
			k, err := pick(all, func(k retake.Key) string { return string(k.ID) }, "key", args[0], "retake keys list")
			if err != nil {
				return err
			}
			said := fmt.Sprintf("%s key that ends with %s", k.Kind, k.Tail)
			question := "The " + said + ", called " + f.talk().Glyphs.Quote(oneLine(k.Name)) + ".\nWhoever uses it is out at once. Revoke it?"
			if err := f.sure(ctx, "a revoked key stops working at once", question, "retake keys revoke "+args[0]); err != nil {
				return err
			}
			if k, err = s.RevokeKey(ctx, k.ID); err != nil {
				return err
			}
			return f.emit(revokedAnswer{1, k}, func(l term.Look) string {
				return fmt.Sprintf("%s The %s is revoked.\n", l.Green(l.Glyphs.Yes), termtext.Escape(said))
			})
		},
	}
}
