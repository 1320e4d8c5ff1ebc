package story_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// What a plan says of a file is what the story says: rows, packages, settings, keys.
func TestU9_MeaningsOfEveryKind(t *testing.T) {
	t.Parallel()
	got := story.DescribeFacts([]retake.Fact{
		{Kind: retake.FactRows, What: retake.Edited, Name: "users", Before: "20", After: "500", Path: "shop.db"},
		{Kind: retake.FactPackage, What: retake.Edited, Group: "npm", Name: "express", Before: "4.0.0", After: "5.0.0", Path: "package-lock.json"},
		{Kind: retake.FactSetting, What: retake.Edited, Name: "server.port", Before: "3000", After: "8080", Path: "config/app.yaml"},
		{Kind: retake.FactEnv, What: retake.Added, Name: "API_KEY", Path: ".env"},
	})
	want := map[string]string{
		"shop.db": "users 20 → 500 rows", "package-lock.json": "npm express 4.0.0 → 5.0.0",
		"config/app.yaml": "server.port 3000 → 8080", ".env": "+API_KEY",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
