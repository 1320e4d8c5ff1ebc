package retake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

type versionsKey struct{}

// IfVersion makes a change under the context happen only if what it changes has one of these versions.
// Otherwise its error is Moved. Limits, webhooks, to-do lists and backups have versions.
func IfVersion(ctx context.Context, versions ...string) context.Context {
	return context.WithValue(ctx, versionsKey{}, versions)
}

// WantedVersions returns those of IfVersion; false: any will do.
func WantedVersions(ctx context.Context) ([]string, bool) {
	versions, ok := ctx.Value(versionsKey{}).([]string)
	return versions, ok
}

// CheckVersion returns an error unless the change may happen to what has this version. Call it where
// nobody else can change it until it is written.
func CheckVersion(ctx context.Context, what, version string) error {
	if wanted, ok := WantedVersions(ctx); !ok || slices.Contains(wanted, version) {
		return nil
	}
	return &Error{Kind: Moved, What: what + " changed since you read it", Safe: "Nothing was changed.", Hint: "read it again"}
}

// versionOf identifies values that can be changed.
func versionOf(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // our own types always encode
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// Version identifies the limits.
func (n *Namespace) Version() string { return n.Limits.Version() }

// Version identifies what ChangeWebhook replaces.
func (w *Webhook) Version() string {
	disabled := ""
	if w.Disabled != nil {
		disabled = w.Disabled.UTC().Format(time.RFC3339Nano) // the zone is not kept
	}
	return versionOf(w.ID, w.URL, append([]EventType{}, w.Types...), disabled)
}

// Version identifies what SetBackup sets.
func (b *Backup) Version() string { return versionOf(b.Workspace, b.URL, b.Host, b.Set) }

// TasksVersion identifies a to-do list.
func TasksVersion(tasks []Task) string { return versionOf(append([]Task{}, tasks...)) }
