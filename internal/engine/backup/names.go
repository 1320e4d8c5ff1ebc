package backup

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// isGitName reports whether git, or some file system, treats a name as one that git reserves.
func isGitName(name string) bool {
	bare := strings.ToLower(stripIgnorable(name))
	if bare == ".git" {
		return true
	}
	lower := strings.ToLower(name)
	if lower == "git~1" {
		return true
	}
	// Windows drops spaces and dots at the end, and what follows a colon.
	lower, _, _ = strings.Cut(lower, ":")
	return strings.TrimRight(lower, " .") == ".git"
}

// isModulesName reports whether some file system treats a name as .gitmodules, which remotes
// accept only as a regular file.
func isModulesName(name string) bool {
	bare, _, _ := strings.Cut(strings.ToLower(stripIgnorable(name)), ":")
	bare = strings.TrimRight(bare, " .")
	return bare == ".gitmodules" || strings.HasPrefix(bare, "gitmod~") || strings.HasPrefix(bare, "gi7eba~")
}

// badModulesPattern matches .gitmodules files that make remotes refuse the whole push.
var badModulesPattern = pattern.Lazy(`(?i)(?m)^\s*\[[^\]]*\.\.|=\s*"?(\.{1,2}/)*[-!:]|%0a|%00`)

// stripIgnorable removes characters that HFS+ ignores in names. Like git, it ends a name at
// the first byte that is not UTF-8.
func stripIgnorable(name string) string {
	for i, c := range name {
		if c == utf8.RuneError && !strings.HasPrefix(name[i:], string(utf8.RuneError)) {
			name = name[:i]
			break
		}
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
}

// isBadName reports whether git, or a checkout on another system, refuses a name; a backslash
// separates directories there.
func isBadName(name string) bool {
	return name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00\\") || len(name) > 4000
}

// quotePath quotes a path for git and escapes everything that is not text.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// displayPath returns a path for people, unquoted if it is plain text.
func displayPath(path string) string {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' }) {
		return quotePath(path)
	}
	return path
}

// secretNames are files that contain only secrets, by convention. isSecretFile handles the
// suffixes of ".env".
var secretNames = map[string]bool{
	".netrc": true, "_netrc": true, ".pgpass": true, ".my.cnf": true, ".htpasswd": true, ".git-credentials": true,
	"id_rsa": true, "id_dsa": true, "id_ecdsa": true, "id_ed25519": true, ".vault-token": true, ".dockercfg": true,
}

var secretEndings = []string{".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".tfstate", ".tfstate.backup"}

// secretDirs hold keys of people and machines.
var secretDirs = map[string]bool{".ssh": true, ".gnupg": true, ".aws": true}

// isSecretFile reports whether a file usually contains secrets, by its name.
func isSecretFile(name string) bool {
	name = strings.ToLower(name)
	if secretNames[name] || name == ".env" {
		return true
	}
	if rest, ok := strings.CutPrefix(name, ".env."); ok {
		switch rest {
		case "example", "sample", "template", "dist", "defaults": // looked into like all others
			return false
		}
		return true
	}
	if strings.HasSuffix(name, ".env") {
		return true
	}
	for _, end := range secretEndings {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
