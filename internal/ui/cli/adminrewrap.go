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

// RewrapResult says with which key the secrets of a server are encrypted.
type RewrapResult struct {
	Key        string   `json:"key"`                   // ID of the current key
	KeyVersion string   `json:"key_version,omitempty"` // of the key server's key, if there is one
	Secrets    int      `json:"secrets"`               // that are encrypted with the current key
	Resealed   int      `json:"resealed"`              // of them, by this run
	Responses  int      `json:"responses"`             // stored responses that this run encrypted again
	Others     []string `json:"others"`                // secrets that are not encrypted with it, and why
	Servers    []string `json:"servers"`               // servers that don't encrypt with it
}

type rewrapAnswer struct {
	V int `json:"v"`
	RewrapResult
}

func newAdminRewrapCommand(f *commandLine) *cobra.Command {
	return newServerCommand(f, "rewrap", "Encrypt all secrets with the current key", 0, 0, func(ctx context.Context, p ServerOptions, _ []string) error {
		r, err := f.Servers.Rewrap(ctx, p)
		if err != nil {
			return err
		}
		r.Others, r.Servers = nonNil(r.Others), nonNil(r.Servers)
		if err := f.printAnswer(rewrapAnswer{1, r}, func(l term.Style) string { return renderRewrap(l, r) }); err != nil || len(r.Others)+len(r.Servers) == 0 {
			return err
		}
		return reportedError{&retake.Error{Kind: retake.Partly, What: "the old key is still needed", Safe: "No secret is lost.", Hint: "run it again: retake help admin rewrap"}}
	})
}

func renderRewrap(l term.Style, r RewrapResult) string {
	var b strings.Builder
	sign, done := l.Green(l.Glyphs.Yes), len(r.Others)+len(r.Servers) == 0
	if !done {
		sign = l.Red(l.Glyphs.No)
	}
	fmt.Fprintf(&b, "%s %s encrypted with key %s, %d with another\n", sign, term.CountNoun(int64(r.Secrets), "secret is", "secrets are"), termtext.Escape(r.Key), len(r.Others))
	write := func(text string) {
		for _, line := range term.Wrap(l.EscapeText(text), l.Width-2) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if r.Resealed+r.Responses > 0 {
		write(fmt.Sprintf("Encrypted again: %s, %s.", term.CountNoun(int64(r.Resealed), "secret", "secrets"), term.CountNoun(int64(r.Responses), "stored response", "stored responses")))
	}
	if r.KeyVersion != "" {
		write("The key server's key has version " + r.KeyVersion + ".")
	}
	for _, o := range r.Others {
		write("Not encrypted again: " + o)
	}
	for _, s := range r.Servers {
		write("Restart a server with the new key: " + s)
	}
	if done {
		write("You can remove RETAKE_KEK_OLD. Keep its value as long as you keep older database backups.")
	} else {
		write("The old key is still needed.")
	}
	return b.String()
}
