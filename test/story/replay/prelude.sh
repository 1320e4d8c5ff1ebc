# What every script of a run may call. Facts go to $TRUTH, downloads to $CACHE, and what
# must outlive a turn without being part of the tree to $HOME.
set -eu
umask 022
SITE=venv/lib/python3.11/site-packages

escaped() {
	case $1 in
	*[\\\"]*) printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' ;;
	*) printf '%s' "$1" ;;
	esac
}

# fact KIND WHAT GROUP NAME BEFORE AFTER [PATH]
fact() {
	printf '{"kind":"%s","what":"%s","group":"%s","name":"%s","before":"%s","after":"%s","path":"%s"}\n' \
		"$1" "$2" "$(escaped "$3")" "$(escaped "$4")" "$(escaped "${5-}")" "$(escaped "${6-}")" "$(escaped "${7-}")" >>"$TRUTH"
}

# put PATH <text
put() {
	case $1 in */*) mkdir -p "${1%/*}" ;; esac
	cat >"$1"
}

# swap OLD NEW FILE… replaces plain text, and fails where there is none to replace.
swap() {
	old=$1 new=$2
	shift 2
	python3 -B - "$old" "$new" "$@" <<'END'
import os, sys
old, new = sys.argv[1], sys.argv[2]
for name in sys.argv[3:]:
    with open(name, newline='') as f:
        text = f.read()
    if old not in text:
        sys.exit(f'{name} does not hold {old!r}')
    with open(name, 'w', newline='') as f:
        f.write(text.replace(old, new))
END
}

# picture PATH SEED makes a file that nobody can read as text.
picture() {
	case $1 in */*) mkdir -p "${1%/*}" ;; esac
	{
		printf '\211PNG\r\n\032\n\000\000\000\015IHDR'
		printf '%s' "$2" | sha256sum | cut -c1-64
		head -c 400 /dev/zero
	} >"$1"
}

repository() {
	git init -q -b main
	commit "${1:-first version}"
}

commit() {
	git add -A
	git commit -q -m "$1"
}

npm_install() {
	npm install --ignore-scripts --no-audit --no-fund --no-update-notifier --prefer-offline --save-exact --loglevel=error "$@" >/dev/null
}

# wheel NAME VERSION [MODULE] installs a wheel as an installer would leave it.
wheel() {
	flat=$(printf '%s' "$1" | tr '-' '_')
	module=${3:-$flat}
	info=$SITE/$flat-$2.dist-info
	mkdir -p "$info" "$SITE/$module"
	printf '__version__ = "%s"\n' "$2" >"$SITE/$module/__init__.py"
	printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\n' "$1" "$2" "$1" >"$info/METADATA"
	printf 'Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"$info/WHEEL"
	printf 'pip\n' >"$info/INSTALLER"
	printf '%s/__init__.py,,\n%s-%s.dist-info/METADATA,,\n%s-%s.dist-info/RECORD,,\n' "$module" "$flat" "$2" "$flat" "$2" >"$info/RECORD"
}

unwheel() {
	flat=$(printf '%s' "$1" | tr '-' '_')
	rm -r "$SITE/$flat-$2.dist-info" "$SITE/${3:-$flat}"
}

# rewheel NAME BEFORE AFTER [MODULE] changes the version, and tells it.
rewheel() {
	unwheel "$1" "$2" "${4:-}"
	wheel "$1" "$3" "${4:-}"
	fact package edited pypi "$1" "$2" "$3"
}

virtualenv() {
	mkdir -p venv/bin $SITE
	printf 'home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n' >venv/pyvenv.cfg
	ln -s /usr/bin/python3 venv/bin/python
}

# debs NAME… downloads packages once, and installs them below the tree.
debs() {
	mkdir -p "$CACHE/deb"
	for p in "$@"; do
		ls "$CACHE/deb/$p"_*.deb >/dev/null 2>&1 || {
			(cd "$HOME" && apt-get download -qq -o APT::Sandbox::User=root "$p" >/dev/null)
			mv "$HOME/$p"_*.deb "$CACHE/deb/"
		}
		set -- "$@" "$(ls "$CACHE/deb/$p"_*.deb | head -n 1)"
		shift
	done
	dpkg --root="$PWD" --force-depends --no-triggers -i "$@" >/dev/null
}

# mark and told look at what is there before and after an install, and tell the rest.
mark() { listed "$1" >"$HOME/$1.before"; }

told() {
	listed "$1" >"$HOME/$1.after"
	awk -v group="$1" '
		function say(what, name, before, after) {
			if (group == "executable")
				printf "{\"kind\":\"executable\",\"what\":\"%s\",\"name\":\"%s\"}\n", what, name
			else
				printf "{\"kind\":\"package\",\"what\":\"%s\",\"group\":\"%s\",\"name\":\"%s\",\"before\":\"%s\",\"after\":\"%s\"}\n", what, group, name, before, after
		}
		FILENAME == ARGV[1] { before[$0] = 1; next }
		{ after[$0] = 1 }
		END {
			for (k in before) if (!(k in after)) { split(k, w, " "); gone[w[1]]++; was[w[1]] = w[2] }
			for (k in after) if (!(k in before)) { split(k, w, " "); come[w[1]]++; is[w[1]] = w[2] }
			for (k in before) if (!(k in after)) {
				split(k, w, " ")
				if (gone[w[1]] == 1 && come[w[1]] == 1) say("edited", w[1], w[2], is[w[1]])
				else if (group != "executable") say("deleted", w[1], w[2], "")
			}
			for (k in after) if (!(k in before)) {
				split(k, w, " ")
				if (gone[w[1]] != 1 || come[w[1]] != 1) say("added", w[1], "", w[2])
			}
		}' "$HOME/$1.before" "$HOME/$1.after" >>"$TRUTH"
}

listed() { "listed_$1" | LC_ALL=C sort -u; }

listed_npm() {
	node -e '
		const fs = require("fs"), path = require("path");
		const look = dir => {
			for (const d of fs.existsSync(dir) ? fs.readdirSync(dir, { withFileTypes: true }) : []) {
				const at = path.join(dir, d.name);
				if (!d.isDirectory() || d.name.startsWith(".")) continue;
				if (d.name.startsWith("@")) { look(at); continue; }
				const p = JSON.parse(fs.readFileSync(path.join(at, "package.json")));
				console.log(p.name + " " + p.version);
				look(path.join(at, "node_modules"));
			}
		};
		look("node_modules");'
}

listed_golang() {
	awk '
		$1 == "require" && $2 == "(" { inside = 1; next }
		inside && $1 == ")" { inside = 0; next }
		inside && $1 !~ /^\/\// && NF >= 2 { print $1, $2 }
		$1 == "require" && $2 != "(" { print $2, $3 }' go.mod
}

listed_deb() {
	awk '
		$1 == "Package:" { name = $2 }
		$1 == "Status:" { ok = $2 == "install" && $4 == "installed" }
		$1 == "Version:" && ok { print name, $2 }' var/lib/dpkg/status
}

listed_executable() {
	for d in bin sbin usr/bin usr/sbin usr/local/bin usr/local/sbin; do
		[ -d "$d" ] || continue
		find "$d" -maxdepth 1 -type f -perm /0111
	done
}
