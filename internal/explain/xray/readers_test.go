package xray_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
)

func file(size int64) retake.Entry {
	return retake.Entry{Kind: retake.KindFile, Mode: 0o644, Size: size, Object: "o"}
}

// told writes traits so that they can be read: kind, group, name, value, direct.
func told(r xray.Reading) []string {
	list := []string{}
	for _, t := range r.Traits {
		list = append(list, strings.Join(strings.Fields(fmt.Sprint(t.Kind, " ", t.Group, " ", t.Name, " ", xray.Shown(t.Value), map[bool]string{true: " direct"}[t.Direct])), " "))
	}
	if r.Why != "" {
		list = append(list, "why: "+r.Why)
	}
	slices.Sort(list)
	return list
}

// reader is the one that wants a path, beside those that want every file.
func reader(t *testing.T, path string) string {
	t.Helper()
	names := slices.DeleteFunc(xray.ReadersFor(path, file(1)), func(n string) bool { return n == "mode@1" || n == "secret@1" })
	if len(names) != 1 {
		t.Fatalf("%s: %v", path, names)
	}
	return names[0]
}

// samples are files as programs and people write them, and what they say.
var samples = []struct {
	path, text string
	want       []string
}{
	{"var/lib/dpkg/status", "Package: adduser\nStatus: install ok installed\nVersion: 3.134\nDescription: add users\n more: Package: fake\n\n" +
		"Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\nPackage: half\nStatus: install ok half-installed\nVersion: 1\n\n" +
		"Package: kept\nStatus: hold ok installed\nVersion: 1:2.0-3+b1\n",
		[]string{"package deb adduser 3.134", "package deb kept 1:2.0-3+b1"}},
	{"var/lib/dpkg/status.d/tzdata", "Package: tzdata\nVersion: 2024a-0\n", []string{"package deb tzdata 2024a-0"}},
	{"lib/apk/db/installed", "C:Q1abc=\nP:musl\nV:1.2.5-r0\nA:x86_64\nF:lib\nR:x\n\nP:busybox\nV:1.36.1-r29\n", []string{"package apk busybox 1.36.1-r29", "package apk musl 1.2.5-r0"}},
	{".venv/lib/python3.11/site-packages/typing_extensions-4.12.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: typing_extensions\nVersion: 4.12.2\n\nVersion: 9\n",
		[]string{"package pypi typing-extensions 4.12.2"}},
	{"requirements.txt", "# pins\nFlask==3.0.3 ; python_version > '3.8' \\\n  --hash=sha256:abc\nrequests[socks] >= 2.0\nruamel.yaml===0.18.6\n-r other.txt\n./local\ngit+https://x/y\nhttps://x/y.whl\nstar==1.*\n",
		[]string{"direct pypi flask", "direct pypi requests", "direct pypi ruamel-yaml", "direct pypi star", "package pypi flask 3.0.3 direct", "package pypi ruamel-yaml 0.18.6 direct"}},
	{"Pipfile.lock", `{"default":{"Click":{"version":"==8.1.7"}},"develop":{"pytest":{"version":"==8.2.0"}}}`, []string{"package pypi click 8.1.7", "package pypi pytest 8.2.0"}},
	{"poetry.lock", "[[package]]\nname = \"Idna\"\nversion = \"3.7\"\n[package.dependencies]\nx = \">=1\"\n\n[metadata]\nlock-version = \"2.0\"\n", []string{"package pypi idna 3.7"}},
	{"uv.lock", "version = 1\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\nsource = { virtual = \".\" }\ndependencies = [{ name = \"httpx\" }]\n[package.dev-dependencies]\ndev = [{ name = \"pytest\" }]\n[[package]]\nname = \"httpx\"\nversion = \"0.27.0\"\nsource = { registry = \"https://packages.example/simple\" }\n",
		[]string{"direct pypi httpx", "direct pypi pytest", "package pypi httpx 0.27.0"}},
	{"node_modules/@babel/core/package.json", `{"name":"@babel/core","version":"7.24.0","dependencies":{"a":"1"}}`, []string{"package npm @babel/core 7.24.0"}},
	{"node_modules/.package-lock.json", `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1.0.0"},"node_modules/b/node_modules/a":{"version":"2.0.0"},"node_modules/e":{"version":"1.0.0","optional":true,"os":["linux"]}}}`,
		[]string{"package npm a 1.0.0", "package npm a 2.0.0", "package npm e 1.0.0"}},
	{"package-lock.json", `{"lockfileVersion":3,"packages":{"":{"name":"app","dependencies":{"a":"^1"},"devDependencies":{"@s/b":"2"}},"node_modules/a":{"version":"1.0.0"},"node_modules/@s/b":{"version":"2.1.0","dev":true},
		"node_modules/al":{"name":"real","version":"3.0.0"},"packages/w":{"version":"1.0.0"},"node_modules/w":{"resolved":"packages/w","link":true},"node_modules/fsevents":{"version":"2.3.3","optional":true,"os":["darwin"]}}}`,
		[]string{"direct npm @s/b", "direct npm a", "maybe npm fsevents 2.3.3", "package npm @s/b 2.1.0", "package npm a 1.0.0", "package npm real 3.0.0"}},
	{"old/package-lock.json", `{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","dependencies":{"b":{"version":"2.0.0"}}},"al":{"version":"npm:@s/real@4.2.0"},"g":{"version":"git+ssh://x#1"}}}`,
		[]string{"package npm @s/real 4.2.0", "package npm a 1.0.0", "package npm b 2.0.0"}},
	{"yarn.lock", "# yarn lockfile v1\n\n\n\"@babel/core@^7.0.0\", \"@babel/core@^7.1.0\":\n  version \"7.24.0\"\n  resolved \"https://x\"\n  dependencies:\n    version \"9\"\n\nalias@npm:left-pad@^1.0.0:\n  version \"1.3.0\"\n\nold@1:\n  \"version\" \"1.0.0\"\n",
		[]string{"package npm @babel/core 7.24.0", "package npm left-pad 1.3.0", "package npm old 1.0.0"}},
	{"berry/yarn.lock", "__metadata:\n  version: 8\n\n\"app@workspace:.\":\n  version: 0.0.0-use.local\n  resolution: \"app@workspace:.\"\n\n\"ms@npm:^2.1.0\":\n  version: 2.1.3\n  resolution: \"ms@npm:2.1.3\"\n  checksum: 1\n",
		[]string{"package npm ms 2.1.3"}},
	{"pnpm-lock.yaml", "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      react:\n        specifier: ^18\n        version: 18.3.1\n\npackages:\n\n  '@types/node@20.0.0':\n    resolution: {integrity: x}\n\n  react@18.3.1:\n    resolution: {integrity: x}\n\n  fsevents@2.3.3:\n    os: [darwin]\n\nsnapshots:\n\n  react@18.3.1: {}\n",
		[]string{"direct npm react", "maybe npm fsevents 2.3.3", "package npm @types/node 20.0.0", "package npm react 18.3.1"}},
	{"old/pnpm-lock.yaml", "lockfileVersion: 5.4\n\ndependencies:\n  a: 1.0.0\n\npackages:\n\n  /a/1.0.0_react@17.0.2:\n    dev: false\n  /@s/b/2.0.0:\n    dev: true\n", []string{"direct npm a", "package npm @s/b 2.0.0", "package npm a 1.0.0"}},
	{"six/pnpm-lock.yaml", "lockfileVersion: '6.0'\n\npackages:\n\n  /a@1.0.0(react@17.0.2):\n    dev: false\n\n  b@https://x/tar.gz/1:\n    version: 6.0.1\n", []string{"package npm a 1.0.0", "package npm b 6.0.1"}},
	{"bun.lock", "{\n  \"lockfileVersion\": 1,\n  \"workspaces\": {\"\": {\"name\": \"app\", \"dependencies\": {\"ms\": \"^2\",},},},\n  \"packages\": {\n    \"ms\": [\"ms@2.1.3\", \"\", {}, \"sha\"],\n    \"w\": [\"w@workspace:packages/w\"],\n    \"f\": [\"f@1.0.0\", \"\", {\"os\": \"darwin\"}, \"sha\"],\n  }\n}\n",
		[]string{"direct npm ms", "maybe npm f 1.0.0", "package npm ms 2.1.3"}},
	{"go.mod", "module example.com/app\n\ngo 1.22\n\nrequire github.com/BurntSushi/toml v1.6.0\n\nrequire (\n\tgolang.org/x/sys v0.1.0 // indirect\n)\n\nreplace a => b v1.0.0\n",
		[]string{"package golang github.com/BurntSushi/toml v1.6.0 direct", "package golang golang.org/x/sys v0.1.0"}},
	{"Cargo.lock", "version = 3\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"serde 1.0.200\",\n]\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.200\"\nsource = \"registry+https://packages.example/index\"\n",
		[]string{"direct cargo serde", "package cargo serde 1.0.200"}},
	{"vendor/bundle/ruby/3.1.0/specifications/rack-3.0.8.gemspec", "# -*- encoding: utf-8 -*-\nGem::Specification.new do |s|\n  s.name = \"rack\".freeze\n  s.version = \"3.0.8\"\n\n  s.required_rubygems_version = \"9\"\n", []string{"package gem rack 3.0.8"}},
	{"Gemfile.lock", "PATH\n  remote: .\n  specs:\n    mine (0.1.0)\n\nGEM\n  remote: https://packages.example/\n  specs:\n    nokogiri (1.16.5-x86_64-linux)\n      racc (~> 1.4)\n    racc (1.8.0)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  nokogiri (~> 1.16)\n  mine!\n\nBUNDLED WITH\n   2.5.9\n",
		[]string{"direct gem mine", "direct gem nokogiri", "package gem nokogiri 1.16.5", "package gem racc 1.8.0"}},
	{"composer.lock", `{"packages":[{"name":"monolog/monolog","version":"3.6.0"}],"packages-dev":[{"name":"phpunit/phpunit","version":"11.1.3"}]}`, []string{"package composer monolog/monolog 3.6.0", "package composer phpunit/phpunit 11.1.3"}},
	{"vendor/composer/installed.json", `{"packages":[{"name":"psr/log","version":"3.0.0"}],"dev":true,"dev-package-names":[]}`, []string{"package composer psr/log 3.0.0"}},
	{"packages.lock.json", `{"version":1,"dependencies":{"net8.0":{"Serilog":{"type":"Direct","requested":"[3.1.1, )","resolved":"3.1.1"},"X":{"type":"Transitive","resolved":"1.0.0"}}}}`, []string{"package nuget Serilog 3.1.1 direct", "package nuget X 1.0.0"}},
	{"mix.lock", "%{\n  \"jason\": {:hex, :jason, \"1.4.1\", \"af1\", [:mix], [], \"hexpm\", \"fbb\"},\n}\n", []string{"package hex jason 1.4.1"}},
	{"gradle.lockfile", "# comment\norg.slf4j:slf4j-api:2.0.13=compileClasspath,runtimeClasspath\nempty=annotationProcessor\n", []string{"package maven org.slf4j:slf4j-api 2.0.13"}},
	{"pom.xml", "<project><version>1</version><properties><j>5.10.2</j></properties><dependencies><dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><version>${j}</version></dependency><dependency><groupId>g</groupId><artifactId>a</artifactId></dependency></dependencies></project>",
		[]string{"package maven org.junit:junit 5.10.2 direct"}},
	{"package.json", `{"name":"app","version":"1.0.0","scripts":{"test":"vitest"},"dependencies":{"react":"^18"},"devDependencies":{"vitest":"1"},"bundledDependencies":["react"]}`,
		[]string{"direct npm react", "direct npm vitest", "setting name app", "setting scripts.test vitest", "setting version 1.0.0"}},
	{"composer.json", `{"name":"a/b","require":{"php":">=8","monolog/monolog":"^3"}}`, []string{"direct composer monolog/monolog", "direct composer php", "setting name a/b"}},
	{"Cargo.toml", "[package]\nname = \"app\"\nedition = \"2021\"\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n",
		[]string{"direct cargo libc", "direct cargo serde", "setting package.edition 2021", "setting package.name app"}},
	{"pyproject.toml", "[project]\nname = \"app\"\ndependencies = [\"Flask>=3\"]\n[dependency-groups]\ndev = [\"pytest\"]\n[tool.poetry.group.docs.dependencies]\nmkdocs = \"1\"\n[tool.ruff]\nline-length = 100\n",
		[]string{"direct pypi flask", "direct pypi mkdocs", "direct pypi pytest", "setting project.name app", "setting tool.ruff.line-length 100"}},
	{"tsconfig.json", "\ufeff{\n  // what we want\n  \"compilerOptions\": {\"strict\": true, \"lib\": [\"dom\", \"es2022\",], \"x\": null, \"url\": \"http://a/*b*/\"}, /* end */\n}\n",
		[]string{"setting compilerOptions.lib.0 dom", "setting compilerOptions.lib.1 es2022", "setting compilerOptions.strict true", "setting compilerOptions.url http://a/*b*/", "setting compilerOptions.x null"}},
	{"config/app.json", `{"port":8080,"big":1e400,"html":"<b>&","line":"a\nb","twice":1,"twice":2,"empty":{},"none":[]}`,
		[]string{"setting big 1e400", "setting html <b>&", `setting line a\nb`, "setting port 8080", "setting twice 2"}},
	{"docker-compose.yml", "x: &d\n  restart: always\n  n: 0x10\nservices:\n  web:\n    <<: *d\n    n: 3\n    ports: [\"80:80\"]\n    on: yes\n    ratio: 1.50\n    none: ~\n---\nkind: second\n",
		[]string{"setting 1.kind second", "setting services.web.n 3", "setting services.web.none null", "setting services.web.on yes", "setting services.web.ports.0 80:80", "setting services.web.ratio 1.5", "setting services.web.restart always", "setting x.n 16", "setting x.restart always"}},
	{"fly.toml", "app = \"x\"\nday = 2024-05-01\nat = 2024-05-01T10:00:00Z\nratio = 1.0\n[[services]]\nport = 8_080\n",
		[]string{"setting app x", "setting at 2024-05-01T10:00:00Z", "setting day 2024-05-01", "setting ratio 1", "setting services.0.port 8080"}},
	{"etc/systemd/system/api.service", "[Unit]\nDescription=x\n[Service]\nExecStart=/usr/bin/old\nExecStart=\nExecStart=/usr/bin/node \\\n  /srv/api.js\nRestart=always\n", []string{"unit /usr/bin/node /srv/api.js"}},
	{"usr/lib/systemd/system/b.timer", "[Timer]\nOnCalendar=daily\nOnBootSec=5min\n[Install]\nWantedBy=timers.target\n", []string{"unit daily"}},
	{"deploy/c.socket", "[Socket]\nListenStream=8080\n", []string{"unit 8080"}},
	{"x.service", "[D-BUS Service]\nName=org.x\nExec=/usr/bin/x\n", []string{}},
	{"etc/crontab", "SHELL=/bin/sh\n# m h\n17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly\n@daily root backup --token " + strings.Repeat("a8Kd93jfLs02mQpZx7Yt", 1) + "\n",
		[]string{"cron backup --token [masked: token] @daily", "cron cd / && run-parts --report /etc/cron.hourly 17 * * * *"}},
	{"var/spool/cron/crontabs/bob", "*/5 * * * MON-FRI /usr/bin/sync  --all # now\nMAILTO=bob\n", []string{"cron /usr/bin/sync --all # now */5 * * * MON-FRI"}},
}

