package pathclass_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// classes are paths by their class, one class a row.
var classes = map[pathclass.Class]string{
	pathclass.Source: `main.go src/auth.ts src/routes/login.tsx web/login.html app/models/user.rb lib/worker.ex crates/core/src/lib.rs
		internal/build/build.go src/build/index.ts src/log/logger.ts pkg/cache/cache.go cache/cache.go log/log.go cmd/out/main.go tmp/migrate.sql
		Makefile CMakeLists.txt Rakefile src/app.component.ts src/users/users.service.ts ios/App/AppDelegate.swift android/app/src/main/java/com/x/Main.java
		db/migrate/20240101_users.rb migrations/0001_init.sql prisma/schema.prisma infra/main.tf notebooks/a.ipynb
		locales/en.json src/locales/de.json i18n/fr.yml po/de.po Base.lproj/Main.strings src/data/countries.json data/users.csv
		public/index.html styles/site.css bin/run src/environment.ts src/env.d.ts robots.txt contracts/Token.sol src/bin/tool.rs
		internal/platform/config/config.go src/config/index.ts deploy/deploy.sh scripts/release.sh src/base/x.ts src/index.js src/target/pick.ts`,
	pathclass.Test: `test/auth.test.ts src/auth.test.ts src/auth.spec.js auth_test.go tests/test_login.py test_login.py spec/user_spec.rb src/test/java/com/x/AuthTest.java
		app/AuthTests.cs cypress/login.cy.js e2e/login.ts __tests__/a.js __snapshots__/a.snap testdata/a.json tests/fixtures/x.yml conftest.py test/`,
	pathclass.Docs: `README.md README docs/login.md docs/conf.py doc/guide.rst CHANGELOG.md LICENSE CONTRIBUTING.adoc notes.txt docs/img/a.png mkdocs.yml .readthedocs.yaml
		docusaurus.config.js openapi.yaml api/swagger.json _config.yml book.toml CODE_OF_CONDUCT man/retake.1 web/docs/x.html .github/PULL_REQUEST_TEMPLATE.md docs/`,
	pathclass.Asset: "logo.png public/img/a.jpg fonts/x.woff2 data/model.onnx backup.tar.gz gradle/wrapper/gradle-wrapper.jar uploads/avatars/7.webp report.pdf",
	pathclass.Manifest: `package.json web/package.json go.mod Cargo.toml pyproject.toml requirements.txt requirements-dev.txt Gemfile composer.json pom.xml build.gradle.kts
		App/App.csproj mix.exs Podfile Package.swift pubspec.yaml x.gemspec docs/package.json`,
	pathclass.Lock: `package-lock.json yarn.lock pnpm-lock.yaml bun.lockb go.sum Cargo.lock poetry.lock uv.lock Pipfile.lock Gemfile.lock composer.lock mix.lock
		Podfile.lock pubspec.lock flake.lock .terraform.lock.hcl web/package-lock.json gradle.lockfile packages.lock.json other.lock`,
	pathclass.Settings: `config/session.json config/app.php config/environments/production.rb config/config.exs tsconfig.json tsconfig.build.json web/tsconfig.json vite.config.ts webpack.config.js
		.eslintrc.json .prettierrc .prettierrc.js .editorconfig .nvmrc .gitignore .gitattributes .dockerignore Dockerfile Dockerfile.dev docker-compose.yml compose.yaml web/Dockerfile
		.github/workflows/ci.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile k8s/deployment.yaml charts/app/values.yaml ansible/site.yml
		app.service deploy/systemd/backup.timer etc/systemd/system/app.service etc/cron.d/backup crontab cron.daily/rotate etc/nginx/nginx.conf nginx/site.conf
		.bashrc .zshrc .profile .ssh/config .gitconfig .claude/settings.local.json .vscode/settings.json .husky/pre-commit .git/hooks/pre-commit
		appsettings.json appsettings.Development.json App/Web.config application.properties src/main/resources/application.yml setup.conf Procfile terraform.tfvars server.key .storybook/main.ts settings.py vercel.json etc/profile.d/x.sh var/spool/cron/crontabs/root ios/App/Info.plist`,
	pathclass.Env: ".env .env.local .env.example api/.env prod.env .envrc .dev.vars",
	pathclass.Dependency: `node_modules/express/index.js web/node_modules/a/dist/b.js node_modules/.package-lock.json vendor/github.com/x/y/z.go vendor/autoload.php .venv/lib/python3.12/site-packages/flask/app.py
		venv/bin/python env/lib/python3.11/os.py lib/python3/site-packages/a.py x-1.0.dist-info/METADATA Pods/A/a.m .yarn/cache/a.zip .pnp.cjs .cargo/registry/a/b.rs
		.m2/repository/a/b.jar elm-stuff/0.19/a .terraform/providers/x deps/phoenix/README.md usr/lib/x86_64-linux-gnu/libc.so var/lib/dpkg/status usr/bin/jq bower_components/a.js node_modules/ .tox/py/x`,
	pathclass.Build: `dist/app.js dist/ packages/a/dist/index.d.ts build/main.css build/lib/pkg/x.py out/a.html target/debug/app target/classes/A.class .next/server/a.js .nuxt/a .svelte-kit/b _build/dev/x.beam
		app/build/outputs/a.apk app/build/generated/R.java bin/Debug/net8.0/a.dll obj/Debug/x coverage/lcov.info htmlcov/index.html cmake-build-debug/a bazel-out/x src/foo.egg-info/PKG-INFO
		main.o app.exe lib/a.js.map static/site.min.js tsconfig.tsbuildinfo storybook-static/i.html cdk.out/a.json coverage.out DerivedData/x zig-out/bin/a playwright-report/index.html`,
	pathclass.Cache: `.cache/a .turbo/b __pycache__/a.cpython-312.pyc .pytest_cache/v/x .mypy_cache/a .DS_Store Thumbs.db .auth.ts.swp src/auth.ts~ .#auth.ts #auth.ts# tmp/x.json tmp/pids/server.pid app.pid app.sock
		.eslintcache .gradle/x .idea/workspace.xml a.tmp storage/framework/views/a.php .parcel-cache/x .dart_tool/y cache/data.bin var/cache/apt/x 4913 core.1234`,
	pathclass.Log:      "logs/app.txt log/development.log app.log app.log.1 npm-debug.log var/log/syslog storage/logs/laravel.log nohup.out .bash_history x.log.gz",
	pathclass.Database: "data/dev.db app.sqlite3 db.sqlite dev.db-wal dev.db-shm app.sqlite-journal dump.rdb a.duckdb pgdata/base/1/2 base/16384/2619 var/lib/postgresql/16/main/x",
	pathclass.Git:      ".git/HEAD .git/objects/ab/cd .git/hooks/pre-commit.sample .git/logs/HEAD .git/config .git .hg/store/a repo.git/objects/aa .svn/wc.db .jj/x",
}

