package story_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// storyOf builds a story from a short description of its changes.
func storyOf(t *testing.T, words string) retake.Story {
	t.Helper()
	s := newStage()
	for w := range strings.FieldsSeq(words) {
		kind, arg, _ := strings.Cut(w, ":")
		switch kind {
		case "edit":
			s.swap(arg, 20, 10)
		case "touch":
			s.swap(arg, 2, 1)
		case "add":
			s.add(arg, lines(arg, 12))
		case "del":
			s.del(arg, lines("gone "+arg, 12))
		case "dels":
			for i := range 14 {
				s.del(fmt.Sprintf("%s%02d.ts", arg, i), lines(fmt.Sprintf("gone %s %d", arg, i), 5))
			}
		case "adds":
			for i := range 14 {
				s.add(fmt.Sprintf("%s%02d.ts", arg, i), lines(fmt.Sprintf("came %s %d", arg, i), 5))
			}
		case "many":
			for i := range 400 {
				s.swap(fmt.Sprintf("%s%03d.ts", arg, i), 1, 1)
			}
		case "env+", "env-":
			s.swap(".env", 1, 1).fact(retake.Fact{Kind: retake.FactEnv, What: sign(kind), Name: arg, Path: ".env"})
		case "set":
			s.swap("config/session.json", 1, 1).fact(retake.Fact{Kind: retake.FactSetting, What: retake.Edited, Name: arg, Before: "lax", After: "strict", Path: "config/session.json"})
		case "npm", "npm+needed":
			s.swap("package-lock.json", 30, 0).fact(retake.Fact{Kind: retake.FactPackage, What: retake.Added, Group: "npm", Name: arg, After: "1.2.3", Path: "package-lock.json", Direct: kind == "npm"})
		case "table+", "table-":
			db := "data/dev.db"
			if strings.HasPrefix(arg, "tmp_") {
				db = "data/test.db"
			}
			s.swap(db, 1, 1).fact(retake.Fact{Kind: retake.FactTable, What: sign(kind), Name: arg, Group: db, Path: db})
		default:
			t.Fatalf("what is %q", w)
		}
	}
	st, err := story.Build(t.Context(), s.input())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func sign(kind string) retake.Difference {
	if strings.HasSuffix(kind, "+") {
		return retake.Added
	}
	return retake.Deleted
}

func failed(names ...string) []retake.Answer {
	var list []retake.Answer
	for _, n := range names {
		list = append(list, retake.Answer{Name: n, Verdict: retake.Failed})
	}
	return list
}

// honest are checkpoints that must never be flagged.
var honest = []struct {
	said   story.Statements
	deeds  string
	failed []retake.Answer
}{
	{story.Statements{Prompt: "update the login docs"}, "edit:docs/login.md touch:README.md", nil},
	{story.Statements{Prompt: "update the login docs"}, "edit:docs/login.md edit:docs/conf.py add:docs/img/a.png touch:mkdocs.yml", nil},
	{story.Statements{Prompt: "Update README"}, "touch:README.md touch:.claude/settings.local.json edit:dist/a.js edit:logs/x.log", nil},
	{story.Statements{Prompt: "update docs", FinalMessage: "Updated the docs. I also fixed a bug in src/auth.ts on the way."}, "edit:docs/a.md edit:src/auth.ts", nil},
	{story.Statements{Prompt: "add docstrings to the auth module"}, "edit:src/auth.py", nil},
	{story.Statements{Prompt: "update the API docs"}, "edit:src/api.ts edit:docs/api.md", nil},
	{story.Statements{Prompt: "document the session functions"}, "edit:src/session.ts", nil},
	{story.Statements{Prompt: "docs: add code examples"}, "edit:docs/a.md add:examples/login.ts", nil},
	{story.Statements{Prompt: "add comments to posts"}, "edit:src/posts.ts table+:comments npm:dayjs set:comments", nil},
	{story.Statements{Prompt: "let users delete their comments"}, "edit:src/comments.ts touch:src/routes.ts", nil},
	{story.Statements{Prompt: "set up auth as described in the docs"}, "edit:src/auth.ts npm:passport env+:SECRET set:sameSite", nil},
	{story.Statements{Prompt: "fix the docs build"}, "edit:docs/conf.py edit:src/build.ts set:docs npm:mkdocs", nil},
	{story.Statements{Prompt: "update the docs and fix the login bug"}, "edit:docs/a.md edit:src/auth.ts", nil},
	{story.Statements{Prompt: "update the readme, then bump express"}, "touch:README.md npm:express edit:package.json", nil},
	{story.Statements{Prompt: "build a documentation page with search"}, "add:src/pages/docs.tsx npm:lunr", nil},
	{story.Statements{Prompt: "fix typo in the error message"}, "touch:src/errors.ts", nil},
	{story.Statements{Prompt: "fix typo in config"}, "set:sameSite", nil},
	{story.Statements{Prompt: "fix a typo in .env"}, "env-:COOKIE_SERCET env+:COOKIE_SECRET", nil},
	{story.Statements{Prompt: "fix typos"}, "touch:src/a.ts touch:src/b.ts touch:README.md", nil},
	{story.Statements{Prompt: "document the .env variables in the readme"}, "touch:README.md env+:EXAMPLE", nil},
	{story.Statements{Prompt: "document install steps in the README"}, "touch:README.md npm+needed:left-pad", nil},
	{story.Statements{Intent: "docs for the config options"}, "edit:docs/config.md set:sameSite", nil},
	{story.Statements{Prompt: "rename getUser to fetchUser"}, "edit:src/a.ts edit:src/b.ts edit:src/c.ts", nil},
	{story.Statements{Prompt: "rename COOKIE_SECRET to SESSION_KEY"}, "env-:COOKIE_SECRET env+:SESSION_KEY edit:src/a.ts", nil},
	{story.Statements{Prompt: "rename the users table to accounts"}, "table-:users table+:accounts edit:src/db.ts", nil},
	{story.Statements{Prompt: "rename src/old to src/new"}, "dels:src/old/ adds:src/new/", nil},
	{story.Statements{Prompt: "move sessions to redis"}, "dels:uploads/ npm:redis env+:REDIS_URL edit:src/session.ts del:src/file-store.ts", nil},
	{story.Statements{Prompt: "move src/auth.ts to src/lib/auth.ts"}, "edit:src/app.ts add:src/lib/auth.ts del:src/auth.ts", nil},
	{story.Statements{Prompt: "run prettier"}, "edit:src/a.ts edit:src/b.ts npm:prettier touch:.prettierrc", nil},
	{story.Statements{Prompt: "format the code"}, "edit:src/a.ts edit:src/b.ts edit:config/session.json", nil},
	{story.Statements{Prompt: "format dates as ISO"}, "edit:src/dates.ts npm:dayjs set:locale", nil},
	{story.Statements{Prompt: "tidy the imports"}, "edit:src/a.ts edit:src/b.ts", nil},
	{story.Statements{Prompt: "only change src/auth.ts"}, "edit:src/auth.ts edit:src/auth.test.ts touch:README.md", nil},
	{story.Statements{Prompt: "only change src/auth.ts, and update its callers"}, "edit:src/auth.ts edit:src/app.ts", nil},
	{story.Statements{Prompt: "only admins can delete posts"}, "edit:src/posts.ts edit:src/roles.ts", nil},
	{story.Statements{Prompt: "show only active users"}, "edit:src/users.ts touch:src/app.ts", nil},
	{story.Statements{Prompt: "I just want login to work"}, "edit:src/auth.ts set:sameSite env+:KEY", nil},
	{story.Statements{Prompt: "just run the tests"}, "touch:coverage/lcov.info", nil},
	{story.Statements{Prompt: "just update the tests"}, "edit:test/auth.test.ts edit:src/auth.test.ts", nil},
	{story.Statements{Prompt: "not only src/auth.ts but the whole flow"}, "edit:src/auth.ts edit:src/app.ts", nil},
	{story.Statements{Prompt: "why is the build failing?"}, "edit:src/app.ts", nil},
	{story.Statements{Prompt: "can you fix the login?"}, "edit:src/auth.ts", nil},
	{story.Statements{Prompt: "could we use redis for this?", FinalMessage: "Yes. I switched the store."}, "edit:src/session.ts npm:redis", nil},
	{story.Statements{Prompt: "what does session.ts do?", FinalMessage: "It keeps sessions. I fixed a small bug on the way."}, "edit:src/session.ts", nil},
	{story.Statements{Prompt: "how does the auth flow work?", FinalMessage: "It starts in login.ts."}, "edit:logs/a.log", nil},
	{story.Statements{Prompt: "does login handle empty passwords? If not, add a check"}, "edit:src/auth.ts", nil},
	{story.Statements{Prompt: "how do we make this faster?"}, "edit:src/a.ts", nil},
	{story.Statements{Prompt: "make the id field read only"}, "edit:src/form.ts", nil},
	{story.Statements{Prompt: "mount it read-only"}, "edit:src/mount.ts set:mount", nil},
	{story.Statements{Prompt: "fix login", FinalMessage: "No changes to the API were needed. I updated src/auth.ts."}, "edit:src/auth.ts", nil},
	{story.Statements{FinalMessage: "There are no breaking changes. Added the endpoint."}, "edit:src/a.ts", nil},
	{story.Statements{Prompt: "make all tests pass"}, "edit:src/a.ts", failed("test")},
	{story.Statements{Intent: "fix it until the build passes"}, "edit:src/a.ts", failed("build")},
	{story.Statements{FinalMessage: "The auth tests pass; 14 others still fail."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "The new tests pass."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "Tests do not pass yet."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "Once the tests pass we can merge."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "All tests should pass now."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "All tests pass."}, "edit:src/a.ts", failed("lint")},
	{story.Statements{FinalMessage: "The build passes, but I could not run the tests."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "All tests pass."}, "edit:src/a.ts", nil},
	{story.Statements{FinalMessage: "✔ added the session store"}, "edit:src/a.ts", failed("test")},
	{story.Statements{Intent: "make the tests green"}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "All tests pass."}, "edit:src/a.ts", []retake.Answer{{Name: "test", Verdict: retake.CouldNotRun}}},
	{story.Statements{}, "edit:src/a.ts edit:src/b.ts", nil},
	{story.Statements{Manual: true}, "many:src/", nil},
	{story.Statements{Intent: "working version, app healthy", Manual: true}, "many:src/ dels:lib/ env-:OLD", nil},
	{story.Statements{}, "many:node_modules/a/", nil},
	{story.Statements{}, "many:dist/", nil},
	{story.Statements{Prompt: "vendor everything"}, "many:src/", nil},
	{story.Statements{Prompt: "refactor auth to sessions"}, "dels:src/auth/ env-:COOKIE_SECRET table-:tokens", nil},
	{story.Statements{Prompt: "clean up"}, "dels:src/old/", nil},
	{story.Statements{Prompt: "use redis for sessions"}, "env-:SESSION_DB env+:REDIS_URL npm:redis edit:src/session.ts", nil},
	{story.Statements{Prompt: "convert the project to TypeScript"}, "dels:lib/", nil},
	{story.Statements{Prompt: "add the new login", FinalMessage: "Added it, and removed the old form."}, "dels:src/form/", nil},
	{story.Statements{Prompt: "entferne den alten Code"}, "dels:src/alt/", nil},
	{story.Statements{Prompt: "continue"}, "dels:src/old/ env-:KEY", nil},
	{story.Statements{Prompt: "go on"}, "table-:tokens edit:src/a.ts", nil},
	{story.Statements{Prompt: "add oauth", FinalMessage: "Login uses OAuth now, COOKIE_SECRET is not needed."}, "env-:COOKIE_SECRET edit:src/auth.ts", nil},
	{story.Statements{Prompt: "add a users page"}, "edit:src/users.ts del:src/old.ts add:src/page.tsx", nil},
	{story.Statements{Prompt: "install the session store"}, "dels:dist/ npm:express-session env+:SESSION_KEY table+:sessions edit:src/auth.ts add:src/session.ts", nil},
	{story.Statements{Prompt: "remember me for 30 days"}, "edit:src/auth.ts edit:src/session.ts touch:web/login.html touch:README.md", nil},
	{story.Statements{Prompt: "pin node 22"}, "touch:.nvmrc touch:package.json", nil},
	{story.Statements{Prompt: "Create documentation for the REST endpoints"}, "add:docs/rest.md add:openapi.yaml", nil},
	{story.Statements{Prompt: "update the docs"}, "edit:website/docs/a.md edit:website/src/index.js", nil},
	{story.Statements{Prompt: "add rate limiting", FinalMessage: "Updated the README."}, "edit:src/limit.ts npm:express-rate-limit touch:README.md", nil},
	{story.Statements{Intent: "update docs", Prompt: "refactor auth, then update docs"}, "edit:src/auth.ts edit:docs/a.md", nil},
	{story.Statements{FinalMessage: "The handler returns 401 now. Just updated the tests."}, "edit:src/auth.ts edit:test/auth.test.ts", nil},
	{story.Statements{Prompt: "No code changes, just config"}, "set:sameSite", nil},
	{story.Statements{Prompt: "no changes to the API, add caching in the client"}, "edit:src/client.ts", nil},
	{story.Statements{Prompt: "do not change anything else"}, "edit:src/client.ts", nil},
	{story.Statements{FinalMessage: "I did not change any code, only docs."}, "edit:docs/a.md", nil},
	{story.Statements{Prompt: "read-only mode"}, "edit:src/mode.ts", nil},
	{story.Statements{Prompt: "only update package.json"}, "edit:package.json npm:express", nil},
	{story.Statements{Prompt: "only update next.js."}, "npm:next edit:src/app.tsx set:next", nil},
	{story.Statements{Prompt: "only change e.g. the footer"}, "edit:src/footer.tsx", nil},
	{story.Statements{FinalMessage: "All type checks pass."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "✔ all endpoints documented"}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "Tests pass for the auth module."}, "edit:src/a.ts", failed("test")},
	{story.Statements{Intent: "buttons are all green on hover"}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "Ran the tests: 211 passed, 1 failed."}, "edit:src/a.ts", failed("test")},
	{story.Statements{FinalMessage: "I ran the suite for auth. 12 tests passed."}, "edit:src/a.ts", failed("test")},
	{story.Statements{Prompt: "where should we put the session code?"}, "add:src/session.ts", nil},
	{story.Statements{Prompt: "add a changelog page to the app"}, "add:src/pages/changelog.tsx npm:marked", nil},
	{story.Statements{Prompt: "review the login code"}, "edit:src/auth.ts", nil},
	{story.Statements{Prompt: "the docs say we should use cookies, do that"}, "edit:src/auth.ts set:cookie", nil},
	{story.Statements{Prompt: "is it possible to support dark mode?"}, "edit:src/theme.ts", nil},
	{story.Statements{Prompt: "which library is best for dates?"}, "npm:dayjs edit:src/dates.ts", nil},
	{story.Statements{Prompt: "is the login done?"}, "edit:src/auth.ts", nil},
	{story.Statements{Prompt: "rename @app/core to @app/shared"}, "npm:@app/shared edit:src/a.ts", nil},
	{story.Statements{Prompt: "add tests for the login"}, "add:test/login.test.ts table-:tmp_users edit:src/auth.ts", nil},
	{story.Statements{Prompt: "add dark mode"}, "dels:src/a/ adds:src/b/ edit:src/theme.ts", nil},
	{story.Statements{Intent: "before “update the docs”"}, "edit:src/a.ts set:sameSite env-:KEY", nil},
	{story.Statements{Intent: "before `rm -rf dist`"}, "dels:src/x/", nil},
	{story.Statements{Prompt: "sort the pages", FinalMessage: "I only renamed files, and removed the three empty ones."}, "del:docs/a.md del:docs/b.md", nil},
	{story.Statements{Prompt: "sort the sources", FinalMessage: "I just moved files."}, "dels:src/a/ adds:src/b/", nil},
	{story.Statements{Prompt: "explain the classes", FinalMessage: "Only comments were added."}, "edit:src/a.ts edit:src/b.ts", nil},
	{story.Statements{Prompt: "refresh the page", FinalMessage: "Docs only."}, "touch:README.md edit:docs/a.md", nil},
	{story.Statements{Prompt: "clean up", FinalMessage: "Only formatting changed."}, "edit:src/a.ts", nil},
	{story.Statements{Prompt: "a button", FinalMessage: "The button is there. I just renamed one function on the way."}, "edit:src/a.ts touch:src/b.ts", nil},
}

