package client_test

import (
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// Save in the default workspace of a server, and go back to it.
func ExampleClient_Restore() {
	ctx := context.Background()
	c := client.New(client.Options{URL: "https://retake.example.com", Key: "rtk_agent_…"})
	ns, err := c.Namespace(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	saved, err := c.Save(ctx, retake.SaveRequest{Workspace: ns.Default, Intent: "before the migration"})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := c.Restore(ctx, retake.ApplyRequest{
		PlanRequest: retake.PlanRequest{Workspace: ns.Default, Course: retake.CourseRestore, Ref: string(saved.Checkpoint.ID)},
		Accept:      []string{retake.ObstacleChanged}, // it is saved first
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Written, "written; what was there is in", res.Safety.Number)
}

// Follow what happens until a restore.
func ExampleClient_Follow() {
	c := client.New(client.Options{URL: "https://retake.example.com", Key: "rtk_reader_…"})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	err := c.Follow(ctx, 0, func(e retake.Event) error {
		fmt.Println(e.Seq, e.Type)
		if e.Type == retake.EventRestored {
			stop()
		}
		return nil
	})
	fmt.Println(err)
}
