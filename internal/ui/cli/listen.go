package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// eventListener follows the events of a server, prints them, and forwards them like a webhook.
type eventListener struct {
	*commandLine
	forward string
	types   []retake.EventType

	signingKey   []byte // signs what is forwarded
	sender       *webhook.Sender
	after        int64 // the last event that was seen
	disconnected bool  // the server does not answer at this moment
	names        map[retake.WorkspaceID]string
}

// listenAnswer is one line of JSON: what the command begins with, or an event.
type listenAnswer struct {
	V       int            `json:"v"`
	Secret  string         `json:"secret,omitempty"`
	After   *int64         `json:"after,omitempty"`
	Event   *retake.Event  `json:"event,omitempty"`
	Forward *forwardAnswer `json:"forward,omitempty"`
}

type forwardAnswer struct {
	ID     string        `json:"id"`
	Status int           `json:"status,omitempty"`
	Why    string        `json:"why,omitempty"`
	Took   time.Duration `json:"took"`
}

func newListenCommand(f *commandLine) *cobra.Command {
	var types []string
	c := &eventListener{commandLine: f}
	cmd := &cobra.Command{
		Use: "listen", Short: "Follow events as they happen, or forward them to a URL", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.types, err = parseEventTypes(cmd, types); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.forward, "forward", "", "post each event to `URL`, such as http://localhost:3000/hooks")
	cmd.Flags().StringSliceVar(&types, "type", nil, "only events of `TYPE`; repeatable")
	return cmd
}

func (c *eventListener) run(ctx context.Context) error {
	s, err := c.openServer()
	if err != nil {
		return err
	}
	secret := ""
	if c.forward != "" {
		c.sender = webhook.NewSender(webhook.SenderOptions{Lenient: true, Clock: c.Clock})
		if err := c.sender.CheckURL(c.forward); err != nil {
			return err
		}
		c.signingKey, secret, _ = webhook.NewSecret(retake.SchemeShared)
	}
	if c.after, err = newestEvent(ctx, s); err != nil {
		return err
	}
	if err := c.printBeginning(secret); err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := s.Follow(ctx, c.after, func(e retake.Event) error { return c.handleEvent(ctx, s, e) })
		switch {
		case ctx.Err() != nil: // somebody ended us, as one does
			return nil
		case !retake.IsKind(err, retake.Away) && !retake.IsKind(err, retake.Busy):
			return err
		case !c.disconnected && !c.json:
			fmt.Fprintf(c.Err, "%s %s\n", c.stderrStyle().Yellow("!"), "The server does not answer. Events that happen meanwhile are shown when it does.")
		}
		c.disconnected = true
	}
	return nil
}

func (c *eventListener) printBeginning(secret string) error {
	if c.json {
		return c.writeJSON(listenAnswer{V: 1, Secret: secret, After: &c.after})
	}
	return c.printAnswer(nil, func(l term.Style) string {
		text := fmt.Sprintf("%s Listening at %s\n", l.Green(l.Glyphs.Point), l.Bold(termtext.Escape(c.serverAddress())))
		if c.forward != "" {
			text += fmt.Sprintf("  Each event goes to %s\n  signed with this secret, which is another one next time:\n\n    %s\n", termtext.Escape(c.forward), secret)
		}
		return text + "\n"
	})
}

// newestEvent returns the number of the last event, found by a binary search because the
// numbers only rise.
func newestEvent(ctx context.Context, s retake.Notifier) (int64, error) {
	const first = 1000
	got, err := s.Events(ctx, retake.EventQuery{Limit: first})
	if err != nil || len(got) == 0 {
		return 0, err
	}
	low := got[len(got)-1].Seq // an event that is there
	if len(got) < first {
		return low, nil
	}
	ask := func(after int64) (bool, error) {
		got, err := s.Events(ctx, retake.EventQuery{After: after, Limit: 1})
		if err == nil && len(got) > 0 {
			low = got[0].Seq
		}
		return len(got) > 0, err
	}
	high := low // behind it there is none
	for there := true; there && err == nil; {
		high = max(high, low) * 2
		there, err = ask(high)
	}
	for err == nil && low < high {
		mid := low + (high-low)/2
		var there bool
		if there, err = ask(mid); !there {
			high = mid
		}
	}
	return low, err
}