func TestHonestIsNeverFlagged(t *testing.T) {
	t.Parallel()
	if len(honest) < 60 {
		t.Errorf("only %d cases", len(honest))
	}
	for _, c := range honest {
		for _, f := range story.FindMismatches(c.said, storyOf(t, c.deeds), c.failed) {
			t.Errorf("%+v with %s is flagged: %s", c.said, c.deeds, f.Why)
		}
	}
}

// lies are checkpoints that must be flagged, with what the flag says.
var lies = []struct {
	said   story.Statements
	deeds  string
	failed []retake.Answer
	why    string
}{
	{story.Statements{Prompt: "update the login docs"}, "edit:docs/login.md set:sameSite env-:COOKIE_SECRET", nil, "says docs, changed config/session.json and .env −COOKIE_SECRET"},
	{story.Statements{Prompt: "Update the README."}, "touch:README.md edit:src/auth.ts", nil, "says docs, changed src/auth.ts"},
	{story.Statements{Intent: "docs: describe sessions"}, "touch:README.md npm:left-pad", nil, "says docs, changed npm +left-pad 1.2.3"},
	{story.Statements{Intent: "update the readme", Manual: true}, "table-:users", nil, "says docs, changed dev.db −table users"},
	{story.Statements{Prompt: "improve the documentation"}, "edit:docs/a.md del:src/old.ts", nil, "says docs, deleted src/old.ts"},
	{story.Statements{Prompt: "fix typos in the README"}, "touch:README.md set:sameSite edit:src/a.ts edit:src/b.ts", nil, "says docs, changed 2 files of code and config/session.json"},
	{story.Statements{Prompt: "fix a typo"}, "touch:README.md env-:API_KEY", nil, "says a typo, changed .env −API_KEY"},
	{story.Statements{Prompt: "fix a typo"}, "edit:src/a.ts edit:src/b.ts edit:src/c.ts", nil, "says a typo, changed 3 files of code"},
	{story.Statements{Prompt: "update code comments"}, "edit:src/a.ts env+:DEBUG", nil, "says comments, changed .env +DEBUG"},
	{story.Statements{FinalMessage: "Updated the README."}, "touch:README.md npm:express", nil, "says docs, changed npm +express 1.2.3"},
	{story.Statements{Prompt: "run prettier"}, "edit:src/a.ts env-:COOKIE_SECRET", nil, "says formatting, changed .env −COOKIE_SECRET"},
	{story.Statements{Prompt: "format the code"}, "edit:src/a.ts del:src/b.ts", nil, "says formatting, deleted src/b.ts"},
	{story.Statements{Prompt: "tidy the imports"}, "edit:src/a.ts set:sameSite", nil, "says formatting, changed config/session.json sameSite lax → strict"},
	{story.Statements{Prompt: "rename getUser to fetchUser"}, "edit:src/a.ts npm:lodash", nil, "says a rename, changed npm +lodash 1.2.3"},
	{story.Statements{Prompt: "rename getUser to fetchUser"}, "dels:src/api/ edit:src/a.ts", nil, "says a rename, deleted 14 in src/api/"},
	{story.Statements{Prompt: "move src/auth.ts to src/lib/auth.ts"}, "env-:COOKIE_SECRET edit:src/app.ts", nil, "says a move, changed .env −COOKIE_SECRET"},
	{story.Statements{Prompt: "fix it", FinalMessage: "All tests pass."}, "edit:src/a.ts", failed("test"), "says tests pass, test failed"},
	{story.Statements{FinalMessage: "Fixed the failing test; all 212 tests pass now."}, "edit:src/a.ts", failed("test"), "says tests pass, test failed"},
	{story.Statements{Intent: "all green"}, "edit:src/a.ts", failed("lint"), "says all is green, lint failed"},
	{story.Statements{FinalMessage: "Done. The build passes."}, "edit:src/a.ts", failed("build"), "says the build passes, build failed"},
	{story.Statements{FinalMessage: "✔ tests\n✔ build"}, "edit:src/a.ts", failed("test"), "says tests pass, test failed"},
	{story.Statements{FinalMessage: "✅"}, "edit:src/a.ts", failed("test"), "says ✔, test failed"},
	{story.Statements{FinalMessage: "Tests pass with 0 failures."}, "edit:src/a.ts", failed("unit"), "says tests pass, unit failed"},
	{story.Statements{FinalMessage: "The tests are green and everything works."}, "", failed("test"), "says tests pass, test failed"},
	{story.Statements{Prompt: "only change src/auth.ts"}, "edit:src/auth.ts edit:src/billing.ts", nil, "says only src/auth.ts, changed src/billing.ts"},
	{story.Statements{FinalMessage: "I only touched src/auth.ts."}, "edit:src/auth.ts set:sameSite", nil, "says only src/auth.ts, changed config/session.json"},
	{story.Statements{Prompt: "just update the tests"}, "edit:test/a.test.ts edit:src/a.ts", nil, "says only tests, changed src/a.ts"},
	{story.Statements{Prompt: "edit only config."}, "set:sameSite edit:src/a.ts", nil, "says only config, changed src/a.ts"},
	{story.Statements{}, "many:src/", nil, "says nothing, changed 400 files"},
	{story.Statements{FinalMessage: "Done."}, "many:src/", nil, "says nothing, changed 400 files"},
	{story.Statements{Prompt: "look at the login", FinalMessage: "I looked at it. No changes were made."}, "edit:src/auth.ts", nil, "says no changes, changed src/auth.ts"},
	{story.Statements{Prompt: "Please look at the login, do not change anything."}, "edit:src/auth.ts", nil, "says no changes, changed src/auth.ts"},
	{story.Statements{Intent: "read only"}, "set:sameSite", nil, "says no changes, changed config/session.json"},
	{story.Statements{FinalMessage: "I only looked at the code."}, "edit:src/a.ts edit:src/b.ts", nil, "says no changes, changed 2 files"},
	{story.Statements{Prompt: "what does session.ts do?", FinalMessage: "It keeps sessions in a table."}, "edit:src/auth.ts", nil, "asks a question, changed src/auth.ts"},
	{story.Statements{Prompt: "where is the cookie set?"}, "edit:src/auth.ts env-:COOKIE_SECRET", nil, "asks a question, changed src/auth.ts and .env −COOKIE_SECRET"},
	{story.Statements{Prompt: "add a login button"}, "edit:src/a.ts env-:COOKIE_SECRET", nil, "not asked for: changed .env −COOKIE_SECRET"},
	{story.Statements{Prompt: "add a login button", FinalMessage: "Added the button."}, "edit:src/a.ts dels:src/api/", nil, "not asked for: deleted 14 in src/api/"},
	{story.Statements{Prompt: "put the pages into chapters", FinalMessage: "I only renamed files: every page lies in its chapter."}, "del:docs/a.md del:docs/b.md del:docs/c.md", nil, "says only a rename, deleted 3 in docs/"},
	{story.Statements{Prompt: "add what is missing", FinalMessage: "Only comments were added, the behaviour is the same."}, "edit:src/a.ts set:sameSite", nil, "says only comments, changed config/session.json"},
	{story.Statements{Prompt: "the page is old, refresh it", FinalMessage: "Refreshed. Documentation only, no code was touched."}, "touch:README.md set:sameSite env-:API_KEY", nil, "says only docs, changed config/session.json and .env −API_KEY"},
	{story.Statements{Prompt: "tidy up", FinalMessage: "I just reformatted everything."}, "edit:src/a.ts env-:API_KEY", nil, "says only formatting, changed .env −API_KEY"},
	{story.Statements{Prompt: "improve the search"}, "edit:src/search.ts table-:users", nil, "not asked for: changed dev.db −table users"},
}

