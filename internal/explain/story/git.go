package story

import (
	"context"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// Limits on what is read of git's own files. Their content is not trusted: any program can
// write it.
const (
	maxReflogBytes  = 64 << 10 // bytes of one log, the end of it
	maxSkippedBytes = 4 << 20  // bytes before that which are passed over
	maxRepos        = 8
	maxRefFiles     = 64
	maxGitFacts     = 12 // of one repository
	maxGitText      = 60 // of a message or a name, in runes
)

// readGitFacts describes what git did: commits, resets, checkouts. It reads the lines that
// were appended to the reflogs of HEAD and of the branches.
func readGitFacts(ctx context.Context, in Input) []retake.Fact {
	if in.OpenObject == nil {
		return nil
	}
	var order []string
	repos := map[string]*gitRepo{}
	for i := range in.Changes {
		dir, file, ok := splitGitPath(in.Changes[i].Path)
		if !ok || in.Changes[i].What == retake.Timed {
			continue
		}
		r := repos[dir]
		if r == nil && len(repos) < maxRepos {
			r = &gitRepo{dir: dir, input: in, branches: map[string][]reflogLine{}}
			repos[dir], order = r, append(order, dir)
		}
		if r != nil {
			r.readChange(ctx, file, &in.Changes[i])
		}
	}
	var out []retake.Fact
	for _, dir := range order {
		facts := repos[dir].collectFacts()
		out = append(out, facts[:min(len(facts), maxGitFacts)]...)
	}
	return out
}

// splitGitPath splits a path at its .git directory.
func splitGitPath(path string) (dir, file string, ok bool) {
	if rest, found := strings.CutPrefix(path, ".git/"); found {
		return "", rest, true
	}
	at := strings.Index(path, "/.git/")
	if at < 0 {
		return "", "", false
	}
	return path[:at+1], path[at+len("/.git/"):], true
}

// reflogLine is one line of a reflog: a ref moved from one commit to another.
type reflogLine struct {
	before, after string
	stamp         string // who and when, to know the same step in two logs
	message       string
}

// gitRepo collects what changed in one repository.
type gitRepo struct {
	dir          string
	input        Input
	filesRead    int          // that were looked at
	newHeadLines []reflogLine // that are new
	headHistory  []reflogLine // of HEAD, as far as it was read, with the new ones
	branches     map[string][]reflogLine
	stashLines   []reflogLine
	remotes      []retake.Fact
	refs         []retake.Fact // branches and tags that were created or deleted
	stashDropped bool
	isDeleted    bool
	headNames    [2]string // what HEAD named before and after
}

// readChange reads one changed file of the repository, as far as its limits allow.
func (r *gitRepo) readChange(ctx context.Context, file string, c *retake.Change) {
	if r.filesRead++; r.filesRead > maxRefFiles {
		return
	}
	name, isLog := strings.CutPrefix(file, "logs/")
	switch {
	case isLog && name == "HEAD":
		r.headHistory, r.newHeadLines = r.readReflog(ctx, c)
	case isLog && name == "refs/stash":
		if _, r.stashLines = r.readReflog(ctx, c); len(r.stashLines) == 0 {
			r.stashDropped = true
		}
	case isLog && strings.HasPrefix(name, "refs/heads/") && c.After != nil:
		_, r.branches[strings.TrimPrefix(name, "refs/heads/")] = r.readReflog(ctx, c)
	case isLog && strings.HasPrefix(name, "refs/remotes/") && c.After != nil:
		r.addRemote(ctx, strings.TrimPrefix(name, "refs/remotes/"), c)
	case isLog:
	case file == "HEAD" && c.After == nil:
		r.isDeleted = true
	case file == "HEAD":
		r.headNames = [2]string{parseHead(r.readLine(ctx, c.Before)), parseHead(r.readLine(ctx, c.After))}
	case strings.HasPrefix(file, "refs/heads/"):
		r.addRef(ctx, "branch", strings.TrimPrefix(file, "refs/heads/"), c)
	case strings.HasPrefix(file, "refs/tags/"):
		r.addRef(ctx, "tag", strings.TrimPrefix(file, "refs/tags/"), c)
	default:
		r.filesRead-- // other files are ignored and do not count
	}
}

// readReflog reads the end of a reflog and returns all its lines, and those that are new. A
// log that became shorter was rewritten; then it returns nothing.
func (r *gitRepo) readReflog(ctx context.Context, c *retake.Change) (all, fresh []reflogLine) {
	if c.After == nil || c.After.Kind != retake.KindFile {
		return nil, nil
	}
	known := int64(0)
	if c.Before != nil && c.Before.Kind == retake.KindFile {
		known = c.Before.Size
	}
	from := max(0, c.After.Size-maxReflogBytes)
	text, ok := r.readPart(ctx, c.After, from, maxReflogBytes)
	if !ok || known > c.After.Size {
		return nil, nil // rewritten: new lines cannot be told from old ones
	}
	at := from
	for line := range strings.Lines(text) {
		begins := at
		at += int64(len(line))
		l, ok := parseReflogLine(line)
		if !ok {
			continue
		}
		if all = append(all, l); begins >= known {
			fresh = append(fresh, l)
		}
	}
	return all, fresh
}

// readPart reads at most a number of bytes of a stored file, beginning at an offset.
func (r *gitRepo) readPart(ctx context.Context, e *retake.Entry, from, most int64) (string, bool) {
	f, err := r.input.OpenObject(ctx, e.Object)
	if err != nil || f == nil {
		return "", false
	}
	defer f.Close() //nolint:errcheck // only read
	if s, ok := f.(io.Seeker); ok {
		_, err = s.Seek(from, io.SeekStart)
	} else if from <= maxSkippedBytes {
		_, err = io.CopyN(io.Discard, f, from)
	} else {
		return "", false
	}
	if err != nil {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	return string(b), err == nil
}

// readLine returns the text of a file of one line, or "".
func (r *gitRepo) readLine(ctx context.Context, e *retake.Entry) string {
	if e == nil || e.Kind != retake.KindFile || e.Size > 1<<10 {
		return ""
	}
	text, _ := r.readPart(ctx, e, 0, 1<<10)
	return strings.TrimSpace(text)
}

// parseReflogLine parses "OLD NEW Name <mail> time zone\tmessage".
func parseReflogLine(line string) (reflogLine, bool) {
	head, deed, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
	before, rest, _ := strings.Cut(head, " ")
	after, stamp, _ := strings.Cut(rest, " ")
	if !ok || !isCommitHash(before) || !isCommitHash(after) {
		return reflogLine{}, false
	}
	return reflogLine{before: before, after: after, stamp: stamp, message: deed}, true
}

func isCommitHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func shortCommit(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s[:min(len(s), 7)]
}

// parseHead returns the branch or the short commit that the text of HEAD names.
func parseHead(text string) string {
	if ref, ok := strings.CutPrefix(text, "ref: refs/heads/"); ok {
		return gitText(ref)
	}
	if isCommitHash(text) {
		return shortCommit(text)
	}
	return ""
}

// gitText makes text from git's files fit for a fact: one line, with secrets masked, and
// short.
func gitText(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	s, _ = secrets.Mask(s)
	if r := []rune(s); len(r) > maxGitText {
		return string(r[:maxGitText-1]) + "…"
	}
	return s
}

// addRef records a branch or a tag that was created or deleted.
func (r *gitRepo) addRef(ctx context.Context, kind, name string, c *retake.Change) {
	switch {
	case c.What == retake.Deleted && c.Before != nil && c.Before.Kind == retake.KindFile:
		was := shortCommit(commitHashOrEmpty(r.readLine(ctx, c.Before)))
		r.refs = append(r.refs, r.newFact(retake.Deleted, kind+" "+gitText(name), was, ""))
	case c.What == retake.Added && c.After != nil && c.After.Kind == retake.KindFile:
		r.refs = append(r.refs, r.newFact(retake.Added, kind+" "+gitText(name), "", shortCommit(commitHashOrEmpty(r.readLine(ctx, c.After)))))
	}
}

func commitHashOrEmpty(s string) string {
	if isCommitHash(s) {
		return s
	}
	return ""
}

// addRemote records what a push or a fetch changed of a remote branch.
func (r *gitRepo) addRemote(ctx context.Context, name string, c *retake.Change) {
	_, fresh := r.readReflog(ctx, c)
	if len(fresh) == 0 {
		return
	}
	first, last := fresh[0], fresh[len(fresh)-1]
	verb := "fetch"
	if last.message == "update by push" {
		verb = "push"
	}
	r.remotes = append(r.remotes, r.newFact(retake.Edited, verb+" "+gitText(name), shortCommit(first.before), shortCommit(last.after)))
}

// newFact returns a fact about the repository.
func (r *gitRepo) newFact(what retake.Difference, name, before, after string) retake.Fact {
	return retake.Fact{Kind: retake.FactGit, What: what, Name: name, Before: before, After: after, Path: r.dir + ".git/"}
}