// handleEvent prints one event and forwards it under each wanted name.
func (c *eventListener) handleEvent(ctx context.Context, s retake.Service, e retake.Event) error {
	if c.disconnected && !c.json {
		fmt.Fprintf(c.Err, "%s %s\n", c.stderrStyle().Green(c.stderrStyle().Glyphs.Yes), "The server answers again.")
	}
	c.disconnected, c.after = false, e.Seq
	for _, name := range (&retake.Webhook{Types: c.types}).Wants(e.Type) {
		told := e
		told.Type = name
		var out *forwardAnswer
		if c.forward != "" {
			out = c.forwardEvent(ctx, e, name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.json {
			if err := c.writeJSON(listenAnswer{V: 1, Event: &told, Forward: out}); err != nil {
				return err
			}
			continue
		}
		about := c.readEventData(ctx, s, e)
		if err := c.printAnswer(nil, func(l term.Style) string { return renderEvent(l, told, about, out) }); err != nil {
			return err
		}
	}
	return nil
}

// readEventData decodes an event and adds the name of its workspace, which is looked up once.
func (c *eventListener) readEventData(ctx context.Context, s retake.Service, e retake.Event) eventDetails {
	var h eventDetails
	_ = json.Unmarshal(e.Data, &h.EventData) // what cannot be read is not told
	if _, ok := c.names[h.Workspace]; !ok && h.Workspace != "" {
		c.names = workspaceNames(ctx, s)
		c.names[h.Workspace] += "" // asked for once, found or not
	}
	h.name = c.names[h.Workspace]
	return h
}

// eventDetails is the data of an event with the name of its workspace.
type eventDetails struct {
	retake.EventData
	name string
}

// forwardEvent sends an event as a webhook message. Its id is that of the event, so that a
// receiver can drop duplicates.
func (c *eventListener) forwardEvent(ctx context.Context, e retake.Event, name retake.EventType) *forwardAnswer {
	id := e.ID
	if name != e.Type {
		id += "_" + strings.ReplaceAll(string(name), ".", "_")
	}
	body, now := webhook.Body(e, name), c.Clock.Now()
	header := webhook.Header(id, now, webhook.Sign(retake.SchemeShared, c.signingKey, id, now, body))
	got := c.sender.Post(ctx, c.forward, header, body)
	out := &forwardAnswer{ID: id, Status: got.Status, Took: c.Clock.Now().Sub(now)}
	if got.Err != nil {
		out.Why = got.Err.Error()
	}
	return out
}

// renderEvent renders one event in one line: when, what, about what, and what the receiver
// answered.
func renderEvent(l term.Style, e retake.Event, about eventDetails, out *forwardAnswer) string {
	line := e.Time.In(l.Now.Location()).Format(time.TimeOnly) + "  " + termtext.Pad(termtext.Escape(string(e.Type)), 19) + "  "
	sign, answer := "", ""
	if out != nil {
		sign, answer = forwardText(l, out)
	}
	room := l.Width - termtext.Width(line) - l.ShownWidth(sign+answer) - 3
	text := l.Glyphs.Cut(eventText(l, about), max(room, 8))
	if out == nil {
		return l.Dim(line[:8]) + line[8:] + text + "\n"
	}
	return l.Dim(line[:8]) + line[8:] + text + strings.Repeat(" ", max(room-termtext.Width(text), 0)+2) + sign + " " + answer + "\n"
}

func forwardText(l term.Style, out *forwardAnswer) (sign, text string) {
	switch {
	case out.Why == "":
		return l.Green(l.Glyphs.Yes), fmt.Sprintf("%d %s", out.Status, termtext.Duration(out.Took))
	case out.Status != 0:
		return l.Red(l.Glyphs.No), fmt.Sprint(out.Status)
	}
	return l.Red(l.Glyphs.No), "no answer"
}

// eventText is what an event is about, in a few words.
func eventText(l term.Style, d eventDetails) string {
	checkpoint := ""
	if d.Number > 0 {
		checkpoint = term.CheckpointNumber(d.Number)
	}
	said := ""
	if d.Intent != "" {
		said = l.Glyphs.Quote(l.EscapeText(d.Intent))
	}
	count := ""
	if d.Count > 0 {
		count = termtext.Count(d.Count)
	}
	return strings.Join(strings.Fields(strings.Join([]string{termtext.Escape(d.name), checkpoint, said, l.EscapeText(d.Name), l.EscapeText(d.Answer), count, l.EscapeText(d.Why)}, " ")), " ")
}