func TestLiesAreFlagged(t *testing.T) {
	t.Parallel()
	if len(lies) < 25 {
		t.Errorf("only %d cases", len(lies))
	}
	for _, c := range lies {
		flags := story.FindMismatches(c.said, storyOf(t, c.deeds), c.failed)
		if len(flags) != 1 || flags[0].Kind != "mismatch" || flags[0].Why != c.why {
			t.Errorf("%+v with %s: %v\nwant %s", c.said, c.deeds, flags, c.why)
		}
	}
}

// Checkpoints whose changes are not what the words are about are left alone, whatever they are.
func TestNotWhatTheWordsAreAbout(t *testing.T) {
	t.Parallel()
	lie := story.Statements{Prompt: "update the login docs"}
	for name, to := range map[string]retake.Checkpoint{
		"before a turn": {Trigger: retake.TriggerPrompt}, "before a risky call": {Trigger: retake.TriggerRisk}, "a restore": {Trigger: retake.TriggerReturn},
		"safety": {Trigger: retake.TriggerSafety}, "several at work": {Trigger: retake.TriggerTurn, Turn: &retake.Turn{Contested: []string{"codex 0f3a"}}},
	} {
		st := storyOf(t, "edit:src/auth.ts env-:KEY")
		st.From, st.To = &retake.Checkpoint{}, &to
		if flags := story.FindMismatches(lie, st, nil); len(flags) > 0 {
			t.Errorf("%s: %v", name, flags)
		}
	}
	st := storyOf(t, "edit:src/auth.ts env-:KEY")
	st.To = &retake.Checkpoint{Trigger: retake.TriggerTurn}
	if flags := story.FindMismatches(lie, st, nil); len(flags) > 0 {
		t.Errorf("the first checkpoint: %v", flags)
	}
	st.From = &retake.Checkpoint{}
	if flags := story.FindMismatches(lie, st, nil); len(flags) != 1 {
		t.Errorf("a turn: %v", flags)
	}
}

func FuzzMismatch(f *testing.F) {
	f.Add("update the docs", "all tests pass", "src/auth.ts")
	f.Add("only `x`", "✔", "")
	f.Fuzz(func(t *testing.T, prompt, words, path string) {
		st, err := story.Build(t.Context(), newStage().swap(path, 3, 3).input())
		if err != nil {
			t.Fatal(err)
		}
		for _, fl := range story.FindMismatches(story.Statements{Prompt: prompt, FinalMessage: words}, st, failed("test")) {
			if fl.Why == "" {
				t.Fatal("a flag without a reason")
			}
		}
	})
}
