package httpapi_test

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fakeService) SpacePlan(context.Context) (retake.SpacePlan, error) {
	return answerWith[retake.SpacePlan](f)
}

func (f *fakeService) Thin(_ context.Context, req retake.ThinRequest) (retake.ThinReport, error) {
	if req.Progress != nil {
		req.Progress(filledValue[retake.Progress]())
	}
	return answerWith[retake.ThinReport](f)
}

// spaceCalls are the methods about disk space.
var spaceCalls = []apiCall{
	{"space plan", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.SpacePlan(ctx) }},
	{"thin", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Thin(ctx, retake.ThinRequest{}) }},
	{"thin with progress", nil, func(ctx context.Context, c *client.Client) (any, error) {
		return withProgress(func(tell func(retake.Progress)) (retake.ThinReport, error) {
			return c.Thin(ctx, retake.ThinRequest{Progress: tell})
		})
	}},
}
