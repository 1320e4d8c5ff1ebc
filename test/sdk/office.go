package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

var officeCalls = table{
	"about":     func(ctx context.Context, a arguments) (any, error) { return a.client.About(ctx) },
	"namespace": func(ctx context.Context, a arguments) (any, error) { return a.client.Namespace(ctx) },
	"usage":     func(ctx context.Context, a arguments) (any, error) { return a.client.Usage(ctx) },
	"set_limits": func(ctx context.Context, a arguments) (any, error) {
		ctx = ifMatch(ctx, a)
		ns, err := a.client.Namespace(ctx) // the Go client sends all of them
		if err != nil {
			return nil, err
		}
		l := ns.Limits
		if err := a.into(&l, a.given); err != nil {
			return nil, err
		}
		return a.client.SetLimits(ctx, retake.LimitsRequest{Limits: l})
	},
	"workspaces": func(ctx context.Context, a arguments) (any, error) { return a.client.Workspaces(ctx) },
	"init": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Init(ctx, retake.InitRequest{Dir: a.text("dir"), Name: a.text("name")})
	},
	"import_archive": func(ctx context.Context, a arguments) (any, error) {
		data := []byte(a.text("bytes"))
		if files, ok := a.given["files"].(map[string]any); ok {
			named := map[string]string{}
			for k, v := range files {
				named[k] = fmt.Sprint(v)
			}
			data = pack(named)
		}
		return a.client.Import(ctx, retake.ImportRequest{Name: a.text("name"), Intent: a.text("intent")}, bytes.NewReader(data))
	},
	"write_file": func(ctx context.Context, a arguments) (any, error) {
		mode, err := strconv.ParseUint(cmp.Or(a.text("mode"), "0"), 8, 32)
		if err != nil {
			return nil, err
		}
		return a.client.WriteFile(ctx, retake.FileRequest{Workspace: a.ws, Path: a.text("path"), Mode: uint32(mode)}, strings.NewReader(a.text("text")))
	},
	"remove_file": func(ctx context.Context, a arguments) (any, error) {
		return nil, a.client.RemoveFile(ctx, retake.FileRequest{Workspace: a.ws, Path: a.text("path")})
	},
	"keys": func(ctx context.Context, a arguments) (any, error) { return a.client.Keys(ctx) },
	"make_key": func(ctx context.Context, a arguments) (any, error) {
		return a.client.MakeKey(ctx, retake.KeyRequest{Kind: retake.KeyKind(a.text("kind")), Name: a.text("name"), Workspaces: a.list("workspaces")})
	},
	"revoke_key": func(ctx context.Context, a arguments) (any, error) {
		return a.client.RevokeKey(ctx, retake.KeyID(a.text("id")))
	},
	"schedules": func(ctx context.Context, a arguments) (any, error) { return a.client.Schedules(ctx) },
	"make_schedule": func(ctx context.Context, a arguments) (any, error) {
		return a.client.MakeSchedule(ctx, retake.ScheduleRequest{
			Work: retake.ScheduleWork(a.text("work")), Cron: a.text("cron"), Workspace: retake.WorkspaceID(a.text("workspace")), Jitter: time.Duration(a.number("jitter")),
		})
	},
	"drop_schedule": func(ctx context.Context, a arguments) (any, error) {
		return nil, a.client.DropSchedule(ctx, a.text("id"))
	},
	"audit": func(ctx context.Context, a arguments) (any, error) {
		q := retake.AuditQuery{Limit: int(a.number("page"))}
		out := []retake.AuditEntry{}
		for {
			got, err := a.client.Audit(ctx, q)
			if err != nil {
				return nil, err
			}
			if out = append(out, got...); len(got) < q.Limit || q.Limit == 0 {
				return out, nil
			}
			q.Before = got[len(got)-1].Seq
		}
	},
	"check_audit": func(ctx context.Context, a arguments) (any, error) { return a.client.CheckAudit(ctx) },
	"deletions":   func(ctx context.Context, a arguments) (any, error) { return a.client.Deletions(ctx) },
	"request_deletion": func(ctx context.Context, a arguments) (any, error) {
		return a.client.RequestDeletion(ctx, retake.DeletionRequest{Workspace: a.ws, Refs: a.list("refs"), Why: a.text("why")})
	},
	"cancel_deletion": func(ctx context.Context, a arguments) (any, error) { return a.client.CancelDeletion(ctx, a.text("id")) },
}

var hookCalls = table{
	"webhooks": func(ctx context.Context, a arguments) (any, error) { return a.client.Webhooks(ctx) },
	"make_webhook": func(ctx context.Context, a arguments) (any, error) {
		return a.client.MakeWebhook(ctx, retake.WebhookRequest{URL: a.text("url"), Types: types(a), Scheme: retake.Scheme(a.text("scheme"))})
	},
	"change_webhook": func(ctx context.Context, a arguments) (any, error) {
		w := retake.Webhook{ID: retake.WebhookID(a.text("id")), URL: a.text("url"), Types: types(a)}
		if text := a.text("disabled"); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return nil, err
			}
			w.Disabled = &at
		}
		return a.client.ChangeWebhook(ifMatch(ctx, a), w)
	},
	"drop_webhook": func(ctx context.Context, a arguments) (any, error) {
		return nil, a.client.DropWebhook(ctx, retake.WebhookID(a.text("id")))
	},
	"rotate_webhook": func(ctx context.Context, a arguments) (any, error) {
		return a.client.RotateWebhook(ctx, retake.WebhookID(a.text("id")))
	},
	"deliveries": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Deliveries(ctx, retake.DeliveryQuery{Webhook: retake.WebhookID(a.text("webhook")), State: retake.DeliveryState(a.text("state"))})
	},
	"delivery": func(ctx context.Context, a arguments) (any, error) { return a.client.Delivery(ctx, a.text("id")) },
	"replay":   func(ctx context.Context, a arguments) (any, error) { return a.client.Replay(ctx, a.text("id")) },
	"events": func(ctx context.Context, a arguments) (any, error) {
		return a.client.Events(ctx, retake.EventQuery{After: a.number("after"), Limit: int(a.number("limit"))})
	},
	"verify_webhook": verify,
}

// ifMatch puts the ETag of a step, if it has one, on its call.
func ifMatch(ctx context.Context, a arguments) context.Context {
	tag := a.text("if_match")
	delete(a.given, "if_match")
	if tag == "" {
		return ctx
	}
	return retake.IfVersion(ctx, strings.Trim(tag, `"`))
}

func types(a arguments) []retake.EventType {
	var out []retake.EventType
	for _, t := range a.list("types") {
		out = append(out, retake.EventType(t))
	}
	return out
}

var storeCalls = table{
	"space":      func(ctx context.Context, a arguments) (any, error) { return a.client.Space(ctx) },
	"space_plan": func(ctx context.Context, a arguments) (any, error) { return a.client.SpacePlan(ctx) },
	"scrub": func(ctx context.Context, a arguments) (any, error) {
		share, _ := a.given["share"].(float64)
		return a.client.Scrub(ctx, retake.ScrubQuery{Share: share})
	},
	"sweep":   func(ctx context.Context, a arguments) (any, error) { return a.client.Sweep(ctx) },
	"thin":    func(ctx context.Context, a arguments) (any, error) { return a.client.Thin(ctx, retake.ThinRequest{}) },
	"rebuild": func(ctx context.Context, a arguments) (any, error) { return a.client.Rebuild(ctx) },
}
