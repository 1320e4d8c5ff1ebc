package verify_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/explain/verify"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	cases := map[string]string{ // "" is no claim
		"All tests pass":                                                   "test",
		"All tests pass.":                                                  "test",
		"All 212 tests pass now.":                                          "test",
		"212 tests passing":                                                "test",
		"212 passed, 0 failed":                                             "test",
		"212/212 passing":                                                  "test",
		"Done. The test suite is green.":                                   "test",
		"I ran the full test suite and everything passes.":                 "test",
		"I ran `npm test` and all 14 specs passed.":                        "test",
		"Fixed the login. Tests are passing again.":                        "test",
		"✅ All tests passing":                                              "test",
		"**All tests pass** ✅":                                             "test",
		"- Refactored auth\n- All unit tests pass with no failures":        "test",
		"Tests were failing because of the clock. Now all tests pass.":     "test",
		"The tests no longer fail; the whole suite passes.":                "test",
		"I verified that all tests pass.":                                  "test",
		"Tests: 212 passed":                                                "test",
		"pytest passes on 3.12 and 3.13":                                   "test",
		"The build and the tests pass.":                                    "test",
		"All tests pass. You can run them with `npm test`.":                "test",
		"All tests were successful.":                                       "test",
		"All green!":                                                       "test",
		"Everything passes":                                                "test",
		"All tests pass. I did not add new tests.":                         "test",
		"The e2e tests pass locally (12 s).":                               "test",
		"Build succeeds":                                                   "build",
		"The build passes.":                                                "build",
		"The project builds cleanly.":                                      "build",
		"It compiles without errors.":                                      "build",
		"The build was successful.":                                        "build",
		"The build is green, but I did not run the tests.":                 "build",
		"Not all tests pass":                                               "",
		"Tests should pass once you install redis.":                        "",
		"Make sure the tests pass before merging.":                         "",
		"I did not run the tests.":                                         "",
		"I haven't run the test suite yet.":                                "",
		"The tests will pass after a rebuild.":                             "",
		"If the tests pass, merge it.":                                     "",
		"Most tests pass.":                                                 "",
		"198 of 212 tests pass.":                                           "",
		"198/212 passing":                                                  "",
		"All tests pass except the login test.":                            "",
		"All unit tests pass. Two e2e tests still fail.":                   "",
		"14 tests failed, 198 passed":                                      "",
		"Do the tests pass?":                                               "",
		"Run the tests to verify they pass.":                               "",
		"I added a test for passing expired tokens.":                       "",
		"The function passes the token to the test helper.":                "",
		"I added tests for the parser.":                                    "",
		"The tests couldn't pass without network.":                         "",
		"I was unable to run the tests here.":                              "",
		"Next, let me make the tests green.":                               "",
		"The build fails.":                                                 "",
		"The build should succeed now.":                                    "",
		"I updated the build script to pass the version.":                  "",
		"Hello, how can I help?":                                           "",
		"":                                                                 "",
		"The tests seem to pass.":                                          "",
		"All tests pass. Correction: one of them fails in the test suite.": "",
		"I wrote the docs and tested nothing.":                             "",
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	for words, want := range cases {
		name, ok := verify.FindClaim(words)
		if name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", words, name, ok, want)
		}
	}
}
