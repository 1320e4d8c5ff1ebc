package verify_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/explain/verify"
)

func TestNames(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"npm test":                              "test",
		"test -f dist/app.js":                   "test-f-dist-app.js",
		"[ -s a.txt ] ":                         "test-s-a.txt",
		"sh -c 'test ! -e old'":                 "test-e-old",
		"./test -v":                             "test",
		"npm t":                                 "test",
		"npm run e2e:login":                     "e2e:login",
		"npm run e2e -- --headed":               "e2e",
		"npm run-script lint":                   "lint",
		"npm --prefix web test":                 "test",
		"npm run -w web build":                  "build",
		"npm exec vitest run":                   "vitest",
		"npm":                                   "npm",
		"pnpm -r test":                          "test",
		"pnpm --filter web test":                "test",
		"pnpm exec playwright test":             "playwright",
		"yarn":                                  "yarn",
		"yarn e2e":                              "e2e",
		"yarn workspace web test":               "test",
		"yarn workspace web run build":          "build",
		"bun test":                              "test",
		"bunx tsc --noEmit":                     "tsc",
		"deno task check":                       "check",
		"turbo run build --filter=web":          "build",
		"nx run app:test":                       "app:test",
		"go test ./...":                         "test",
		"go test -race -count=1 ./...":          "test",
		"go -C sub vet ./...":                   "vet",
		"cargo test --all":                      "test",
		"CI=1 cargo test --all":                 "test",
		"cargo +nightly clippy":                 "clippy",
		"cargo nextest run":                     "nextest",
		"pytest -q":                             "pytest",
		"python -m pytest":                      "pytest",
		"python3.12 -W error -m pytest tests":   "pytest",
		"python -m unittest discover":           "unittest",
		"python manage.py test":                 "test",
		"python scripts/check.py":               "check.py",
		"python -c 'import app'":                "python",
		"uv run pytest":                         "pytest",
		"uv run --with x pytest -q":             "pytest",
		"uv run python -m pytest":               "pytest",
		"poetry run pytest":                     "pytest",
		"bundle exec rspec":                     "rspec",
		"bin/rails test":                        "test",
		"php artisan test":                      "test",
		"vendor/bin/phpunit":                    "phpunit",
		"make":                                  "make",
		"make check":                            "check",
		"make -C build -j4 VERBOSE=1 check":     "check",
		"make clean test":                       "test",
		"mvn -q clean verify":                   "verify",
		"./gradlew :app:test":                   "app:test",
		"dotnet test":                           "test",
		"zig build test":                        "test",
		"node --test":                           "test",
		"node --test test/":                     "test",
		"node scripts/smoke.mjs":                "smoke.mjs",
		"cd x && npm test":                      "test",
		"npm ci && npm run build && npm test":   "test",
		"npm test; echo done":                   "test",
		"npm test 2>&1 | tee log":               "test",
		"npm test || true":                      "test",
		"npm test > out.txt 2>&1":               "test",
		"(cd web; npm run lint)":                "lint",
		"bash -c 'cd x && npm test'":            "test",
		"sh -ec \"go vet ./...\"":               "vet",
		"bash scripts/verify.sh --fast":         "verify.sh",
		"./scripts/verify.sh":                   "verify.sh",
		"/opt/tools/bin/check all":              "check",
		"npx vitest run":                        "vitest",
		"npx --yes @biomejs/biome check":        "biome",
		"env A=1 B=2 npm test":                  "test",
		"timeout -k 5 60 npm test":              "test",
		"time nice -n 5 make check":             "check",
		"sudo -u app xvfb-run -a npm run e2e":   "e2e",
		"NODE_ENV=test npm test # the fast one": "test",
		"npm test\n":                            "test",
		"a-very-long-program-name-that-goes-on": "a-very-long-program-name",
		"./tést & wait":                         "t-st",
		"'./my tests/run all.sh'":               "run-all.sh",
		"":                                      "command",
		"   ":                                   "command",
		"cd x":                                  "command",
		"A=1":                                   "command",
		"...":                                   "command",
		"bash -c 'bash -c \"npm test\"'":        "test",
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	for command, want := range cases {
		if got := verify.Name(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

var safe = regexp.MustCompile(`^[A-Za-z0-9._:+-]{1,24}$`)

func TestNamesAreSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"npm", "run", "sh", "-c", "'", "\"", "&&", "|", "||", "env", "--", "uv", "timeout", "python", "-m", "yarn", "workspace", "\\", ";", "&", "make", ">"}),
			rapid.String(),
		)).Draw(t, "words")
		line := ""
		for _, w := range words {
			line += w + rapid.SampledFrom([]string{" ", "", "\n"}).Draw(t, "between")
		}
		if got := verify.Name(line); !safe.MatchString(got) {
			t.Fatalf("%q: %q", line, got)
		}
	})
}
