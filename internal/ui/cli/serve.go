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

// Servers make and run the shared process for tenants.
type Servers interface {
	// Serve answers until ctx ends. ready is told the address, and what a server that
	// had no namespace has begun with.
	Serve(ctx context.Context, p ServerOptions, ready func(address string, begun *ServerBeginning)) error
	// Bootstrap makes the first namespace of a server that has none; nil: it has one.
	Bootstrap(ctx context.Context, p ServerOptions) (*ServerBeginning, error)
	AddNamespace(ctx context.Context, p ServerOptions, ns retake.NamespaceID) (ServerBeginning, error)
	Namespaces(ctx context.Context, p ServerOptions) ([]retake.Namespace, error)
	SetRoots(ctx context.Context, p ServerOptions, ns retake.NamespaceID, roots []string) (retake.Namespace, error)
	AddKey(ctx context.Context, p ServerOptions, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error)
	// Rewrap encrypts all secrets with the current key-encryption key.
	Rewrap(ctx context.Context, p ServerOptions) (RewrapResult, error)
}

// ServerOptions says where a server keeps its data and how it is reached. Secrets come from
// the environment or from files, never from flags.
type ServerOptions struct {
	Data     string
	Listen   string
	Public   string
	Admin    string
	Cert     string
	CertKey  string
	Postgres string
	S3       string
	KEK      string // a file
	KEKURL   string // of a key server
	KEKToken string // a file
	KEKCA    string // a file
	Webhook  string
	Lenient  bool
	Allow    []string // addresses that are not public
	TakeOver bool
	Verbose  bool
}

// ServerBeginning is what a namespace begins with.
type ServerBeginning struct {
	Namespace retake.Namespace   `json:"namespace"`
	Keys      []retake.NewKey    `json:"keys"`
	Webhook   *retake.NewWebhook `json:"webhook,omitempty"`
}

type servingAnswer struct {
	V       int              `json:"v"`
	Address string           `json:"address"`
	Begun   *ServerBeginning `json:"begun,omitempty"`
}

// addFlags adds the flags of the options.
func (p *ServerOptions) addFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&p.Data, "data", "", "store the server's data in `DIR` (required)")
	fl.StringVar(&p.Postgres, "postgres", "", "use PostgreSQL at `URL` instead of SQLite (RETAKE_POSTGRES); put the password in PGPASSWORD or a password file")
	fl.StringVar(&p.S3, "s3", "", "store files in S3 at `URL`, https://ENDPOINT/BUCKET[/PREFIX][?region=R] (RETAKE_S3); put its keys in RETAKE_S3_ACCESS_KEY and RETAKE_S3_SECRET_KEY")
	fl.StringVar(&p.KEK, "kek-file", "", "read the key-encryption key from `FILE` (default: RETAKE_KEK, or DATA/kek, which is created)")
	fl.StringVar(&p.KEKURL, "kek-url", "", "have the key-encryption key at a key server: `URL` of a transit key of Vault or OpenBao, https://HOST:8200/v1/transit/keys/NAME")
	fl.StringVar(&p.KEKToken, "kek-token-file", "", "read the token for the key server from `FILE`, each time it is needed")
	fl.StringVar(&p.KEKCA, "kek-ca", "", "trust the certificates in `FILE` for the key server (default: those of the system)")
	fl.StringSliceVar(&p.Allow, "allow-address", nil, "also send webhooks and backups to private addresses in `CIDR`, such as 10.1.0.0/16")
	fl.BoolVar(&p.Lenient, "lenient-webhooks", false, "allow webhooks to plain HTTP and private addresses, for development")
}

func (p *ServerOptions) checkFlags(cmd *cobra.Command) error {
	if p.Data == "" {
		return usageError(helpHint(cmd), "Usage: %s. Missing flag: --data DIR.", usageLine(cmd))
	}
	return nil
}

func newServeCommand(f *commandLine) *cobra.Command {
	var p ServerOptions
	cmd := &cobra.Command{
		Use: "serve --data DIR", Short: "Run a server for a team: API, webhooks, schedules", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.checkFlags(cmd); err != nil {
				return err
			}
			p.Data = f.fromStartDir(p.Data)
			return f.Servers.Serve(cmd.Context(), p, func(address string, begun *ServerBeginning) {
				scheme := "http"
				if p.Cert != "" {
					scheme = "https"
				}
				a := servingAnswer{1, scheme + "://" + address, begun}
				_ = f.printAnswer(a, func(l term.Style) string { return renderServing(l, a) }) // nobody may be reading
			})
		},
	}
	p.addFlags(cmd)
	fl := cmd.Flags()
	fl.StringVar(&p.Listen, "listen", "127.0.0.1:7350", "serve the API at `ADDRESS`")
	fl.StringVar(&p.Public, "public-url", "", "the API's public `URL`, for links in messages")
	fl.StringVar(&p.Admin, "admin-listen", "", "serve /metrics, /livez and /readyz at `ADDRESS` (default: not served)")
	fl.StringVar(&p.Cert, "tls-cert", "", "serve HTTPS with the certificate in `FILE`")
	fl.StringVar(&p.CertKey, "tls-key", "", "the certificate's private key, in `FILE`")
	fl.StringVar(&p.Webhook, "first-webhook", "", "add a webhook to `URL` when the first namespace is created")
	fl.BoolVar(&p.TakeOver, "take-over", false, "use a database and a bucket that belong to another data directory, if that one is lost")
	fl.BoolVar(&p.Verbose, "verbose", false, "log every request")
	return cmd
}

func renderServing(l term.Style, a servingAnswer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s Retake answers at %s\n", l.Green(l.Glyphs.Yes), l.Bold(a.Address))
	if a.Begun != nil {
		b.WriteString(renderBeginning(l, *a.Begun))
		fmt.Fprintf(&b, "\n  %s\n    curl -sX POST %s/v1/snapshots -H \"Authorization: Bearer %s\" -H 'Content-Type: application/json' -d '{\"label\":\"first light\"}'\n",
			"Take a first checkpoint:", a.Address, keySecret(*a.Begun, retake.KeyAgent))
	}
	return b.String()
}

func keySecret(b ServerBeginning, kind retake.KeyKind) string {
	for _, k := range b.Keys {
		if k.Key.Kind == kind {
			return k.Secret
		}
	}
	return ""
}

// what keys are for, in a few words.
var keyKindTexts = map[retake.KeyKind]string{
	retake.KeyAgent: "create checkpoints, read, restore, fork", retake.KeyReader: "read only",
	retake.KeyOperator: "agent, plus: protect workspaces, pin, legal holds", retake.KeyAdmin: "read, API keys, webhooks, schedules, deletion requests",
	retake.KeyMaintainer: "read, clean up, verify and rebuild the store", retake.KeyProvisioner: "create namespaces, and change those that it created",
}

func renderBeginning(l term.Style, b ServerBeginning) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%s namespace %s, with a workspace %s\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(string(b.Namespace.ID))), termtext.Escape(string(b.Namespace.Default)))
	t.WriteString("\n  Its API keys are shown only once:\n")
	for _, k := range b.Keys {
		fmt.Fprintf(&t, "    %s%s  %s\n", termtext.Pad(string(k.Key.Kind), 12), k.Secret, l.Dim(keyKindTexts[k.Key.Kind]))
	}
	if b.Webhook != nil {
		fmt.Fprintf(&t, "\n  A webhook to %s, whose messages are signed with\n    %s\n", termtext.Escape(b.Webhook.Webhook.URL), b.Webhook.Secret)
	}
	return t.String()
}
