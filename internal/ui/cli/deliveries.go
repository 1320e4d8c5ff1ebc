package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	rotationDay     = 24 * time.Hour // how long an old secret signs beside the new one
	deliveriesShown = 20
	deliveriesRead  = 1000 // among which a short id is looked for
	messagePrefix   = "msg_"
)

type deliveriesAnswer struct {
	V          int               `json:"v"`
	Deliveries []retake.Delivery `json:"deliveries"`
}

type deliveryAnswer struct {
	V        int             `json:"v"`
	Delivery retake.Delivery `json:"delivery"`
}

func newDeliveriesCommand(f *commandLine) *cobra.Command {
	var failed bool
	var limit int
	cmd := &cobra.Command{
		Use: "deliveries [ID]", Short: "List webhook deliveries, or show one with its body", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit <= 0 || limit > deliveriesRead {
				return usageError(helpHint(cmd), "The limit is a number from 1 to %d.", deliveriesRead)
			}
			s, err := f.openServer()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return printDelivery(cmd.Context(), f, s, args[0])
			}
			all, err := readDeliveries(cmd.Context(), s, failed, limit)
			if err != nil {
				return err
			}
			hooks, err := s.Webhooks(cmd.Context())
			if err != nil {
				return err
			}
			err = f.printAnswer(deliveriesAnswer{1, nonNil(all)}, func(l term.Style) string { return renderDeliveries(l, all, hooks, failed) })
			if i := slices.IndexFunc(all, func(d retake.Delivery) bool { return d.State == retake.DeliveryDead }); i >= 0 {
				id := f.stderrStyle().ShellPath(string(all[i].ID))
				f.printHints("look closer", "retake webhooks deliveries "+id, "again", "retake webhooks replay "+id)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&failed, "failed", false, "only deliveries whose first attempt failed")
	cmd.Flags().IntVar(&limit, "limit", deliveriesShown, "show the newest `N` deliveries")
	return cmd
}

// readDeliveries are the newest messages; failed ones are dead, or wait for another try.
func readDeliveries(ctx context.Context, s RemoteServer, failed bool, limit int) ([]retake.Delivery, error) {
	if !failed {
		return s.Deliveries(ctx, retake.DeliveryQuery{Limit: limit})
	}
	out, err := s.Deliveries(ctx, retake.DeliveryQuery{State: retake.DeliveryDead, Limit: limit})
	if err != nil {
		return nil, err
	}
	waiting, err := s.Deliveries(ctx, retake.DeliveryQuery{State: retake.DeliveryWaiting, Limit: deliveriesRead})
	if err != nil {
		return nil, err
	}
	for _, d := range waiting {
		if len(d.Tries) > 0 {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b retake.Delivery) int { return b.Created.Compare(a.Created) })
	return out[:min(len(out), limit)], nil
}

// deliveryMark is how far a message is, in one sign.
func deliveryMark(l term.Style, d retake.Delivery) string {
	switch {
	case d.State == retake.DeliveryDelivered:
		return l.Green(l.Glyphs.Yes)
	case d.State == retake.DeliveryDead:
		return l.Red(l.Glyphs.No)
	case len(d.Tries) > 0:
		return l.Yellow("!")
	}
	return l.Yellow(l.Glyphs.Wait)
}

func renderDeliveries(l term.Style, all []retake.Delivery, hooks []retake.Webhook, failed bool) string {
	if len(all) == 0 && failed {
		return "Every message arrived.\n"
	}
	if len(all) == 0 {
		return "No message was sent yet.\n"
	}
	urls := map[retake.WebhookID]string{}
	for _, w := range hooks {
		urls[w.ID] = w.URL
	}
	var rows []tableRow
	for _, d := range all {
		url := strings.TrimPrefix(strings.TrimPrefix(urls[d.Webhook], "https://"), "http://")
		if url == "" {
			url = "gone by now"
		}
		rows = append(rows, tableRow{sign: deliveryMark(l, d), cells: []string{
			shortID(l, d.ID), l.ShortTime(d.Created), termtext.Escape(string(d.Type)), termtext.Escape(url), deliveryText(l, d),
		}})
	}
	return drawTable(l, []string{"id", "when", "type", "to", ""}, 3, rows)
}

