package cli_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// hostileWords are what somebody may call a thing: long, and with codes that a terminal obeys.
const hostileWords = "\x1b[2Jsomething with a name that is far longer than any column of a table has room for\n, and goes on"

const longID = "key_01a1e0dd-13c6-77fc-aada-8e79ac4b90e4"

// serverScreens are all screens of a server, filled with the worst.
func serverScreens(l cli.Look) map[string]string {
	then, ahead := at(9, 41), now.Add(72*time.Hour)
	url := "https://hooks.example.com/" + strings.Repeat("deep/", 30) + "end"
	names := map[retake.WorkspaceID]string{"ws_1": "shopfront"}
	tries := []retake.Try{{At: then, Status: 500, Why: hostileWords, Took: 2 * time.Second}, {At: then, Why: hostileWords}}
	hooks := []retake.Webhook{
		{ID: "wh_1", URL: url, Created: then, Disabled: &then, Why: hostileWords, Scheme: retake.SchemePair, Types: retake.EventTypes},
		{ID: "wh_2", URL: url, Created: then, Scheme: retake.SchemeShared, Rotated: &then},
	}
	messages := []retake.Delivery{
		{ID: "msg_arh173c3q5bh6gmt7gebs08451r3kket", Webhook: "wh_1", Type: retake.EventSnapshotRestored, State: retake.DeliveryDead, Tries: tries, Created: then},
		{ID: "msg_2", Webhook: "wh_9", Type: retake.EventCreated, State: retake.DeliveryWaiting, Tries: tries[:1], Next: &ahead, Created: then},
		{ID: "msg_3", Webhook: "wh_2", Type: "\x1b[2Jcheckpoint", State: retake.DeliveryDelivered, Tries: tries[:1], Created: then, Body: []byte("{\"a\":\"\x1b[2J\"}")},
	}
	event := retake.Event{Seq: 4, ID: "evt_1", Type: retake.EventCreated, Time: then}
	return map[string]string{
		"keys": cli.RenderKeys(l, []retake.Key{
			{ID: longID, Kind: retake.KeyMaintainer, Name: hostileWords, Tail: "x7Qa", Created: then, Used: &then, Expires: &ahead, Workspaces: []string{longID, longID, longID}},
			{ID: "key_2", Kind: retake.KeyAgent, Tail: "aaaa", Created: then, Revoked: &then},
			{ID: "key_3", Kind: retake.KeyAgent, Tail: "aaaa", Created: then, Expires: &then},
		}),
		"webhooks":   cli.RenderWebhooks(l, hooks),
		"no webhook": cli.RenderWebhooks(l, nil),
		"deliveries": cli.RenderDeliveries(l, messages, hooks, false),
		"delivery":   cli.RenderDelivery(l, messages[0]),
		"schedules": cli.RenderSchedules(l, []retake.Schedule{
			{ID: longID, Work: retake.WorkSave, Cron: "*/15 * * * *", Workspace: "ws_1", Next: ahead, Missed: 3, Last: &retake.Run{At: then, Err: hostileWords}},
			{ID: longID, Work: retake.WorkDrill, Cron: "0 3 * * *", Next: ahead, Last: &retake.Run{At: then, What: hostileWords}},
		}, names),
		"rewrap": cli.RenderRewrap(l, cli.RewrapResult{
			Key: "0123456789abcdef", KeyVersion: hostileWords, Secrets: 1204, Resealed: 3, Responses: 1, Others: []string{hostileWords}, Servers: []string{hostileWords},
		}),
		"audit": cli.RenderAudit(l, []retake.AuditEntry{
			{Seq: 1204, Time: then, Actor: retake.Actor{Kind: retake.KeyAgent, Name: "ci"}, Verb: "append checkpoint", Subject: "cp_01a1e0dd-59d6-73d2-a15f-4fd113a6a47f"},
			{Seq: 9, Time: then, Verb: "put anchor", Subject: hostileWords},
		}),
		"deletions": cli.RenderDeletions(l, []retake.Deletion{
			{ID: longID, Workspace: "ws_1", Checkpoints: make([]retake.CheckpointID, 1204), Why: hostileWords, State: retake.DeletionWaiting, Asked: then, Due: ahead},
			{ID: longID, Workspace: "ws_1", State: retake.DeletionRefused, Asked: then, Note: hostileWords},
			{ID: longID, Workspace: "ws_1", State: retake.DeletionDone, Asked: then, Done: &then},
			{ID: longID, Workspace: "ws_1", State: retake.DeletionCanceled, Asked: then},
		}, names),
		"usage": cli.RenderUsage(l, retake.Usage{Namespace: "main", Workspaces: 990, Checkpoints: 120_400, Bytes: 1 << 30, Limits: retake.DefaultLimits(),
			Largest:    []retake.WorkspaceUsage{{Workspace: "ws_1", Name: hostileWords, Bytes: 130 << 30}, {Workspace: "ws_2", Name: "shop", Bytes: 12}},
			Keys:       []retake.KeyUsage{{Key: longID, Name: hostileWords, Bytes: 130 << 30}, {Key: "key_2", Bytes: 1}},
			NearlyFull: []retake.Fullness{{Workspace: "ws_1", Bytes: 130 << 30, Limit: 128 << 30, Percent: 101}}}),
		"no limit": cli.RenderUsage(l, retake.Usage{Namespace: "main"}),
		"heard":    cli.RenderHeard(l, event, hostileWords, retake.EventData{Number: 14, Intent: hostileWords}, 204, ""),
		"unpacked": cli.RenderUnpacked(l, archive.Report{Files: 1204, Dirs: 12, Symlinks: 3, Links: 4, FIFOs: 1, Bytes: 1 << 30, Dropped: []string{hostileWords, "b", "c", "d", "e", "f"}, Skipped: []string{".retake"}}),
	}
}