func TestOf(t *testing.T) {
	t.Parallel()
	n := 0
	for want, paths := range classes {
		for path := range strings.FieldsSeq(paths) {
			n++
			if got := pathclass.Of(path); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d paths", n)
	}
}

func TestThemes(t *testing.T) {
	t.Parallel()
	for class, want := range map[pathclass.Class]retake.Theme{
		pathclass.Source: retake.ThemeSource, pathclass.Test: retake.ThemeSource, pathclass.Docs: retake.ThemeSource, pathclass.Asset: retake.ThemeSource,
		pathclass.Manifest: retake.ThemeSource, pathclass.Lock: retake.ThemeSource, pathclass.Settings: retake.ThemeSettings, pathclass.Env: retake.ThemeSettings,
		pathclass.Dependency: retake.ThemePackages, pathclass.Build: retake.ThemeBuild, pathclass.Cache: retake.ThemeMoving, pathclass.Log: retake.ThemeMoving,
		pathclass.Database: retake.ThemeDatabase, pathclass.Git: retake.ThemeGit,
	} {
		if got := class.Theme(); got != want {
			t.Errorf("%s is told as %s, want %s", class, got, want)
		}
	}
	if len(classes) != 14 {
		t.Errorf("%d classes have paths, want all 14", len(classes))
	}
}

func TestMoving(t *testing.T) {
	t.Parallel()
	for path := range strings.FieldsSeq("logs/a.txt app.log tmp/x.json app.pid a.sock dev.db-wal dev.db-shm x.sqlite-journal .cache/a __pycache__/a.pyc .a.swp var/log/syslog .idea/workspace.xml") {
		if !pathclass.IsVolatile(path) {
			t.Errorf("%s does not move", path)
		}
	}
	for path := range strings.FieldsSeq("dev.db data/app.sqlite src/log/logger.go dist/a.js node_modules/a.js .env .git/HEAD notes-wal README.md package-lock.json") {
		if pathclass.IsVolatile(path) {
			t.Errorf("%s moves", path)
		}
	}
}

func TestTop(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"node_modules/a/dist/b.js": "node_modules/", "web/node_modules/a": "web/node_modules/", "dist/a/b.js": "dist/", "src/a.ts": "", "a.log": "",
		".git/objects/a": ".git/", "bin/Debug/a.dll": "bin/Debug/", "logs/x": "logs/", "usr/lib/a/b": "usr/lib/", "dist/": "dist/", "": "",
	} {
		if got := pathclass.DecidingDir(path); got != want {
			t.Errorf("top of %q is %q, want %q", path, got, want)
		}
	}
}

