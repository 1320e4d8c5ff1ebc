//go:build linux

package cage

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// seeds are valid files, one of every kind that is read.
var seeds = []struct{ path, text string }{
	{"package.json", `{"name":"shop","version":"1.0.0","scripts":{"test":"vitest"},"dependencies":{"react":"^18.2.0","zod":"3.22.4"}}`},
	{"node_modules/zod/package.json", `{"name":"zod","version":"3.22.4","main":"index.js"}`},
	{"package-lock.json", `{"lockfileVersion":3,"packages":{"":{"dependencies":{"zod":"3.22.4"}},"node_modules/zod":{"version":"3.22.4"},"node_modules/a/node_modules/b":{"version":"1.0.0","optional":true,"os":["linux"]}}}`},
	{"yarn.lock", "# yarn lockfile v1\n\n\"@babel/core@^7.0.0\":\n  version \"7.24.4\"\n  dependencies:\n    a \"^1\"\n\nzod@3.22.4:\n  version \"3.22.4\"\n"},
	{"pnpm-lock.yaml", "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      zod:\n        specifier: ^3\n        version: 3.22.4\npackages:\n  zod@3.22.4:\n    resolution: {integrity: sha512-x}\n"},
	{"bun.lock", `{"lockfileVersion":1,"workspaces":{"":{"dependencies":{"zod":"^3"}}},"packages":{"zod":["zod@3.22.4","",{},"sha512-x"],}}`},
	{"Cargo.lock", "version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"serde 1.0.1\",\n]\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\nsource = \"registry\"\n"},
	{"go.mod", "module example.com/a\n\ngo 1.22\n\nrequire (\n\tgolang.org/x/sys v0.20.0\n\texample.com/b v1.2.3 // indirect\n)\n"},
	{"Gemfile.lock", "GEM\n  remote: https://packages.example/\n  specs:\n    rake (13.0.6)\n    rack (2.2.8-java)\n\nDEPENDENCIES\n  rake!\n"},
	{"composer.lock", `{"packages":[{"name":"monolog/monolog","version":"2.9.1"}],"packages-dev":[{"name":"phpunit/phpunit","version":"10.0"}]}`},
	{"packages.lock.json", `{"version":1,"dependencies":{"net8.0":{"Serilog":{"type":"Direct","resolved":"3.1.1"}}}}`},
	{"mix.lock", "%{\n  \"jason\": {:hex, :jason, \"1.4.1\", \"abc\", [:mix], [], \"hexpm\", \"def\"},\n}\n"},
	{"gradle.lockfile", "# comment\ncom.google.guava:guava:32.1.3-jre=compileClasspath\nempty=annotationProcessor\n"},
	{"pom.xml", "<project><version>1</version><properties><v>2.0</v></properties><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>${v}</version></dependency></dependencies></project>"},
	{"poetry.lock", "[[package]]\nname = \"requests\"\nversion = \"2.31.0\"\n\n[package.source]\ntype = \"legacy\"\n\n[metadata]\nlock-version = \"2.0\"\n"},
	{"Pipfile.lock", `{"default":{"requests":{"version":"==2.31.0"}},"develop":{"pytest":{"version":"==8.0.0"}}}`},
	{"requirements.txt", "requests[security]==2.31.0 ; python_version > '3'\nflask>=2\n# comment\n-r other.txt\n"},
	{".venv/lib/python3.11/site-packages/requests-2.31.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: requests\nVersion: 2.31.0\n\nLong text.\n"},
	{".env", "PORT=3000\nexport KEY=\"a b\"\nCOOKIE_SECRET='x'\n# comment\nMULTI=\"one\ntwo\"\n"},
	{"config.json", `{"server":{"port":3000,"hosts":["a","b"],"tls":null,"ratio":1.5e3},"debug":true}`},
	{"config.yaml", "server: &s\n  port: 3000\n  hosts: [a, b]\nother:\n  <<: *s\n  text: |\n    lines\n---\nb: !!str 1\n"},
	{"config.toml", "title = \"x\"\n[server]\nport = 3000\nhosts = [\"a\", \"b\"]\n[[jobs]]\nname = 'n'\nat = 2024-01-01T00:00:00Z\n"},
	{"deploy/app.service", "[Unit]\nDescription=App\n\n[Service]\nExecStart=/usr/bin/app \\\n  --port 3000\n\n[Install]\nWantedBy=multi-user.target\n"},
	{"etc/cron.d/job", "SHELL=/bin/sh\n*/5 * * * * root /usr/bin/backup --all\n@daily root true\n"},
	{"var/lib/dpkg/status", "Package: bash\nStatus: install ok installed\nVersion: 5.2.15-2\nDescription: shell\n more\n\nPackage: nano\nStatus: deinstall ok config-files\nVersion: 7.2-1\n"},
	{"lib/apk/db/installed", "P:musl\nV:1.2.4-r2\nA:x86_64\n\nP:busybox\nV:1.36.1-r5\n"},
	{"src/app.ts", "export function add(a: number, b: number) {\n  return a + b\n}\n"},
}

