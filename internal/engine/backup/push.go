package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

var commitForm = pattern.Late(`^[0-9a-f]{40}$`)

// tip reads our side of the branch; nil when there is none.
func (r *repo) tip(ctx context.Context) (*place, error) {
	out, err := r.git(ctx, "for-each-ref", "--format=%(objectname)", r.ref)
	if err != nil {
		return nil, fmt.Errorf("read branch: %w", err)
	}
	commit := strings.TrimSpace(out)
	if commit == "" {
		return nil, nil
	}
	return r.place(ctx, commit)
}

// place reads what a commit says of itself.
func (r *repo) place(ctx context.Context, commit string) (*place, error) {
	text, err := r.git(ctx, "cat-file", "commit", commit)
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	_, body, _ := strings.Cut(text, "\n\n")
	p, ok := readPlace(commit, body)
	if !ok {
		return nil, trouble(retake.Moved, ErrRewritten, nil, "the branch of the backup ends with a commit that is not ours", "take it away there, then set the backup again")
	}
	return &p, nil
}

// readBack asks the remote where the branch is; "" when it has none.
func (r *repo) readBack(ctx context.Context) (string, error) {
	out, err := r.git(ctx, "ls-remote", "--quiet", "--", r.to.text, r.ref)
	if err != nil {
		return "", r.explain(err)
	}
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ref == r.ref && commitForm().MatchString(commit) {
			return commit, nil
		}
	}
	return "", nil
}

// agree decides whether the remote is as we left it. What it has may be fetched when our
// side is lost; it is never replaced.
func (r *repo) agree(ctx context.Context, there string, tip *place, s *state, src Source) (*place, error) {
	pushed := ""
	if s.Backup.Pushed != nil {
		pushed = s.Backup.Pushed.Commit
	}
	switch {
	case there == "" && pushed != "":
		return nil, rewritten("the branch " + s.Backup.Branch + " is gone from the remote")
	case there == "":
		return tip, nil
	case tip != nil && there == tip.commit:
		return tip, nil
	case tip == nil:
		return r.adopt(ctx, there, pushed, s, src)
	}
	if !r.before(ctx, there, tip.commit) || pushed != "" && !r.before(ctx, pushed, there) {
		return nil, rewritten("the branch " + s.Backup.Branch + " of the remote is not what was sent")
	}
	return tip, nil
}

func rewritten(what string) error {
	return trouble(retake.Moved, ErrRewritten, nil, what+"; nothing of it was replaced", "to begin anew: take the branch away there, then retake help backup set")
}

// before reports whether we have both commits, and the one is the other or leads to it.
func (r *repo) before(ctx context.Context, old, young string) bool {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", old, young)
	return err == nil
}

// adopt takes over what the remote has, when our side is lost and it is ours.
func (r *repo) adopt(ctx context.Context, there, pushed string, s *state, src Source) (*place, error) {
	const aside = "refs/retake/there"
	if _, err := r.git(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--progress", "--", r.to.text, "+"+r.ref+":"+aside); err != nil {
		return nil, r.explain(err)
	}
	p, err := r.place(ctx, there)
	if err != nil {
		return nil, err
	}
	known, err := src.Known(ctx, p.number)
	if err != nil {
		return nil, err
	}
	if p.workspace != s.Backup.Workspace || known != "" && known != p.checkpoint || pushed != "" && !r.before(ctx, pushed, there) {
		return nil, rewritten("the branch " + s.Backup.Branch + " of the remote is not of this workspace")
	}
	if _, err := r.git(ctx, "update-ref", r.ref, there); err != nil {
		return nil, fmt.Errorf("take over the branch: %w", err)
	}
	return p, nil
}

// push sends the branch, never by force, and reads it back.
func (r *repo) push(ctx context.Context, commit string) error {
	_, err := r.git(ctx, "push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--", r.to.text, commit+":"+r.ref)
	if err != nil {
		return r.explain(err)
	}
	there, err := r.readBack(ctx)
	if err != nil {
		return err
	}
	if there != commit {
		return rewritten("the remote accepted the branch, but returns another one")
	}
	return nil
}

// signs tell what a program means by its words.
var signs = []struct {
	says       []string
	kind       retake.ErrorKind
	cause      error
	what, hint string
}{
	{[]string{"Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED", "No matching host key", "host key is known by"}, retake.Denied, ErrHost,
		"the host is not the one that was agreed to; nothing was sent", "find out why first; then agree to the new one: retake help backup set"},
	{[]string{"Permission denied", "Load key", "Too many authentication failures"}, retake.Denied, ErrRefused,
		"the remote does not let the key of the backup in", "give it the key, with the right to write: retake backup status"},
	{[]string{"[rejected]", "non-fast-forward", "fetch first"}, retake.Moved, ErrRewritten,
		"the branch of the remote is not what was sent; nothing of it was replaced", "to begin anew: take the branch away there, then retake help backup set"},
	{[]string{"[remote rejected]", "pre-receive hook declined", "read-only", "write access", "not allowed"}, retake.Denied, ErrRefused,
		"the remote refuses the branch", "look whether the key may write there"},
	{[]string{"not appear to be a git repository", "epository not found", "does not exist", "not a git repository"}, retake.NotFound, ErrRefused,
		"there is no repository at that address, or the key may not see it", "make one there, empty, and give it the key: retake backup status"},
}

// explain gives trouble with a remote its kind.
func (r *repo) explain(err error) error {
	var f *failed
	if !errors.As(err, &f) {
		return err
	}
	text := f.said + "\n" + f.out
	for _, s := range signs {
		for _, w := range s.says {
			if strings.Contains(text, w) {
				return trouble(s.kind, s.cause, f, s.what, s.hint)
			}
		}
	}
	return trouble(retake.Away, ErrAway, f, "the remote cannot be reached", "it is tried again; look whether it answers")
}
