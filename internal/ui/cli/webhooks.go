package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type webhooksAnswer struct {
	V        int              `json:"v"`
	Webhooks []retake.Webhook `json:"webhooks"`
}

type newWebhookAnswer struct {
	V int `json:"v"`
	retake.NewWebhook
}

type webhookAnswer struct {
	V       int            `json:"v"`
	Webhook retake.Webhook `json:"webhook"`
}

func newWebhooksCommand(f *commandLine) *cobra.Command {
	return newParentCommand(f, "webhooks", "Add, list and test webhooks",
		newWebhooksListCommand(f), newWebhooksAddCommand(f), newWebhooksRemoveCommand(f), newWebhooksRotateCommand(f),
		newWebhooksSwitchCommand(f, "enable", "Enable a webhook", true), newWebhooksSwitchCommand(f, "disable", "Disable a webhook", false),
		newDeliveriesCommand(f), newReplayCommand(f), newListenCommand(f))
}

func newWebhooksListCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List webhooks", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Webhooks(cmd.Context())
			if err != nil {
				return err
			}
			return f.printAnswer(webhooksAnswer{1, nonNil(all)}, func(l term.Style) string { return renderWebhooks(l, all) })
		},
	}
}

func renderWebhooks(l term.Style, all []retake.Webhook) string {
	if len(all) == 0 {
		return "No webhooks yet.\n\n  " + l.HintLine([]string{"add one", "retake help webhooks add", "watch", "retake webhooks listen"}) + "\n"
	}
	var rows []tableRow
	for i := range all {
		w := &all[i]
		r := tableRow{sign: l.Green(l.Glyphs.Point)}
		state := "since " + l.ShortTime(w.Created)
		if w.Disabled != nil {
			r.sign, r.over = l.Glyphs.Ring, true
			state = "off since " + l.ShortTime(*w.Disabled)
			r.notes = append(r.notes, "off because: "+l.EscapeText(w.Why))
		}
		if w.Rotated != nil && l.Now.Sub(*w.Rotated) < rotationDay {
			r.notes = append(r.notes, "the old secret signs too, and ends "+timeAheadText(l, w.Rotated.Add(rotationDay)))
		}
		told, rest := eventTypesText(w.Types)
		if rest != "" {
			r.notes = append([]string{rest}, r.notes...)
		}
		scheme := termtext.Escape(string(w.Scheme))
		if w.Scheme == retake.SchemeShared { // as everywhere
			scheme = ""
		}
		r.cells = []string{shortID(l, string(w.ID)), termtext.Escape(w.URL), told, scheme, state}
		rows = append(rows, r)
	}
	return drawTable(l, []string{"id", "messages go to", "told of", "sign", ""}, 1, rows)
}

// eventTypesText says what a webhook is told of: in the room of a column, and what does not fit
// there.
func eventTypesText(types []retake.EventType) (told, rest string) {
	var names []string
	for _, t := range types {
		names = append(names, termtext.Escape(string(t)))
	}
	switch len(names) {
	case 0:
		return "everything", ""
	case 1:
		return names[0], ""
	}
	return countText(int64(len(names)), "type", "types"), "told of " + strings.Join(names, ", ")
}

func newWebhooksAddCommand(f *commandLine) *cobra.Command {
	var types []string
	var scheme string
	cmd := &cobra.Command{
		Use: "add URL", Short: "Add a webhook; its secret is shown once", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := parseEventTypes(cmd, types)
			if err != nil {
				return err
			}
			s, err := f.openServer()
			if err != nil {
				return err
			}
			w, err := s.MakeWebhook(cmd.Context(), retake.WebhookRequest{URL: args[0], Types: wanted, Scheme: retake.Scheme(scheme)})
			if err != nil {
				return err
			}
			err = f.printAnswer(newWebhookAnswer{1, w}, func(l term.Style) string {
				return fmt.Sprintf("%s Events go to %s.\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(w.Webhook.URL))) + renderWebhookSecret(l, w)
			})
			f.printHints("how they arrive", "retake webhooks deliveries")
			return err
		},
	}
	cmd.Flags().StringSliceVar(&types, "type", nil, "only events of `TYPE`; repeatable")
	cmd.Flags().StringVar(&scheme, "scheme", string(retake.SchemeShared), "v1 signs with a shared secret, v1a with a pair of keys")
	return cmd
}

