package service

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

// ViewPlan makes a plan and says it in words.
func (s *Service) ViewPlan(ctx context.Context, req retake.PlanRequest) (retake.ViewedPlan, error) {
	p, err := s.PlanRestore(ctx, req)
	if err != nil {
		return retake.ViewedPlan{}, err
	}
	return retake.ViewedPlan{Plan: p, View: view.OfPlan(&p)}, nil
}
