package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type beginningAnswer struct {
	V     int              `json:"v"`
	Begun *ServerBeginning `json:"begun"`
}

type namespacesAnswer struct {
	V          int                `json:"v"`
	Namespaces []retake.Namespace `json:"namespaces"`
}

type namespaceAnswer struct {
	V         int              `json:"v"`
	Namespace retake.Namespace `json:"namespace"`
}

type keyAnswer struct {
	V int `json:"v"`
	retake.NewKey
}

func newAdminCommand(f *commandLine) *cobra.Command {
	cmd := &cobra.Command{
		Use: "admin", Short: "Manage a server: bootstrap, namespaces, keys",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError(helpHint(cmd), "Unknown command: admin %s", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			printCommandHelp(f, cmd)
			return nil
		},
	}
	cmd.AddCommand(newAdminBootstrapCommand(f), newAdminNamespacesCommand(f), newAdminAddCommand(f), newAdminRootsCommand(f), newAdminKeyCommand(f), newAdminRewrapCommand(f))
	return cmd
}

// newServerCommand makes a command that works on the rows of a server.
func newServerCommand(f *commandLine, use, short string, low, high int, run func(ctx context.Context, p ServerOptions, args []string) error) *cobra.Command {
	var p ServerOptions
	cmd := &cobra.Command{
		Use: use + " --data DIR", Short: short, Args: argsBetween(low, high),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.checkFlags(cmd); err != nil {
				return err
			}
			p.Data = f.fromStartDir(p.Data)
			return run(cmd.Context(), p, args)
		},
	}
	p.addFlags(cmd)
	return cmd
}

func newAdminBootstrapCommand(f *commandLine) *cobra.Command {
	return newServerCommand(f, "bootstrap", "Create the first namespace and its API keys", 0, 0, func(ctx context.Context, p ServerOptions, _ []string) error {
		b, err := f.Servers.Bootstrap(ctx, p)
		if err != nil {
			return err
		}
		return f.printAnswer(beginningAnswer{1, b}, func(l term.Style) string {
			if b == nil {
				return "The server has its first namespace already. Its keys were shown then.\n"
			}
			return renderBeginning(l, *b)
		})
	})
}

func newAdminNamespacesCommand(f *commandLine) *cobra.Command {
	return newServerCommand(f, "namespaces", "List namespaces", 0, 0, func(ctx context.Context, p ServerOptions, _ []string) error {
		all, err := f.Servers.Namespaces(ctx, p)
		if err != nil {
			return err
		}
		return f.printAnswer(namespacesAnswer{1, all}, func(l term.Style) string {
			var b strings.Builder
			for i := range all {
				fmt.Fprintf(&b, "%s  %s\n", termtext.Pad(termtext.Escape(string(all[i].ID)), 24), l.JoinFacts("since "+l.ShortTime(all[i].Created), "kept "+daysText(all[i].Limits.Within)))
			}
			return b.String()
		})
	})
}

func daysText(d time.Duration) string {
	if d <= 0 {
		return "for ever"
	}
	return term.CountNoun(int64(d/(24*time.Hour)), "day", "days")
}

func newAdminAddCommand(f *commandLine) *cobra.Command {
	return newServerCommand(f, "add NAME", "Create a namespace and its API keys", 1, 1, func(ctx context.Context, p ServerOptions, args []string) error {
		b, err := f.Servers.AddNamespace(ctx, p, retake.NamespaceID(args[0]))
		if err != nil {
			return err
		}
		return f.printAnswer(beginningAnswer{1, &b}, func(l term.Style) string { return renderBeginning(l, b) })
	})
}

func newAdminRootsCommand(f *commandLine) *cobra.Command {
	return newServerCommand(f, "roots NAME [DIR…]", "Set the directories a namespace may protect", 1, -1, func(ctx context.Context, p ServerOptions, args []string) error {
		roots := []string{}
		for _, d := range args[1:] {
			roots = append(roots, f.fromStartDir(d))
		}
		ns, err := f.Servers.SetRoots(ctx, p, retake.NamespaceID(args[0]), roots)
		if err != nil {
			return err
		}
		return f.printAnswer(namespaceAnswer{1, ns}, func(l term.Style) string {
			if len(roots) == 0 {
				return fmt.Sprintf("%s %s may protect only its own directory\n", l.Green(l.Glyphs.Yes), termtext.Escape(args[0]))
			}
			return fmt.Sprintf("%s %s may protect directories below %s\n", l.Green(l.Glyphs.Yes), termtext.Escape(args[0]), termtext.Escape(strings.Join(roots, ", ")))
		})
	})
}

func newAdminKeyCommand(f *commandLine) *cobra.Command {
	var name string
	var expires time.Duration
	cmd := newServerCommand(f, "key NAMESPACE ROLE", "Create an API key for a namespace", 2, 2, func(ctx context.Context, p ServerOptions, args []string) error {
		req := retake.KeyRequest{Kind: retake.KeyKind(args[1]), Name: name}
		if expires > 0 {
			at := f.Clock.Now().Add(expires)
			req.Expires = &at
		}
		k, err := f.Servers.AddKey(ctx, p, retake.NamespaceID(args[0]), req)
		if err != nil {
			return err
		}
		return f.printAnswer(keyAnswer{1, k}, func(l term.Style) string {
			return fmt.Sprintf("%s  %s\n", k.Secret, l.Dim(keyKindTexts[k.Key.Kind]+"; shown only once"))
		})
	})
	cmd.Flags().StringVar(&name, "name", "", "note what the key is for, in `WORDS`")
	cmd.Flags().DurationVar(&expires, "expires", 0, "expire after `DURATION`, such as 720h (default: never)")
	return cmd
}