func TestReadersReadWhatProgramsWrite(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		if d := cmp.Diff(s.want, told(xray.ReadBytes(reader(t, s.path), []byte(s.text), nil))); d != "" {
			t.Errorf("%s (-want +got):\n%s", s.path, d)
		}
	}
}

// TestEveryReaderHasASample holds that no reader is without a test.
func TestEveryReaderHasASample(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{"secret@1": true, "env@1": true, "sqlite@1": true, "rpm@1": true, "rpm-old@1": true, "crontab@1": true} // have tests of their own
	for _, s := range samples {
		seen[reader(t, s.path)] = true
	}
	for _, name := range xray.Names() {
		if !seen[name] && name != "pnpm-listed@1" { // the same as pnpm-lock
			t.Errorf("%s has no sample", name)
		}
	}
}

func TestWhoWantsAFile(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"src/main.go":                                        "mode secret",
		"node_modules/a/yarn.lock":                           "mode",
		"node_modules/a/lib/package.json":                    "mode",
		"node_modules/a/package.json":                        "mode npm-installed",
		"node_modules/a/config.json":                         "mode",
		"node_modules/.pnpm/lock.yaml":                       "mode pnpm-listed",
		"node_modules/.pnpm/a@1/node_modules/a/package.json": "mode npm-installed",
		"testdata/go.mod":                                    "mode secret",
		"dist/settings.json":                                 "mode",
		"vendor/x/config.yaml":                               "mode",
		".git/config":                                        "mode",
		".env":                                               "mode env secret",
		".env.local":                                         "mode env secret",
		"prod.env":                                           "mode env secret",
		".env.d.ts":                                          "mode secret",
		"data/app.db":                                        "mode sqlite",
		"var/lib/rpm/rpmdb.sqlite":                           "mode rpm",
		"usr/lib/sysimage/rpm/Packages.db":                   "mode rpm-old",
		"logo.png":                                           "mode",
		"tsconfig.tsbuildinfo":                               "mode",
		"etc/cron.d/job":                                     "mode crontab-system secret",
		"jobs/nightly.cron":                                  "mode crontab secret",
		"requirements/dev.txt":                               "mode requirements secret",
		"a/_vendor/b-1.dist-info/METADATA":                   "mode",
	} {
		var got []string
		for _, n := range xray.ReadersFor(path, file(1)) {
			got = append(got, strings.TrimSuffix(n, "@1"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
}

func TestReadersByEntry(t *testing.T) {
	t.Parallel()
	run := retake.Entry{Kind: retake.KindFile, Mode: 0o755, Size: 1}
	link := retake.Entry{Kind: retake.KindSymlink, Mode: 0o777, Size: 1}
	for _, c := range []struct {
		path  string
		entry retake.Entry
		want  string
	}{
		{"usr/local/bin/tool", run, "mode@1 executable@1 secret@1"}, {"bin/tool", run, "mode@1 executable@1 secret@1"},
		{"home/bob/.local/bin/tool", run, "mode@1 executable@1 secret@1"}, {"bin/tool", file(1), "mode@1 secret@1"},
		{"bin/deep/tool", run, "mode@1 secret@1"}, {"node_modules/.bin/tool", run, "mode@1"}, {".venv/bin/tool", run, "mode@1"}, {"usr/bin/link", link, ""},
		{"src", retake.Entry{Kind: retake.KindDir, Mode: 0o755}, ""}, {"empty.json", file(0), "mode@1"}, {"big.txt", file(2<<20 + 1), "mode@1"},
		{"blob", file(4096), "mode@1 sqlite@1 secret@1"}, {"blob", file(4097), "mode@1 secret@1"},
	} {
		if got := strings.Join(xray.ReadersFor(c.path, c.entry), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	if xray.IsCacheable("mode@1") || xray.IsCacheable("executable@1") || !xray.IsCacheable("env@1") {
		t.Error("what depends on an entry may not be kept by its object")
	}
}