func TestManager(t *testing.T) {
	t.Parallel()
	for want, paths := range map[string]string{
		"npm":       "node_modules/a/b.js web/node_modules/a package.json yarn.lock web/pnpm-lock.yaml .yarn/cache/a.zip",
		"pypi":      ".venv/lib/python3.12/site-packages/a.py a-1.dist-info/METADATA requirements-dev.txt poetry.lock pyproject.toml env/lib/a.py",
		"golang":    "go.mod tools/go.sum vendor/github.com/a/b.go vendor/modules.txt pkg/mod/a",
		"composer":  "vendor/autoload.php vendor/symfony/console/A.php composer.lock",
		"gem":       "vendor/bundle/ruby/3.3.0/a.rb Gemfile a.gemspec",
		"cargo":     "Cargo.toml Cargo.lock .cargo/registry/a",
		"maven":     "pom.xml build.gradle .m2/repository/a.jar",
		"nuget":     "App/App.csproj packages.lock.json",
		"hex":       "mix.exs deps/plug/mix.exs",
		"cocoapods": "Pods/A/a.m Podfile.lock",
		"deb":       "var/lib/dpkg/status",
		"apk":       "lib/apk/db/installed",
		"rpm":       "var/lib/rpm/rpmdb.sqlite",
		"pub":       "pubspec.lock",
		"":          "src/auth.ts README.md config/app.json dist/a.js usr/bin/jq .env",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := pathclass.Manager(path); got != want {
				t.Errorf("%s is of %q, want %q", path, got, want)
			}
		}
	}
}

// Every path has a class, also a hostile one, and what lies below a directory that
// decides has the class of the directory.
func TestLawEveryPath(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", ".", "..", ".git", "hooks", "src", "dist", "node_modules", "log", "\xff", "00.\x80", "a.log", "~", ".", "#", "x.db-wal", "etc", "config", "build"}))
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), "/")
		c := pathclass.Of(path)
		if !slices.Contains(retake.Themes, c.Theme()) {
			t.Fatalf("%q has no theme", path)
		}
		top := pathclass.DecidingDir(path)
		if !strings.HasPrefix(path, top) || top != "" && !strings.HasSuffix(top, "/") {
			t.Fatalf("%q lies below %q", path, top)
		}
		if pathclass.IsVolatile(path) && c != pathclass.Cache && c != pathclass.Log && c != pathclass.Database {
			t.Fatalf("%q moves as %s", path, c)
		}
		pathclass.Manager(path)
	})
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		pathclass.Of("packages/web/src/components/login/form/LoginForm.test.tsx")
	}
}
