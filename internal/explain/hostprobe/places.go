package hostprobe

// Profiles of shells: below /etc, and below a home.
var (
	systemProfiles = []string{"profile", "bash.bashrc", "zsh/zshrc", "zsh/zprofile", "zsh/zshenv"}
	homeProfiles   = []string{".bashrc", ".zshrc", ".profile", ".bash_profile", ".bash_login", ".zprofile", ".zshenv", ".config/fish/config.fish"}
)

// probePlace is a directory and what is read in it: paths below it, whose elements may be
// patterns. A last element "**" matches every file further down.
type probePlace struct {
	dir      string
	inHome   bool // dir is below the home of the user
	patterns []string
}

var (
	rpmNames    = []string{"rpmdb.sqlite", "Packages", "Packages.db"}
	nodeNames   = []string{"*/package.json", "@*/*/package.json"}
	pythonNames = []string{"*.dist-info/METADATA", "*.egg-info/PKG-INFO", "*.egg-info"}
)

func prefixPaths(dir string, names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, dir+"/"+n)
	}
	return out
}

// probePlaces returns everything that a probe looks at.
func probePlaces() []probePlace {
	return []probePlace{
		{dir: "/var/lib/dpkg", patterns: []string{"status"}},
		{dir: "/lib/apk/db", patterns: []string{"installed"}},
		{dir: "/usr/lib/apk/db", patterns: []string{"installed"}},
		{dir: "/var/lib/rpm", patterns: rpmNames},
		{dir: "/usr/lib/sysimage/rpm", patterns: rpmNames},
		{dir: "/etc/systemd/system", patterns: []string{"**"}},
		{dir: ".config/systemd/user", inHome: true, patterns: []string{"**"}},
		{dir: "/etc", patterns: append([]string{"crontab"}, systemProfiles...)},
		{dir: "/etc/cron.d", patterns: []string{"*"}},
		{dir: "/etc/profile.d", patterns: []string{"*"}},
		{dir: "/var/spool/cron", patterns: []string{"**"}},
		{dir: "", inHome: true, patterns: homeProfiles},
		{dir: "/usr/lib/node_modules", patterns: nodeNames},
		{dir: "/usr/local/lib/node_modules", patterns: nodeNames},
		{dir: ".npm-global/lib/node_modules", inHome: true, patterns: nodeNames},
		{dir: ".nvm/versions/node", inHome: true, patterns: prefixPaths("*/lib/node_modules", nodeNames)},
		{dir: "/usr/lib", patterns: append(prefixPaths("python3*/dist-packages", pythonNames), prefixPaths("python3*/site-packages", pythonNames)...)},
		{dir: "/usr/local/lib", patterns: append(prefixPaths("python3*/dist-packages", pythonNames), prefixPaths("python3*/site-packages", pythonNames)...)},
		{dir: ".local/lib", inHome: true, patterns: prefixPaths("python3*/site-packages", pythonNames)},
	}
}