// deliveryText says in a few words what came of a message.
func deliveryText(l term.Style, d retake.Delivery) string {
	if len(d.Tries) == 0 {
		return "waits"
	}
	last := d.Tries[len(d.Tries)-1]
	text := "no answer"
	if last.Status != 0 {
		text = fmt.Sprint(last.Status)
	}
	tries := ""
	if n := len(d.Tries); n > 1 {
		tries = fmt.Sprintf("%d tries", n)
	}
	switch {
	case d.State == retake.DeliveryDelivered:
		return l.JoinFacts(text, termtext.Duration(last.Took), tries)
	case d.State == retake.DeliveryDead:
		return l.JoinFacts(text, "given up")
	case d.Next != nil:
		return l.JoinFacts(text, "again "+timeAheadText(l, *d.Next))
	}
	return text
}

// findDelivery finds a message by its id, or among the newest by how it ends.
func findDelivery(ctx context.Context, s RemoteServer, typed string) (retake.Delivery, error) {
	if strings.HasPrefix(typed, messagePrefix) {
		return s.Delivery(ctx, typed)
	}
	all, err := s.Deliveries(ctx, retake.DeliveryQuery{Limit: deliveriesRead})
	if err != nil {
		return retake.Delivery{}, err
	}
	d, err := findByID(all, func(d retake.Delivery) string { return d.ID }, "message", typed, "retake webhooks deliveries")
	if err != nil {
		return d, err
	}
	return s.Delivery(ctx, d.ID)
}

func printDelivery(ctx context.Context, f *commandLine, s RemoteServer, typed string) error {
	d, err := findDelivery(ctx, s, typed)
	if err != nil {
		return err
	}
	err = f.printAnswer(deliveryAnswer{1, d}, func(l term.Style) string { return renderDelivery(l, d) })
	f.printHints("send it again", "retake webhooks replay "+shortID(f.stderrStyle(), d.ID))
	return err
}

func renderDelivery(l term.Style, d retake.Delivery) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  %s\n\n", deliveryMark(l, d), l.Bold(termtext.Escape(string(d.Type))), deliveryText(l, d))
	fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad("id", 9)), termtext.Escape(d.ID))
	fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad("webhook", 9)), termtext.Escape(string(d.Webhook)))
	for i, t := range d.Tries {
		word := ""
		if i == 0 {
			word = "tries"
		}
		status := "no answer"
		if t.Status != 0 {
			status = fmt.Sprint(t.Status)
		}
		text := l.JoinFacts(l.ShortTime(t.At), status, termtext.Duration(t.Took), l.EscapeText(t.Why))
		fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad(word, 9)), l.Glyphs.Cut(text, max(l.Width-11, 20)))
	}
	if len(d.Body) > 0 {
		fmt.Fprintf(&b, "\n%s\n", termtext.Escape(string(d.Body)))
	}
	return b.String()
}

func newReplayCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "replay ID", Short: "Send a webhook delivery again, with the same ID", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.openServer()
			if err != nil {
				return err
			}
			d, err := findDelivery(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			if d, err = s.Replay(cmd.Context(), d.ID); err != nil {
				return err
			}
			err = f.printAnswer(deliveryAnswer{1, d}, func(l term.Style) string {
				return fmt.Sprintf("%s %s is sent again, as %s.\n", l.Green(l.Glyphs.Yes), termtext.Escape(string(d.Type)), termtext.Escape(d.ID))
			})
			f.printHints("whether it arrived", "retake webhooks deliveries "+shortID(f.stderrStyle(), d.ID))
			return err
		},
	}
}