func TestServerScreensFit(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 100, 120, 200} {
		for _, ascii := range []bool{false, true} {
			for name, text := range serverScreens(cli.NewLook(width, now, ascii, false)) {
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					if termtext.Width(line) > width {
						t.Errorf("%s at %d: %d columns: %q", name, width, termtext.Width(line), line)
					}
					if strings.ContainsAny(line, "\x1b\r\t") || ascii && strings.ContainsFunc(line, func(r rune) bool { return r > 127 }) {
						t.Errorf("%s at %d, ascii %v: %q", name, width, ascii, line)
					}
				}
			}
		}
	}
}

func TestColorsOfServerScreensSayNothingAlone(t *testing.T) {
	t.Parallel()
	plain := serverScreens(cli.NewLook(80, now, false, false))
	for name, text := range serverScreens(cli.NewLook(80, now, false, true)) {
		if uncolored(text) != plain[name] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, uncolored(text), plain[name])
		}
	}
}

func TestKeysText(t *testing.T) {
	t.Parallel()
	used, ends := now.Add(-3*time.Minute), now.Add(30*24*time.Hour-time.Second)
	all := []retake.Key{
		{ID: longID, Kind: retake.KeyAgent, Name: "ci", Tail: "x7Qa", Created: at(9, 41), Used: &used, Expires: &ends, Workspaces: []string{"ws_1"}},
		{ID: "key_2", Kind: retake.KeyAdmin, Name: "ann", Tail: "mca3", Created: at(9, 41), Revoked: &used},
	}
	same(t, cli.RenderKeys(cli.NewLook(80, now, false, false), all),
		`   id        kind   name  key    made   used       ends`,
		`●  ac4b90e4  agent  ci    …x7Qa  09:41  3 min ago  in 30 d`,
		`   only for ws_1`,
		`○  key_2     admin  ann   …mca3  09:41  never      revoked `+termtext.ShortTime(used, now),
	)
	if got := cli.RenderKeys(cli.NewLook(120, now, false, false), all); !strings.Contains(got, "●  "+longID+"  agent") {
		t.Errorf("a wide screen has no whole id:\n%s", got)
	}
}

func TestAuditThatDoesNotFit(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderProven(cli.NewLook(80, now, false, false), retake.AuditProof{Entries: 41, Anchors: 2, Outside: 1, Head: "3d81", Broken: 12, Why: "its digest is another", Public: "RQ0Q"}),
		`✘ 41 entries and 2 anchors read; entry 12 does not fit.`,
		`  why     its digest is another`,
		`  outside 1 anchor outside of the database compared`,
		`  head    3d81`,
		`  signed  RQ0Q`,
	)
}