func eventTypeLines() string {
	var names []string
	for _, t := range retake.EventTypes {
		names = append(names, string(t))
	}
	return strings.Join(term.FlowWords(names, 76), "\n")
}

func parseEventTypes(cmd *cobra.Command, typed []string) ([]retake.EventType, error) {
	var out []retake.EventType
	for _, t := range typed {
		if !slices.Contains(retake.EventTypes, retake.EventType(t)) {
			return nil, usageError(helpHint(cmd), "Unknown event type: %s.", t)
		}
		out = append(out, retake.EventType(t))
	}
	return out, nil
}

// renderWebhookSecret shows what a receiver checks with.
func renderWebhookSecret(l term.Style, w retake.NewWebhook) string {
	what := "Deliveries are signed. The secret is shown only once:"
	if w.Webhook.Scheme == retake.SchemePair {
		what = "Each message is signed. The public key to check with:"
	}
	return fmt.Sprintf("\n  %s\n\n    %s\n", what, termtext.Escape(w.Secret))
}

// findWebhook finds the one that is meant.
func findWebhook(ctx context.Context, f *commandLine, typed string) (RemoteServer, retake.Webhook, error) {
	s, err := f.openServer()
	if err != nil {
		return nil, retake.Webhook{}, err
	}
	all, err := s.Webhooks(ctx)
	if err != nil {
		return nil, retake.Webhook{}, err
	}
	w, err := findByID(all, func(w retake.Webhook) string { return string(w.ID) }, "webhook", typed, "retake webhooks list")
	return s, w, err
}

func newWebhooksRemoveCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: "Delete a webhook", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, w, err := findWebhook(ctx, f, args[0])
			if err != nil {
				return err
			}
			if err := f.confirm(ctx, "what waits for a webhook is lost when it is removed", joinLines(w.URL)+"\nWhat waits for it is lost. Tell it no more?", "retake webhooks remove "+args[0]); err != nil {
				return err
			}
			if err := s.DropWebhook(ctx, w.ID); err != nil {
				return err
			}
			return f.printAnswer(webhookAnswer{1, w}, func(l term.Style) string {
				return fmt.Sprintf("%s %s is deleted.\n", l.Green(l.Glyphs.Yes), termtext.Escape(w.URL))
			})
		},
	}
}

func newWebhooksRotateCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "rotate ID", Short: "Create a new secret; the old one works for one more day", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := findWebhook(cmd.Context(), f, args[0])
			if err != nil {
				return err
			}
			made, err := s.RotateWebhook(cmd.Context(), w.ID)
			if err != nil {
				return err
			}
			return f.printAnswer(newWebhookAnswer{1, made}, func(l term.Style) string {
				return fmt.Sprintf("%s A new secret for %s\n  For a day its messages carry two signatures: the old one, and the new one.\n", l.Green(l.Glyphs.Yes), termtext.Escape(w.URL)) + renderWebhookSecret(l, made)
			})
		},
	}
}

func newWebhooksSwitchCommand(f *commandLine, use, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: use + " ID", Short: short, Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := findWebhook(cmd.Context(), f, args[0])
			if err != nil {
				return err
			}
			w.Disabled = nil
			if now := f.Clock.Now(); !on {
				w.Disabled = &now
			}
			if w, err = s.ChangeWebhook(cmd.Context(), w); err != nil {
				return err
			}
			return f.printAnswer(webhookAnswer{1, w}, func(l term.Style) string {
				text := " receives events again."
				if !on {
					text = " receives nothing until it is enabled.\n  Events in the meantime are not sent later."
				}
				return l.Green(l.Glyphs.Yes) + " " + termtext.Escape(w.URL) + text + "\n"
			})
		},
	}
}
