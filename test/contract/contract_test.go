//go:build linux

package contract_test

import (
	"testing"

	"github.com/retake-dev/retake/test/contract"
)

// Every example of the description is accepted, every listed error happens, and all answers fit
// their schemas.
func TestDescriptionIsKept(t *testing.T) {
	t.Parallel()
	b, err := contract.Open(t.TempDir(), "../../api")
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range b.Unseen() {
		t.Errorf("nobody sees: %s", what)
	}
	r := b.Run()
	for _, f := range r.Failures {
		t.Error(f)
	}
	if r.Examples < 250 || r.Errors < 350 {
		t.Errorf("only %d examples and %d errors", r.Examples, r.Errors)
	}
	t.Logf("%d examples, %d errors", r.Examples, r.Errors)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