func TestAnIDMayBeTypedByItsEnd(t *testing.T) {
	t.Parallel()
	all := []retake.Key{{ID: "key_aaaa1111"}, {ID: "key_bbbb1111"}, {ID: "key_1111"}}
	for typed, want := range map[string]string{"bbbb1111": "key_bbbb1111", "key_aaaa1111": "key_aaaa1111", "key_1111": "key_1111"} {
		if k, err := cli.PickKey(all, typed); err != nil || string(k.ID) != want {
			t.Errorf("%s: %s, %v", typed, k.ID, err)
		}
	}
	if _, err := cli.PickKey(all, "1111"); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("several fit: %v", err)
	}
	for _, typed := range []string{"111", "cccc1111", ""} {
		if _, err := cli.PickKey(all, typed); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

// happened is a server with events, whose numbers have gaps.
type happened struct {
	retake.Notifier
	seqs  []int64
	asked int
}

func (h *happened) Events(_ context.Context, q retake.EventQuery) ([]retake.Event, error) {
	h.asked++
	first, _ := slices.BinarySearch(h.seqs, q.After+1)
	var out []retake.Event
	for _, s := range h.seqs[first:min(first+q.Limit, len(h.seqs))] {
		out = append(out, retake.Event{Seq: s})
	}
	return out, nil
}

func TestNewestEventIsFoundInFewSteps(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 999, 1000, 1001, 1500, 100_000} {
		for _, gap := range []int64{1, 7, 1_000_003} {
			h := &happened{}
			for i := range n {
				h.seqs = append(h.seqs, int64(i+1)*gap)
			}
			want := int64(n) * gap
			got, err := cli.NewestEvent(t.Context(), h)
			if err != nil || got != want || h.asked > 100 {
				t.Errorf("%d events, %d apart: %d after %d requests, want %d; %v", n, gap, got, h.asked, want, err)
			}
		}
	}
}

func TestServersAreNotAskedInVain(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "keys", "list").want(t, 2, "", "none is named")
	p.types("", "usage", "--server", "https://example.com").want(t, 6, "", "no key")
	p.types("", "log", "--server", "https://example.com").want(t, 6, "", "no key")
	if p.opens > 0 {
		t.Error("this machine was asked instead")
	}
}

func TestExportAndWorkspacesByName(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init", "--name", "shop").want(t, 0, "Protected.", "")
	p.types("", "export", "1").want(t, 2, "", "An archive is not for a terminal.")
	outside := p.dir
	p.dir = t.TempDir()
	p.types("", "cat", "1", "a.txt", "--workspace", "shop").want(t, 0, "hello", "")
	p.types("", "cat", "1", outside+"/a.txt", "--workspace", "shop").want(t, 0, "hello", "")
	p.types("", "cat", "1", "../a.txt", "--workspace", "shop").want(t, 2, "", "is not in the workspace shop")
	p.types("", "log", "--workspace", "other").want(t, 3, "", "There is no workspace other")
}

func Example_usage() {
	fmt.Print(cli.RenderUsage(cli.NewLook(80, now, true, false), retake.Usage{Namespace: "main", Workspaces: 500, Bytes: 137438953472, Limits: retake.DefaultLimits(),
		Largest:    []retake.WorkspaceUsage{{Workspace: "ws_1", Name: "shop", Bytes: 123456789012}, {Workspace: "ws_2", Name: "site", Bytes: 4100000}},
		Keys:       []retake.KeyUsage{{Key: "key_1", Name: "ci", Bytes: 123456789012}},
		NearlyFull: []retake.Fullness{{Workspace: "ws_1", Bytes: 123456789012, Limit: 137438953472, Percent: 89}},
	}))
	// Output:
	// main
	//
	//   store           ##############..............  137 GB of 275 GB
	//   workspaces      ##############..............  500 of 1,000
	//   checkpoints     0 - kept for at least 30 days
	//
	//   one checkpoint  at most 34 GB
	//   requests        50 a second with one key
	//   restores        60 an hour with an agent's key
	//   deletions       wait 7 days, and can be cancelled until then
	//   shares          50 % of the store for one workspace, 50 % for one agent key
	//
	// largest             added
	// workspace  shop    123 GB  89 % of its share of 137 GB
	// workspace  site    4.1 MB
	// API key    ci      123 GB
}