// tokens are what parsers react to.
var tokens = []string{
	"[", "]", "{", "}", "[[[[[[[[", "{{{{{{{{", "\"", "'", "`", "'''", "\"\"\"", "\\", "\\u0000", "\\ud800", "\x00", "\xff", "\xfe\xff", "\xed\xa0\x80", "\r", "\n\n\n", "\t",
	"9999999999999999999999999", "-0", "1e999", "0x", "NaN", "null", "&a ", "*a", "<<: *a", "---\n", "...\n", "? ", "- ", "!!binary ", ": ", "= ", "#", "//", "/*", "*/", "<!DOCTYPE", "&amp;", "]]>",
	"..", "/", "node_modules/", "\x1b[2J", "\u202e", "%s%n", "version", "name", "Package: ", "\ufeff",
}

// mutants are valid files that were spoiled in a few places.
func mutants(r *harness.Run, n int) []hostileFile {
	var all []hostileFile
	for i := range n {
		rnd := rand.New(rand.NewSource(r.Seed*100_000 + int64(i)))
		s := seeds[i%len(seeds)]
		all = append(all, hostileFile{name: fmt.Sprintf("%s, spoiled %d", s.path, i), path: s.path, mutant: true, silent: true, bytes: func() ([]byte, error) { return mutate(rnd, []byte(s.text)), nil }})
	}
	return all
}

func mutate(rnd *rand.Rand, b []byte) []byte {
	for range 1 + rnd.Intn(6) {
		at := rnd.Intn(len(b) + 1)
		end := min(at+1+rnd.Intn(40), len(b))
		switch rnd.Intn(7) {
		case 0: // a token, some times
			b = slices.Concat(b[:at], []byte(strings.Repeat(tokens[rnd.Intn(len(tokens))], 1+rnd.Intn(3))), b[at:])
		case 1: // a token very often
			b = slices.Concat(b[:at], []byte(strings.Repeat(tokens[rnd.Intn(len(tokens))], 1+rnd.Intn(5000))), b[at:])
		case 2: // a part is gone
			b = slices.Concat(b[:at], b[end:])
		case 3: // a part comes often
			b = slices.Concat(b[:at], []byte(strings.Repeat(string(b[at:end]), 1+rnd.Intn(500))), b[at:])
		case 4: // the end is gone
			b = slices.Clone(b[:at])
		case 5: // noise
			noise := make([]byte, rnd.Intn(60))
			_, _ = rnd.Read(noise) // never fails
			b = slices.Concat(b[:at], noise, b[at:])
		default: // a byte is another one
			if b = slices.Clone(b); at < len(b) {
				b[at] ^= 1 << rnd.Intn(8)
			}
		}
	}
	if len(b) == 0 {
		b = []byte{'\n'}
	}
	return b
}
