package hostprobe

// Profiles of shells: below /etc, and below a home.
var (
	systemProfiles = []string{"profile", "bash.bashrc", "zsh/zshrc", "zsh/zprofile", "zsh/zshenv"}
	homeProfiles   = []string{".bashrc", ".zshrc", ".profile", ".bash_profile", ".bash_login", ".zprofile", ".zshenv", ".config/fish/config.fish"}
)

// place is a directory and what is read in it: paths below it, in which a part may be a
// pattern, and a last part "**" is every file further down.
type place struct {
	dir   string
	home  bool // dir lies below the home of the user
	paths []string
}

var (
	rpmNames    = []string{"rpmdb.sqlite", "Packages", "Packages.db"}
	nodeNames   = []string{"*/package.json", "@*/*/package.json"}
	pythonNames = []string{"*.dist-info/METADATA", "*.egg-info/PKG-INFO", "*.egg-info"}
)

func below(dir string, names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, dir+"/"+n)
	}
	return out
}

// places are all that a probe looks at.
func places() []place {
	return []place{
		{dir: "/var/lib/dpkg", paths: []string{"status"}},
		{dir: "/lib/apk/db", paths: []string{"installed"}},
		{dir: "/usr/lib/apk/db", paths: []string{"installed"}},
		{dir: "/var/lib/rpm", paths: rpmNames},
		{dir: "/usr/lib/sysimage/rpm", paths: rpmNames},
		{dir: "/etc/systemd/system", paths: []string{"**"}},
		{dir: ".config/systemd/user", home: true, paths: []string{"**"}},
		{dir: "/etc", paths: append([]string{"crontab"}, systemProfiles...)},
		{dir: "/etc/cron.d", paths: []string{"*"}},
		{dir: "/etc/profile.d", paths: []string{"*"}},
		{dir: "/var/spool/cron", paths: []string{"**"}},
		{dir: "", home: true, paths: homeProfiles},
		{dir: "/usr/lib/node_modules", paths: nodeNames},
		{dir: "/usr/local/lib/node_modules", paths: nodeNames},
		{dir: ".npm-global/lib/node_modules", home: true, paths: nodeNames},
		{dir: ".nvm/versions/node", home: true, paths: below("*/lib/node_modules", nodeNames)},
		{dir: "/usr/lib", paths: append(below("python3*/dist-packages", pythonNames), below("python3*/site-packages", pythonNames)...)},
		{dir: "/usr/local/lib", paths: append(below("python3*/dist-packages", pythonNames), below("python3*/site-packages", pythonNames)...)},
		{dir: ".local/lib", home: true, paths: below("python3*/site-packages", pythonNames)},
	}
}
